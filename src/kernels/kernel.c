#include "kernels/kernel.h"

#include "base/alloc.h"
#include "base/embed.h"
#include "base/hash.h"
#include "base/str.h"
#include "kernels/catalog.h"
#include "kernels/front.h"
#include "kernels/limits.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[OP_COUNT] = {"gemm",      "gemv", "add",   "copy", "reduce",
                                               "transpose", "fma",  "chase", "other"};
static const struct {
  const char *name;
  size_t size;
} dtypes[DT_COUNT] = {{"f32", 4}, {"bf16", 2}, {"f16", 2}, {"f64", 8}};

const char *kernel_op_name(enum kernel_op op) {
  assert(op < OP_COUNT);
  return op_names[op];
}

const char *kernel_dtype_name(enum kernel_dtype t) {
  assert(t < DT_COUNT);
  return dtypes[t].name;
}

size_t kernel_dtype_size(enum kernel_dtype t) {
  assert(t < DT_COUNT);
  return dtypes[t].size;
}

/* ---- reading */

static bool target_of(const char *path, enum kernel_target *out) {
  size_t n = strlen(path);
  if (n > 3 && !strcmp(path + n - 3, ".cu"))
    *out = KERNEL_CUDA;
  else if (n > 2 && !strcmp(path + n - 2, ".c"))
    *out = KERNEL_CPU;
  else
    return false;
  return true;
}

/* True if the code of this very text is in the program: embedded, and for a CPU rung also compiled.
 */
static bool is_builtin(const struct kernel *k, size_t n) {
  size_t id = strcspn(k->id, "@");
  const char *suffix = k->target == KERNEL_CUDA ? ".cu" : ".c";
  char *path = alloc_printf("src/kernels/%.*s%s", (int)id, k->id, suffix);
  const struct embed_file *file = embed_find(path);
  free(path);
  return file && file->n == n && !memcmp(file->data, k->source, n) &&
         (k->target == KERNEL_CUDA || catalog_cpu_find(k->id));
}

/* True if `name` stands in text as a whole word. */
static bool has_word(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n) {
    bool before = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
    bool after = isalnum((unsigned char)at[n]) || at[n] == '_';
    if (!before && !after)
      return true;
  }
  return false;
}

static bool has_entries(const struct kernel *k, const json_doc *doc, const char *code,
                        struct err *err) {
  if (k->entry && !has_word(code, k->entry))
    return json_fail(doc, json_get(json_root(doc), "id"), err,
                     "the file has no function '%s', the entry of \"%s\"", k->entry, k->id);
  for (int i = 0; i < k->nlaunches; i++)
    if (!has_word(code, k->launches[i].entry))
      return json_fail(doc, json_get(json_root(doc), "launches"), err,
                       "the file has no function '%s', the entry of a launch",
                       k->launches[i].entry);
  return true;
}

struct kernel *kernel_parse(const char *source, size_t n, const char *path, const char *variant,
                            struct err *err) {
  enum kernel_target target;
  if (!target_of(path, &target)) {
    err_set(err, "%s: the name must end in .cu (CUDA) or .c (CPU)", path);
    return NULL;
  }
  const char *zero = memchr(source, 0, n);
  if (zero) {
    err_set(err, "%s: the file holds a NUL byte at offset %zu, so it is no C source", path,
            (size_t)(zero - source));
    return NULL;
  }
  json_doc *doc = front_json(source, n, path, err);
  if (!doc)
    return NULL;
  struct kernel *k = alloc_zero(1, sizeof *k);
  k->target = target;
  k->path = alloc_str(path);
  k->source = alloc_strn(source, n);
  struct front_span span;
  bool ok = front_fill(k, doc, variant, err) && front_find(k->source, n, &span) &&
            has_entries(k, doc, k->source + span.end, err);
  json_free(doc);
  if (!ok) {
    kernel_free(k);
    return NULL;
  }
  hash_sha256(source, n, k->sha256);
  k->builtin = is_builtin(k, n);
  return k;
}

int kernel_variants(const char *source, size_t n, char ***names) {
  *names = NULL;
  json_doc *doc = front_json(source, n, "", NULL);
  if (!doc)
    return 0;
  const cJSON *obj = json_get(json_root(doc), "variants");
  int count = 0;
  if (cJSON_IsObject(obj)) {
    *names = alloc_zero((size_t)cJSON_GetArraySize(obj) + 1, sizeof **names);
    for (const cJSON *m = obj->child; m; m = m->next)
      (*names)[count++] = alloc_str(m->string);
  }
  json_free(doc);
  return count;
}

static void free_list(char **list, int n) {
  for (int i = 0; i < n; i++)
    free(list[i]);
  free(list);
}

