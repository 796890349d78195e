/* `mmtutor run KERNEL|FILE ...`: one kernel, or a sweep, through the worker. */
#ifndef MM_APP_RUN_H
#define MM_APP_RUN_H

/* argv[0] is the command's own name. Prints to stdout, errors to stderr with a next step. Returns 0
 * ok, 1 failed, 2 usage. */
int run_main(int argc, char **argv);

#endif
