/* `mmtutor xray FILE|KERNEL ...`: runs a CUDA kernel without a GPU and counts, through the worker.
 */
#ifndef MM_APP_XRAY_H
#define MM_APP_XRAY_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 a problem, a wrong result or a failure, 2 usage. */
int xray_main(int argc, char **argv);

#endif