static void free_launch(struct kernel_launch *l) {
  free(l->entry);
  free(l->smem);
  for (int i = 0; i < 3; i++) {
    free(l->grid[i]);
    free(l->block[i]);
  }
  free_list(l->args, l->nargs);
}

void kernel_free(struct kernel *k) {
  if (!k)
    return;
  char *const texts[] = {k->id,      k->variant, k->entry,     k->workspace, k->tile_bm,
                         k->tile_bn, k->tile_bk, k->requested, k->dram_min,  k->wavefronts,
                         k->flop,    k->idea[0], k->idea[1],   k->limit[0],  k->limit[1],
                         k->source,  k->path};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    free(texts[i]);
  free_list(k->flags, k->nflags);
  free_list(k->defines, k->ndefines);
  free_list(k->requires, k->nrequires);
  free_list(k->isa, k->nisa);
  for (int i = 0; i < k->nlaunches; i++)
    free_launch(&k->launches[i]);
  for (int i = 0; i < k->nmaps; i++) {
    free(k->maps[i].box[0]);
    free(k->maps[i].box[1]);
  }
  free(k->maps);
  free(k->launches);
  free(k);
}

const struct kernel_map *kernel_map_find(const struct kernel *k, const char *name) {
  for (int i = 0; i < k->nmaps; i++)
    if (!strcmp(k->maps[i].name, name))
      return &k->maps[i];
  return NULL;
}

/* ---- sizes */

struct kernel_size kernel_size_default(const struct kernel *k, int64_t M, int64_t N, int64_t K) {
  struct kernel_size size = {.M = M, .N = N, .K = K};
  if (k->op == OP_GEMV)
    size.N = 1;
  if (k->op == OP_ADD || k->op == OP_COPY || k->op == OP_TRANSPOSE || k->op == OP_FMA)
    size.K = 1;
  for (int i = 0; i < k->nparams; i++)
    size.param[i] = k->params[i].fallback;
  return size;
}

bool kernel_set_param(const struct kernel *k, struct kernel_size *size, const char *name,
                      double value, struct err *err) {
  struct str known = {0};
  for (int i = 0; i < k->nparams; i++) {
    const struct kernel_param *p = &k->params[i];
    str_addf(&known, "%s%s", i ? ", " : "", p->name);
    if (strcmp(p->name, name) != 0)
      continue;
    str_clear(&known);
    for (int v = 0; v < p->nvalues; v++) {
      if (p->values[v] == value) {
        size->param[i] = value;
        str_free(&known);
        return true;
      }
      str_addf(&known, "%s%.17g", v ? ", " : "", p->values[v]);
    }
    err_set(err, "%s takes %s = %s; %.17g is not one of them", k->id, name, known.data, value);
    str_free(&known);
    return false;
  }
  if (k->nparams)
    err_set(err, "%s has no parameter '%s'; it has %s", k->id, name, known.data);
  else
    err_set(err, "%s has no parameter '%s', and no other: leave it out", k->id, name);
  str_free(&known);
  return false;
}

char *kernel_code(const struct kernel *k, const struct kernel_size *size) {
  struct str out = {0};
  for (int i = 0; i < k->nparams; i++)
    str_addf(&out, "#define %s %.17g\n", k->params[i].name, size->param[i]);
  for (int i = 0; i < k->ndefines; i++) {
    int name = (int)strcspn(k->defines[i], "=");
    str_addf(&out, "#define %.*s %s\n", name, k->defines[i], k->defines[i] + name + 1);
  }
  const char *file = strrchr(k->path, '/');
  str_add(&out, "#line 1 \"");
  for (const char *c = file ? file + 1 : k->path; *c; c++)
    str_addc(&out, strchr("\"\\\n", *c) ? '_' : *c);
  str_addf(&out, "\"\n%s", k->source);
  return str_take(&out);
}

/* Of the scope, else of the size, else of the card that is meant where none is. */
static double device_value(double scope, double size, double card) {
  return !isnan(scope) ? scope : size > 0 ? size : card;
}

bool kernel_lookup(void *scope, const char *name, double *value) {
  const struct kernel_scope *s = scope;
  *value = NAN;
  if (!strcmp(name, "M"))
    *value = (double)s->size->M;
  else if (!strcmp(name, "N"))
    *value = (double)s->size->N;
  else if (!strcmp(name, "K"))
    *value = (double)s->size->K;
  else if (!strcmp(name, "sms"))
    *value = device_value(s->sms, s->size->sms, KERNEL_CARD_SMS);
  else if (!strcmp(name, "smem_sm"))
    *value = device_value(s->smem_sm, s->size->smem_sm, KERNEL_CARD_SMEM_SM);
  for (int i = 0; i < s->k->nparams; i++)
    if (!strcmp(name, s->k->params[i].name))
      *value = s->size->param[i];
  return !isnan(*value);
}

