#include "kernels/catalog.h"

#include "base/alloc.h"
#include "base/embed.h"
#include "base/paths.h"
#include "base/str.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct catalog {
  struct kernel **list;
  int n;
  struct str complaints;
};

enum { SOURCE_MAX = 1 << 20 };

/* Ladder order; ids that are not here come after, by name. */
static const char *const ladder[] = {"cuda/uncoalesced",
                                     "cuda/naive",
                                     "cuda/tiled",
                                     "cuda/tile_1d",
                                     "cuda/tile_2d",
                                     "cuda/vectorized",
                                     "cuda/padded",
                                     "cuda/double_buffer",
                                     "cuda/async_copy",
                                     "cuda/warp_tile",
                                     "cuda/sgemm_best",
                                     "cuda/wmma",
                                     "cuda/mma_sync",
                                     "cuda/wgmma_best",
                                     "cuda/copy",
                                     "cuda/add",
                                     "cuda/gemv",
                                     "cuda/fma",
                                     "cuda/transpose_naive",
                                     "cuda/transpose_tiled",
                                     "cuda/transpose_padded",
                                     "cuda/reduce_atomic",
                                     "cuda/reduce_tree",
                                     "cuda/reduce_first_add",
                                     "cuda/reduce_shuffle",
                                     "cuda/reduce_best",
                                     "cpu/ijk",
                                     "cpu/ikj",
                                     "cpu/tiled",
                                     "cpu/copy",
                                     "cpu/add",
                                     "cpu/gemv",
                                     "cpu/fma"};
enum { LADDER = sizeof ladder / sizeof *ladder };

static int rank(const struct kernel *k) {
  size_t n = strcspn(k->id, "@");
  int i = 0;
  while (i < LADDER && (strlen(ladder[i]) != n || memcmp(ladder[i], k->id, n) != 0))
    i++;
  return i;
}

static int by_order(const void *pa, const void *pb) {
  const struct kernel *a = *(struct kernel *const *)pa, *b = *(struct kernel *const *)pb;
  if (a->target != b->target)
    return a->target < b->target ? -1 : 1;
  int ra = rank(a), rb = rank(b);
  return ra != rb ? (ra < rb ? -1 : 1) : strcmp(a->id, b->id);
}

static void complain(catalog *c, const struct err *err) {
  str_addf(&c->complaints, "%s%s", c->complaints.len ? "\n" : "", err->text);
}

/* Adds a kernel, or puts it in the place of the one with its id. */
static void put(catalog *c, struct kernel *k) {
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->list[i]->id, k->id)) {
      kernel_free(c->list[i]);
      c->list[i] = k;
      return;
    }
  c->list = alloc_grow(c->list, (size_t)c->n + 1, sizeof *c->list);
  c->list[c->n++] = k;
}

/* True if the id says where the file lies: src/kernels/ID.SUFFIX. */
static bool id_fits(const struct kernel *k) {
  const char *rest = strstr(k->path, "src/kernels/");
  rest = rest ? rest + strlen("src/kernels/") : k->path;
  size_t n = strcspn(k->id, "@");
  return !strncmp(rest, k->id, n) && rest[n] == '.';
}

static void add_variant(catalog *c, const char *source, size_t n, const char *path,
                        const char *variant) {
  struct err err = {0};
  struct kernel *k = kernel_parse(source, n, path, variant, &err);
  if (k && !id_fits(k)) {
    err_set(&err, "%s:1: the id %s does not fit the file's name; rename one of them", path, k->id);
    kernel_free(k);
    k = NULL;
  }
  if (k)
    put(c, k);
  else
    complain(c, &err);
}

static void add_source(catalog *c, const char *source, size_t n, const char *path) {
  char **names;
  int count = kernel_variants(source, n, &names);
  add_variant(c, source, n, path, NULL);
  for (int i = 0; i < count; i++) {
    add_variant(c, source, n, path, names[i]);
    free(names[i]);
  }
  free(names);
}

static bool has_suffix(const char *name, const char *suffix) {
  size_t n = strlen(name), m = strlen(suffix);
  return n > m && !strcmp(name + n - m, suffix);
}

/* The two places of kernels; what else lies in src/kernels (mm_args.h) is no kernel. */
static const struct { const char *sub, *suffix; } places[] = {{"cuda", ".cu"}, {"cpu", ".c"}};
enum { PLACES = sizeof places / sizeof *places };

static bool is_kernel_path(const char *path) {
  const char *const root = "src/kernels/";
  if (strncmp(path, root, strlen(root)) != 0)
    return false;
  path += strlen(root);
  for (int i = 0; i < PLACES; i++) {
    size_t n = strlen(places[i].sub);
    if (!strncmp(path, places[i].sub, n) && path[n] == '/' && has_suffix(path, places[i].suffix))
      return true;
  }
  return false;
}

