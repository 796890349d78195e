/* `mmtutor --plain`: the tutor as lines of text, for screen readers and dumb terminals. */
#ifndef MM_APP_PLAIN_H
#define MM_APP_PLAIN_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 failed, 2 usage. */
int plain_main(int argc, char **argv);

#endif
