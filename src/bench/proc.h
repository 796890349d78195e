/* Child processes: started by exec with pipes, ended as a group, reaped without waiting. */
#ifndef MM_BENCH_PROC_H
#define MM_BENCH_PROC_H

#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

struct proc {
  pid_t pid; /* also its process group */
  int in;    /* write end of its stdin, non-blocking */
  int out;   /* read end of its stdout, non-blocking */
  int err;   /* an unlinked file that takes its stderr */
};

/* Starts argv[0] (a path) in a process group of its own; argv ends with NULL. On Linux the child is
 * killed when the calling thread ends, so call this from the main thread. All descriptors are
 * close-on-exec. False with a sentence if it cannot be started. */
bool proc_spawn(const char *const *argv, struct proc *p, struct err *err);

/* SIGKILL to the whole group. The process must not have been reaped yet. */
void proc_kill(const struct proc *p);

/* Closes the three descriptors; -1 ones are skipped. */
void proc_close(struct proc *p);

/* True once the process has ended and was reaped; *status is wait's. Never waits. */
bool proc_reap(pid_t pid, int *status);

/* "signal 11 (segmentation fault)" or "exit code 3". */
void proc_describe(int status, char *out, size_t size);

/* The last part of what it wrote to stderr, cleaned for a screen ("" if nothing). The caller frees.
 */
char *proc_last_words(const struct proc *p);

#endif
