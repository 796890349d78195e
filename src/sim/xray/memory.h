/* The address space of a launch: arrays of the host in windows of their own, shared and local
 * memory, constants and parameters. No address reaches the host but through these windows. */
#ifndef MM_SIM_XRAY_MEMORY_H
#define MM_SIM_XRAY_MEMORY_H

#include "base/err.h"
#include "sim/xray/machine.h"

/* Where the windows of other spaces begin in generic addresses. */
#define MEMORY_SHARED_WINDOW ((int64_t)1 << 56)
#define MEMORY_LOCAL_WINDOW ((int64_t)1 << 57)
#define MEMORY_CONST_WINDOW ((int64_t)1 << 58)

/* One piece of memory: addresses base .. base + bytes - 1. */
struct memory_piece {
  const char *name;
  unsigned char *data;
  int64_t base, bytes;
  int array; /* index among the arrays of the launch, then the module's variables; -1: none */
};

/* Takes the arguments in. NULL with a sentence if they do not fit the kernel. */
struct memory *memory_new(const struct ptx_module *module, const struct program *program,
                          const struct ptx_func *f, const struct xray_launch *launch,
                          struct err *err);
void memory_free(struct memory *mem); /* NULL allowed */

/* The same arrays, constants and parameters with shared and local memory of its own, for another
 * thread; to be freed before the original. */
struct memory *memory_fork(const struct memory *mem);

/* A copy of the contents of all arrays and variables, and back. */
struct memory_copy;
int64_t memory_bytes(const struct memory *mem);
struct memory_copy *memory_save(const struct memory *mem);
void memory_restore(struct memory *mem, const struct memory_copy *copy);
void memory_copy_free(struct memory_copy *copy);

/* The arrays of the launch and, last, the module's variables in global memory. */
int memory_arrays(const struct memory *mem);
const struct memory_piece *memory_array(const struct memory *mem, int i);

/* Writes the variables that the launch names as arrays back into these. */
void memory_give_back(const struct memory *mem, const struct program *p,
                      const struct xray_launch *launch);

/* The __constant__ variable at an address that nothing gave a value, neither the source nor the
 * launch; NULL: none. */
const struct ptx_var *memory_unset(const struct memory *mem, const struct program *p,
                                   int64_t address);

/* The piece that holds an address of a space (not generic); NULL: none. Local memory is one
 * thread's, so it takes the thread. */
const struct memory_piece *memory_find(struct memory *mem, enum ptx_space space, int64_t address,
                                       int64_t thread);

/* Space and address within it of a generic address. */
enum ptx_space memory_space(int64_t *address);

/* Bytes of shared memory in all; clears shared and local memory for the next block. */
int64_t memory_shared_bytes(const struct memory *mem);
void memory_next_block(struct memory *mem);

#endif