bool kernel_accepts(const struct kernel *k, const struct kernel_size *size, struct err *err) {
  const int64_t sizes[] = {size->M, size->N, size->K};
  for (int i = 0; i < 3; i++)
    if (sizes[i] < 1 || sizes[i] > 2147483647)
      return err_set(err, "%s takes sizes from 1 to 2147483647; %c = %lld is outside", k->id,
                     "MNK"[i], (long long)sizes[i]);
  struct kernel_scope scope = {k, size, NAN, NAN};
  for (int i = 0; i < k->nrequires; i++) {
    double value;
    if (!expr_eval(k->requires[i], kernel_lookup, &scope, &value, err))
      return err_prefix(err, "%s, requirement %s", k->id, k->requires[i]);
    if (value == 0)
      return limits_sentence(k, k->requires[i], &scope, err);
  }
  return true;
}

bool kernel_geometry(const struct kernel *k, int launch, const struct kernel_size *size,
                     struct kernel_geometry *out, struct err *err) {
  assert(launch >= 0 && launch < k->nlaunches);
  struct kernel_scope scope = {k, size, NAN, NAN};
  return limits_geometry(&k->launches[launch], &scope, out, err);
}

static double formula(const struct kernel *k, const char *text, const struct kernel_size *size) {
  struct kernel_scope scope = {k, size, NAN, NAN};
  double value;
  return text && expr_eval(text, kernel_lookup, &scope, &value, NULL) ? value : NAN;
}

double kernel_flop(const struct kernel *k, const struct kernel_size *size) {
  return formula(k, k->flop, size);
}

double kernel_requested(const struct kernel *k, const struct kernel_size *size) {
  return formula(k, k->requested, size);
}

double kernel_dram_min(const struct kernel *k, const struct kernel_size *size) {
  return formula(k, k->dram_min, size);
}

void kernel_elements(const struct kernel *k, const struct kernel_size *size, double *a, double *b,
                     double *c) {
  double M = (double)size->M, N = (double)size->N, K = (double)size->K;
  *a = *b = *c = 0;
  switch (k->op) {
  case OP_GEMM:
  case OP_OTHER:
    *a = M * K, *b = K * N, *c = M * N;
    break;
  case OP_GEMV:
    *a = M * K, *b = K, *c = M;
    break;
  case OP_ADD:
    *a = *b = *c = M * N;
    break;
  case OP_COPY:
  case OP_TRANSPOSE:
    *a = *c = M * N;
    break;
  case OP_REDUCE:
  case OP_CHASE:
    *a = M * N, *c = 1;
    break;
  case OP_FMA:
    *c = M;
    break;
  case OP_COUNT:
    assert(!"no op");
  }
}

/* ---- the source as it is shown */

static void add_mark(struct kernel_mark **marks, int *n, const char *name, size_t len, int line) {
  *marks = alloc_grow(*marks, (size_t)*n + 1, sizeof **marks);
  (*marks)[(*n)++] = (struct kernel_mark){alloc_strn(name, len), line};
}

/* Adds one line without its mark and the blanks before it; names the mark. */
static void show_line(struct str *out, const char *line, size_t n, int number,
                      struct kernel_mark **marks, int *nmarks) {
  const char *mark = memmem(line, n, "//@", 3);
  size_t keep = mark ? (size_t)(mark - line) : n;
  while (keep > 0 && strchr(" \t\r", line[keep - 1]))
    keep--;
  str_addn(out, line, keep);
  str_addc(out, '\n');
  for (const char *at = mark ? mark + 3 : line + n; at < line + n;) {
    size_t len = 0;
    while (at + len < line + n && !isspace((unsigned char)at[len]))
      len++;
    if (len && marks)
      add_mark(marks, nmarks, at, len, number);
    at += len ? len : 1;
  }
}

char *kernel_shown(const struct kernel *k, struct kernel_mark **marks, int *nmarks) {
  int unused;
  if (!nmarks)
    nmarks = &unused;
  *nmarks = 0;
  if (marks)
    *marks = NULL;
  struct front_span span;
  bool found = front_find(k->source, strlen(k->source), &span);
  const char *at = k->source + (found ? span.end : 0);
  at += strspn(at, " \t\r\n");
  struct str out = {0};
  for (int line = 1; *at; line++) {
    size_t n = strcspn(at, "\n");
    show_line(&out, at, n, line, marks, nmarks);
    at += n + (at[n] == '\n');
  }
  return str_take(&out);
}
