/* `mmtutor read ID`: a lesson as plain text. */
#ifndef MM_APP_READ_H
#define MM_APP_READ_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 failed, 2 usage. */
int read_main(int argc, char **argv);

#endif
