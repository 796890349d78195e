/* The worker: a child process that compiles, launches and measures, and speaks JSON lines
 * (docs/contracts.md 4). Everything that can crash or hang lives here. */
#ifndef MM_BENCH_WORKER_H
#define MM_BENCH_WORKER_H

/* The main of `mmtutor worker`: serves requests on descriptors 0 and 1 until quit or EOF. Returns
 * the exit code. */
int worker_main(void);

#endif
