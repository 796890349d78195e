/* `mmtutor check PATH`: the check for authors of lessons. */
#ifndef MM_APP_CHECK_H
#define MM_APP_CHECK_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 failed, 2 usage. */
int check_main(int argc, char **argv);

#endif
