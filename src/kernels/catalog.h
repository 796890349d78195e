/* Every rung this program knows: embedded at build time, and files found in the data directories.
 */
#ifndef MM_KERNELS_CATALOG_H
#define MM_KERNELS_CATALOG_H

#include "kernels/kernel.h"

typedef struct catalog catalog;

/* Loads all rungs; files that cannot be read are left out and their sentences collected
 * (catalog_complaints). A file in a data directory with the id of a built-in but other text
 * replaces it and is not `builtin`. Cannot fail; free with catalog_free. */
catalog *catalog_new(void);
void catalog_free(catalog *c);
int catalog_count(const catalog *c);
const struct kernel *catalog_at(const catalog *c, int i); /* order: target, then ladder order */
const struct kernel *catalog_find(const catalog *c, const char *id); /* NULL if unknown */

/* Says which ids are near to an unknown one: "no kernel 'cuda/tild'; did you mean cuda/tiled?". */
void catalog_unknown(const catalog *c, const char *id, struct err *err);
const char *catalog_complaints(const catalog *c); /* "" if none; one sentence a line */

/* The compiled entries of the built-in CPU rungs, generated from the files at build time. Each file
 * is compiled once for each level; a level that the compiler or machine lacks is NULL. */
enum catalog_isa { ISA_PLAIN, ISA_AVX2, ISA_AVX512, ISA_COUNT };
typedef int (*catalog_entry)(const struct mm_args *);
struct catalog_cpu {
  const char *id; /* "cpu/ikj" */
  catalog_entry entry[ISA_COUNT];
};
extern const struct catalog_cpu catalog_cpu_table[]; /* ends with id NULL */
const struct catalog_cpu *catalog_cpu_find(const char *id);
const char *catalog_isa_name(enum catalog_isa isa); /* "plain" "avx2" "avx512" */

#endif
