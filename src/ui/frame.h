/* `mmtutor frame`: any view as text or SVG, without a terminal. */
#ifndef MM_UI_FRAME_H
#define MM_UI_FRAME_H

/* The command; argv[0] is "frame". With --check it prints faults instead of a picture: an essential
 * text that is clipped, or a row that is not exactly as wide as asked. Returns the exit code: 0 ok,
 * 1 a fault or a file that cannot be shown, 2 usage. */
int frame_main(int argc, char **argv);

#endif
