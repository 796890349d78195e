/* `mmtutor doctor`: what is here, what is missing, and the smallest way to get it. */
#ifndef MM_APP_DOCTOR_H
#define MM_APP_DOCTOR_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 failed, 2 usage. */
int doctor_main(int argc, char **argv);

#endif
