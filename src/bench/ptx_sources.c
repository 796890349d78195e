#include "bench/ptx_sources.h"
#include "base/alloc.h"
#include "base/paths.h"
#include "base/str.h"
#include "kernels/cuda_headers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SOURCES = 32, MAX_HEADER = 1 << 20, MAX_MISSING = 64 };

static void add(struct ptx_sources *s, const char *name, const char *text, size_t n) {
  s->all[s->n++] = (struct ptx_source){.name = alloc_str(name), .scan = cuda_scan_new(text, n)};
}

static bool have(const struct ptx_sources *s, const char *name) {
  for (int i = 1; i < s->n; i++)
    if (!strcmp(s->all[i].name, name))
      return true;
  for (int i = 0; i < s->nmissing; i++)
    if (!strcmp(s->missing[i], name))
      return true;
  return false;
}

static bool toolkit_has(const char *include, const char *name) {
  static const char *const below[] = {"", "/cccl"};
  for (int i = 0; include && i < 2; i++) {
    char *path = alloc_printf("%s%s/%s", include, below[i], name);
    bool there = access(path, R_OK) == 0;
    free(path);
    if (there)
      return true;
  }
  return false;
}

/* Looks beside the file `from`, whose name may hold directories below `dir`. */
static bool read_beside(struct ptx_sources *s, const char *from, const char *dir,
                        const char *name) {
  const char *slash = strrchr(from, '/');
  char *path = alloc_printf("%s/%.*s%s", dir, slash ? (int)(slash + 1 - from) : 0, from, name);
  size_t n = 0;
  struct err why; /* one that cannot be read is noted as missing */
  char *text = paths_read(path, MAX_HEADER, &n, &why);
  free(path);
  if (text)
    add(s, name, text, n);
  free(text);
  return text != NULL;
}

/* A header that is neither known nor a toolkit's: beside the file, else empty. */
static void other_header(struct ptx_sources *s, int from, const struct cuda_scan_include *inc,
                         const char *dir) {
  if (have(s, inc->name))
    return;
  bool may = inc->quoted && dir && inc->name[0] != '/' && s->n < MAX_SOURCES;
  if (may &&
      (read_beside(s, s->all[from].name, dir, inc->name) || read_beside(s, "", dir, inc->name)))
    return;
  if (s->nmissing == MAX_MISSING)
    return;
  s->missing[s->nmissing++] = alloc_str(inc->name);
  cuda_scan_note(s->all[from].scan, inc->line, inc->name, "This header is not here.");
}

static bool one_include(struct ptx_sources *s, int from, const struct cuda_scan_include *inc,
                        const char *dir, const char *include, struct err *err) {
  enum cuda_headers_kind kind = cuda_headers_find(inc->name);
  if (kind == CUDA_HEADERS_UNKNOWN)
    other_header(s, from, inc, dir);
  if (kind != CUDA_HEADERS_TOOLKIT || toolkit_has(include, inc->name))
    return true;
  return err_set(err,
                 "%.200s:%d includes %.200s, which only a CUDA toolkit has%s%.200s. Install its "
                 "headers, or set CUDA_HOME to a toolkit that has them.",
                 s->all[from].name, inc->line, inc->name,
                 include ? "; it is not in " : ", and none was found", include ? include : "");
}

bool ptx_sources_read(struct ptx_sources *s, const char *source, size_t size, const char *name,
                      const char *dir, const char *include, struct err *err) {
  *s = (struct ptx_sources){.all = alloc_zero(MAX_SOURCES, sizeof *s->all),
                            .missing = alloc_zero(MAX_MISSING, sizeof *s->missing)};
  add(s, name, source, size);
  for (int i = 0; i < s->n; i++) {
    const struct cuda_scan *scan = s->all[i].scan;
    for (int k = 0; k < scan->nincludes; k++)
      if (!one_include(s, i, &scan->includes[k], dir, include, err))
        return false;
  }
  return true;
}

void ptx_sources_done(struct ptx_sources *s) {
  for (int i = 0; i < s->n; i++) {
    free(s->all[i].name);
    cuda_scan_free(s->all[i].scan);
  }
  for (int i = 0; i < s->nmissing; i++)
    free(s->missing[i]);
  free(s->all);
  free(s->missing);
  *s = (struct ptx_sources){0};
}

/* curand_kernel.h is the one toolkit header that reads a header of the EMPTY kind. */
static bool wants_real_curand(const struct ptx_sources *s) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->all[i].scan->nincludes; k++)
      if (!strcmp(s->all[i].scan->includes[k].name, "curand_kernel.h"))
        return true;
  return false;
}

int ptx_sources_headers(const struct ptx_sources *s, const char ***names, const char ***texts) {
  int known = cuda_headers_count(), n = 0;
  size_t room = (size_t)(known + s->n + s->nmissing);
  *names = alloc_zero(room, sizeof **names);
  *texts = alloc_zero(room, sizeof **texts);
  bool real = wants_real_curand(s);
  for (int i = 0; i < known; i++) {
    if (real && !strcmp(cuda_headers_name(i), "curand.h"))
      continue;
    (*names)[n] = cuda_headers_name(i);
    (*texts)[n++] = cuda_headers_text(i);
  }
  for (int i = 1; i < s->n; i++, n++) {
    (*names)[n] = s->all[i].name;
    (*texts)[n] = s->all[i].scan->text;
  }
  for (int i = 0; i < s->nmissing; i++, n++) {
    (*names)[n] = s->missing[i];
    (*texts)[n] = "\n";
  }
  return n;
}

bool ptx_sources_is_define(const char *flag) { return !strncmp(flag, "-D", 2) && flag[2]; }

char *ptx_sources_text(const struct ptx_sources *s, const char *const *flags, int nflags) {
  struct str text = {0};
  str_addf(&text, "#include \"%s\"\n", cuda_headers_prelude_name);
  for (int i = 0; i < nflags; i++)
    if (ptx_sources_is_define(flags[i])) {
      int name = (int)strcspn(flags[i], "=");
      const char *value = flags[i][name] ? flags[i] + name + 1 : "1";
      str_addf(&text, "#define %.*s %s\n", name - 2, flags[i] + 2, value);
    }
  str_addf(&text, "#line 1\n%s", s->all[0].scan->text);
  return str_take(&text);
}

bool ptx_sources_drop(struct ptx_sources *s, const char *name, size_t name_len, int line,
                      const char *text, int keep_source, int keep) {
  for (int i = 0; i < s->n; i++)
    if (strlen(s->all[i].name) == name_len && !memcmp(s->all[i].name, name, name_len))
      return cuda_scan_drop(s->all[i].scan, line, text, i == keep_source ? keep : -1);
  return false;
}
