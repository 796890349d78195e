/* `mmtutor roofline`: the measured roofs of a device. */
#ifndef MM_APP_ROOFLINE_H
#define MM_APP_ROOFLINE_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 failed, 2 usage. */
int roofline_main(int argc, char **argv);

#endif
