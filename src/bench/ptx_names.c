#include "bench/ptx_names.h"
#include "base/alloc.h"
#include "base/str.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 256 };

static const struct cuda_scan_kernel *kernel_of(const struct ptx_sources *s, int source, int i) {
  return &s->all[source].scan->kernels[i];
}

/* `asked` is the kernel's name, or its last parts: "tiled" for "gemm::tiled". */
static bool means(const char *asked, size_t len, const char *name) {
  while (len > 2 && !memcmp(asked, "::", 2)) {
    asked += 2;
    len -= 2;
  }
  size_t n = strlen(name);
  if (n < len || !len || memcmp(name + n - len, asked, len))
    return false;
  return n == len || (n > len + 2 && !memcmp(name + n - len - 2, "::", 2));
}

static void add(struct ptx_names *names, int source, int line, int chunk, char *text) {
  for (int i = 0; i < names->n; i++)
    if (!strcmp(names->all[i].text, text)) {
      free(text);
      return;
    }
  if (names->n == MAX_NAMES) {
    free(text);
    return;
  }
  names->all[names->n++] =
      (struct ptx_name){.text = text, .source = source, .line = line, .chunk = chunk};
}

/* True if `name` is the template's with arguments: "tiled<32>". */
static bool instance_of(const char *name, const char *template) {
  size_t n = strlen(template);
  return !strncmp(name, template, n) && name[n] == '<';
}

/* Every way in which the file launches or instantiates this template. */
static void add_launched(struct ptx_names *names, const struct ptx_sources *s, int source,
                         int kernel) {
  const struct cuda_scan_kernel *k = kernel_of(s, source, kernel);
  for (int i = 0; i < s->n; i++) {
    const struct cuda_launches *l = &s->all[i].scan->launches;
    for (int j = 0; j < s->all[i].scan->nkernels; j++)
      if (instance_of(kernel_of(s, i, j)->name, k->name))
        add(names, source, k->line, k->chunk, alloc_str(kernel_of(s, i, j)->name));
    for (int j = 0; j < l->n; j++)
      if (l->all[j].template_args && means(l->all[j].kernel, strlen(l->all[j].kernel), k->name))
        add(names, source, k->line, k->chunk,
            alloc_printf("%s<%s>", k->name, l->all[j].template_args));
  }
}

static bool is_known(const struct ptx_sources *s, const char *name) {
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->all[i].scan->nkernels; j++)
      if (means(name, strlen(name), kernel_of(s, i, j)->name))
        return true;
  return false;
}

static bool makes_kernels(const struct ptx_sources *s) {
  for (int i = 0; i < s->n; i++)
    if (s->all[i].scan->makes_kernels)
      return true;
  return false;
}

/* Kernels that a macro makes are known by their launches. */
static void add_made(struct ptx_names *names, const struct ptx_sources *s) {
  for (int i = 0; i < s->n; i++) {
    const struct cuda_launches *l = &s->all[i].scan->launches;
    for (int j = 0; j < l->n; j++) {
      const char *args = l->all[j].template_args;
      if (!is_known(s, l->all[j].kernel))
        add(names, i, l->all[j].line, -1,
            args ? alloc_printf("%s<%s>", l->all[j].kernel, args) : alloc_str(l->all[j].kernel));
    }
  }
}

static void add_all(struct ptx_names *names, struct ptx_sources *s) {
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->all[i].scan->nkernels; j++) {
      const struct cuda_scan_kernel *k = kernel_of(s, i, j);
      int before = names->n;
      if (k->template_params)
        add_launched(names, s, i, j);
      else
        add(names, i, k->line, k->chunk, alloc_str(k->name));
      if (names->n == before && k->template_params)
        cuda_scan_note(s->all[i].scan, k->line, k->name,
                       "Nothing says with which template arguments.");
    }
  if (makes_kernels(s))
    add_made(names, s);
}

static void list_kernels(const struct ptx_sources *s, struct str *text) {
  int listed = 0;
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->all[i].scan->nkernels && listed < 12; j++, listed++) {
      const struct cuda_scan_kernel *k = kernel_of(s, i, j);
      str_addf(text, "%s%.80s", listed ? ", " : "", k->name);
      if (k->template_params)
        str_addf(text, "<%.80s>", k->template_params);
    }
  int all = 0;
  for (int i = 0; i < s->n; i++)
    all += s->all[i].scan->nkernels;
  str_add(text, all > listed ? ", ..." : "");
}

static bool no_such(const struct ptx_sources *s, const char *entry, struct err *err) {
  struct str text = {0};
  list_kernels(s, &text);
  if (!text.len)
    err_set(err, "%.200s has no kernel: no function with __global__ and a body.", s->all[0].name);
  else if (entry)
    err_set(err, "%.200s has no kernel named %.200s. It has: %.500s.", s->all[0].name, entry,
            text.data);
  else
    err_set(err,
            "The kernels of %.200s are templates, and nothing in the file says with which "
            "arguments: %.500s. Name one with its arguments, as in --entry 'name<32>'.",
            s->all[0].name, text.data);
  str_free(&text);
  return false;
}

static bool which(const struct ptx_names *names, const struct cuda_scan_kernel *k,
                  struct err *err) {
  struct str text = {0};
  for (int i = 0; i < names->n && i < 8; i++)
    str_addf(&text, "%s%.80s", i ? ", " : "", names->all[i].text);
  err_set(err,
          "%.80s is a template <%.200s>. Name its arguments, as in --entry '%.80s<...>'%s%.400s.",
          k->name, k->template_params, k->name, text.len ? ". The file launches: " : "",
          text.len ? text.data : "");
  str_free(&text);
  return false;
}

static bool one(struct ptx_names *names, const struct ptx_sources *s, const char *entry, int i,
                int j, struct err *err) {
  const struct cuda_scan_kernel *k = kernel_of(s, i, j);
  const char *args = strchr(entry, '<');
  if (args) {
    add(names, i, k->line, k->chunk, alloc_printf("%s%s", k->name, args));
    return true;
  }
  if (!k->template_params) {
    add(names, i, k->line, k->chunk, alloc_str(k->name));
    return true;
  }
  add_launched(names, s, i, j);
  return names->n == 1 ? true : which(names, k, err);
}

bool ptx_names_choose(struct ptx_names *names, struct ptx_sources *s, const char *entry,
                      struct err *err) {
  *names = (struct ptx_names){.all = alloc_zero(MAX_NAMES, sizeof *names->all)};
  if (!entry) {
    add_all(names, s);
    return names->n > 0 || no_such(s, NULL, err);
  }
  size_t len = strcspn(entry, "<");
  while (len > 0 && entry[len - 1] == ' ')
    len--;
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->all[i].scan->nkernels; j++) {
      const char *name = kernel_of(s, i, j)->name; /* a specialisation's holds its arguments */
      if (means(entry, len, name) || !strcmp(entry, name))
        return one(names, s, entry, i, j, err);
    }
  if (!makes_kernels(s))
    return no_such(s, entry, err);
  add(names, 0, 1, -1, alloc_str(entry));
  return true;
}

void ptx_names_remove(struct ptx_names *names, int i) {
  free(names->all[i].text);
  names->n--;
  memmove(names->all + i, names->all + i + 1, (size_t)(names->n - i) * sizeof *names->all);
}

void ptx_names_done(struct ptx_names *names) {
  for (int i = 0; i < names->n; i++)
    free(names->all[i].text);
  free(names->all);
  *names = (struct ptx_names){0};
}
