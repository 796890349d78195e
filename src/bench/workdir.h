/* Temporary directories for run-time compilation: named after the process, so that what a killed
 * one left is found and removed by the next. */
#ifndef MM_BENCH_WORKDIR_H
#define MM_BENCH_WORKDIR_H

/* Makes a private directory below `tmp`; its path, which the caller frees, or NULL with errno. What
 * dead processes of this user left there is removed first. */
char *workdir_make(const char *tmp);

/* Removes the directories of dead processes of this user below `tmp`; how many. */
int workdir_sweep(const char *tmp);

#endif