static void add_embedded(catalog *c) {
  for (const struct embed_file *f = embed_files; f->path; f++)
    if (is_kernel_path(f->path))
      add_source(c, f->data, f->n, f->path);
}

/* Reads a file of the data directory; the same text as the embedded one is already there. */
static void add_file(catalog *c, const char *dir, const char *sub, const char *name) {
  char *full = alloc_printf("%s/src/kernels/%s/%s", dir, sub, name);
  char *rel = alloc_printf("src/kernels/%s/%s", sub, name);
  struct err err = {0};
  size_t n;
  char *text = paths_read(full, SOURCE_MAX, &n, &err);
  const struct embed_file *own = embed_find(rel);
  if (!text)
    complain(c, &err);
  else if (!own || own->n != n || memcmp(own->data, text, n) != 0)
    add_source(c, text, n, full);
  free(text);
  free(rel);
  free(full);
}

static void add_directory(catalog *c, const char *dir, const char *sub, const char *suffix) {
  char *path = alloc_printf("%s/src/kernels/%s", dir, sub);
  DIR *d = opendir(path);
  free(path);
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.' && has_suffix(e->d_name, suffix))
      add_file(c, dir, sub, e->d_name);
  if (d)
    closedir(d);
}

catalog *catalog_new(void) {
  catalog *c = alloc_zero(1, sizeof *c);
  add_embedded(c);
  char *dir = paths_data("src/kernels");
  for (int i = 0; dir && i < PLACES; i++)
    add_directory(c, dir, places[i].sub, places[i].suffix);
  free(dir);
  if (c->n)
    qsort(c->list, (size_t)c->n, sizeof *c->list, by_order);
  return c;
}

void catalog_free(catalog *c) {
  if (!c)
    return;
  for (int i = 0; i < c->n; i++)
    kernel_free(c->list[i]);
  free(c->list);
  str_free(&c->complaints);
  free(c);
}

int catalog_count(const catalog *c) { return c->n; }

const struct kernel *catalog_at(const catalog *c, int i) {
  return i >= 0 && i < c->n ? c->list[i] : NULL;
}

const struct kernel *catalog_find(const catalog *c, const char *id) {
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->list[i]->id, id))
      return c->list[i];
  return NULL;
}

const char *catalog_complaints(const catalog *c) {
  return c->complaints.data ? c->complaints.data : "";
}

/* ---- an id that is not known */

/* Edit distance (Levenshtein) of two short texts. */
static int distance(const char *a, const char *b) {
  enum { MAX = 80 };
  int row[MAX + 1];
  int n = (int)strlen(b);
  if (n > MAX || strlen(a) > MAX)
    return MAX;
  for (int j = 0; j <= n; j++)
    row[j] = j;
  for (int i = 1; *a; a++, i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int up = row[j], best = diagonal + (*a != b[j - 1]);
      if (up + 1 < best)
        best = up + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      diagonal = up;
      row[j] = best;
    }
  }
  return row[n];
}

/* Near to the whole id, or to the part behind the slash where the target was left out. */
static int nearness(const char *asked, const char *id) {
  int best = distance(asked, id);
  if (!strchr(asked, '/')) {
    int tail = distance(asked, strchr(id, '/') + 1);
    best = tail < best ? tail : best;
  }
  return best;
}

void catalog_unknown(const catalog *c, const char *id, struct err *err) {
  int best = 3; // a slip of at most two letters is a slip
  for (int i = 0; i < c->n; i++) {
    int d = nearness(id, c->list[i]->id);
    best = d < best ? d : best;
  }
  bool near = best < 3 && best < (int)strlen(id);
  struct str list = {0};
  for (int i = 0; i < c->n; i++)
    if (!near || nearness(id, c->list[i]->id) == best)
      str_addf(&list, "%s%s", list.len ? (near ? " or " : ", ") : "", c->list[i]->id);
  if (near)
    err_set(err, "no kernel '%.80s'; did you mean %s?", id, list.data);
  else
    err_set(err, "no kernel '%.80s'; there are %s", id, list.len ? list.data : "none at all");
  str_free(&list);
}

/* ---- compiled CPU rungs */

const struct catalog_cpu *catalog_cpu_find(const char *id) {
  for (const struct catalog_cpu *e = catalog_cpu_table; e->id; e++)
    if (!strcmp(e->id, id))
      return e;
  return NULL;
}

const char *catalog_isa_name(enum catalog_isa isa) {
  static const char *const names[ISA_COUNT] = {"plain", "avx2", "avx512"};
  return isa < ISA_COUNT ? names[isa] : "?";
}
