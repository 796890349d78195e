#include "bench/ptx_build.h"
#include "base/alloc.h"
#include "base/str.h"
#include "bench/ptx_names.h"
#include "kernels/cuda_headers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMPILES = 40, MAX_ERROR = 400 };

struct builder {
  const nvrtc *n;
  const struct ptx_build_request *q;
  struct ptx_build_output *out;
  struct ptx_names names;
  const char *include;
  bool cubin;            /* compile to machine code, with its PTX; else to PTX alone */
  char first[MAX_ERROR]; /* the first error of all: what is told if nothing is left */
};

/* One error of the log; pieces point into it. */
struct complaint {
  const char *file;
  size_t file_len;
  int line;
  char text[MAX_ERROR]; /* "identifier "x" is undefined" */
};

/* NAME(LINE): error: text -- reads one line of the log; false if it is something else. */
static bool read_complaint(const char *line, size_t len, struct complaint *c) {
  static const char *const marks[] = {"): error: ", "): catastrophic error: ", "): error #"};
  const char *mark = NULL;
  size_t skip = 0;
  for (size_t i = 0; !mark && i < sizeof marks / sizeof *marks; i++) {
    skip = strlen(marks[i]);
    mark = memmem(line, len, marks[i], skip);
  }
  const char *open = mark;
  while (open && open > line && *open != '(')
    open--;
  if (!open || open == line)
    return false;
  c->file = line;
  c->file_len = (size_t)(open - line);
  c->line = atoi(open + 1);
  snprintf(c->text, sizeof c->text, "%.*s", (int)(len - skip - (size_t)(mark - line)), mark + skip);
  return true;
}

/* The next error at or behind *at, which moves on; false at the end. */
static bool next_complaint(const char **at, struct complaint *c) {
  while (**at) {
    const char *line = *at;
    size_t len = strcspn(line, "\n");
    *at = line + len + (line[len] == '\n');
    if (read_complaint(line, len, c))
      return true;
  }
  return false;
}

static char **make_options(const struct builder *b, bool ptx, int *n) {
  const char *arch = b->q->arch ? b->q->arch : "90";
  char **o = alloc_zero((size_t)(8 + b->q->nflags), sizeof *o);
  int k = 0;
  o[k++] = alloc_printf("--gpu-architecture=%s_%s", ptx ? "compute" : "sm", arch);
  o[k++] = alloc_str("--std=c++17");
  o[k++] = alloc_str("-lineinfo");
  /* What has no mark and is still there is a constant or a constexpr function. */
  o[k++] = alloc_str("--device-as-default-execution-space");
  o[k++] = alloc_str("--disable-warnings");
  if (b->include) {
    o[k++] = alloc_printf("-I%s", b->include);
    o[k++] = alloc_printf("-I%s/cccl", b->include);
  }
  if (!ptx)
    o[k++] = alloc_str("--ptxas-options=-v");
  for (int i = 0; i < b->q->nflags; i++)
    if (!ptx_sources_is_define(b->q->flags[i]))
      o[k++] = alloc_str(b->q->flags[i]);
  *n = k;
  return o;
}

static bool compile(struct builder *b, struct nvrtc_output *made, struct err *err) {
  const char **headers, **texts;
  int noptions, nheaders = ptx_sources_headers(&b->out->sources, &headers, &texts);
  char **options = make_options(b, !b->cubin, &noptions), *text;
  text = ptx_sources_text(&b->out->sources, b->q->flags, b->q->nflags);
  const char **names = alloc_zero((size_t)b->names.n, sizeof *names);
  for (int i = 0; i < b->names.n; i++)
    names[i] = b->names.all[i].text;
  struct nvrtc_request r = {.source = text,
                            .name = b->q->name,
                            .options = (const char *const *)options,
                            .noptions = noptions,
                            .header_names = headers,
                            .header_texts = texts,
                            .nheaders = nheaders,
                            .names = names,
                            .nnames = b->names.n,
                            .want_ptx = !b->cubin,
                            .and_ptx = b->cubin};
  bool ok = nvrtc_compile_request(b->n, &r, made, err);
  b->out->compiles++;
  b->out->ms += made->ms;
  free(b->out->log);
  b->out->log = alloc_str(made->log);
  for (int i = 0; i < noptions; i++)
    free(options[i]);
  free(options);
  free(text);
  free(names);
  free(headers);
  free(texts);
  return ok;
}

static bool same_but_space(const char *a, const char *b, size_t nb) {
  size_t i = 0;
  for (; *a; a++) {
    if (*a == ' ')
      continue;
    while (i < nb && b[i] == ' ')
      i++;
    if (i == nb || b[i++] != *a)
      return false;
  }
  while (i < nb && b[i] == ' ')
    i++;
  return i == nb;
}

/* The log says which name it could not read; false if none of ours. */
static bool drop_name(struct builder *b, const struct complaint *c, const char *log) {
  static const char mark[] = "Input name expression was: \"";
  if (c->file_len != strlen("__nv_name_map") || memcmp(c->file, "__nv_name_map", c->file_len))
    return false;
  const char *at = strstr(log, mark);
  if (!at)
    return false;
  at += strlen(mark);
  size_t len = strcspn(at, "\"\n");
  for (int i = 0; i < b->names.n; i++)
    if (same_but_space(b->names.all[i].text, at, len)) {
      const struct ptx_name *name = &b->names.all[i];
      struct cuda_scan *scan = b->out->sources.all[name->source].scan;
      cuda_scan_note(scan, name->line, name->text, c->text);
      ptx_names_remove(&b->names, i);
      return true;
    }
  return false;
}

/* A kernel whose chunk was left out is asked for no longer. */
static void drop_gone(struct builder *b) {
  for (int i = b->names.n; i > 0; i--) {
    const struct ptx_name *name = &b->names.all[i - 1];
    const struct cuda_scan *scan = b->out->sources.all[name->source].scan;
    if (name->chunk >= 0 && scan->chunks[name->chunk].gone)
      ptx_names_remove(&b->names, i - 1);
  }
}

/* If the error is about something that was left out, why it was. */
static const struct cuda_scan_left *cause(const struct builder *b, const char *text) {
  const char *open = strchr(text, '"'), *close = open ? strchr(open + 1, '"') : NULL;
  if (!close)
    return NULL;
  for (int i = 0; i < b->out->sources.n; i++) {
    const struct cuda_scan *s = b->out->sources.all[i].scan;
    for (int k = 0; k < s->nleft; k++)
      if (strlen(s->left[k].name) == (size_t)(close - open - 1) && s->left[k].name[0] &&
          !memcmp(s->left[k].name, open + 1, (size_t)(close - open - 1)))
        return &s->left[k];
  }
  return NULL;
}

static bool give_up(const struct builder *b, const struct complaint *c, struct err *err) {
  const struct cuda_scan_left *why = cause(b, c->text);
  if (c->file_len > 4 && !memcmp(c->file, "__nv", 4))
    return err_set(err, "There is no kernel '%.200s': %s.%s", b->names.all[0].text, c->text,
                   b->q->entry && strchr(b->q->entry, '<')
                       ? ""
                       : " If it is a template, name its arguments, as in --entry 'name<32>'.");
  if (why && why->text[0])
    return err_set(err, "%.*s:%d: %s. %s (line %d) was left out: %s", (int)c->file_len, c->file,
                   c->line, c->text, why->name, why->line, why->text);
  if (why)
    return err_set(err,
                   "%.*s:%d: %s. %s (line %d) is host code and was left out. Mark it __device__ "
                   "if the kernel needs it.",
                   (int)c->file_len, c->file, c->line, c->text, why->name, why->line);
  return err_set(err, "%.*s:%d: %s", (int)c->file_len, c->file, c->line, c->text);
}

/* Takes what the log complains of out of the text. False with the error to tell. */
static bool repair(struct builder *b, const char *log, struct err *err) {
  struct complaint c, first;
  const char *at = log;
  int keep_source = -1, keep = -1;
  if (b->q->entry) {
    const struct ptx_name *name = &b->names.all[0];
    keep_source = name->source;
    keep = name->chunk;
  }
  if (!next_complaint(&at, &first))
    return false; /* nothing is wrong with a line: err has the library's word */
  if (!b->first[0])
    snprintf(b->first, sizeof b->first, "%.*s:%d: %.300s", (int)first.file_len, first.file,
             first.line, first.text);
  c = first;
  do {
    if (!b->q->entry && drop_name(b, &c, log))
      return b->names.n > 0 || err_set(err, "%s", b->first);
    if (ptx_sources_drop(&b->out->sources, c.file, c.file_len, c.line, c.text, keep_source, keep)) {
      drop_gone(b);
      return b->names.n > 0 ||
             err_set(err, "No kernel of %.200s compiles. %s", b->q->name, b->first);
    }
  } while (next_complaint(&at, &c) && !b->q->entry);
  return give_up(b, &first, err);
}

static void take_entries(struct builder *b, const struct nvrtc_output *made) {
  struct ptx_build_output *out = b->out;
  out->entries = alloc_zero((size_t)b->names.n, sizeof *out->entries);
  for (int i = 0; i < b->names.n && i < made->nlowered; i++) {
    const struct ptx_name *name = &b->names.all[i];
    if (!made->lowered[i])
      continue;
    out->entries[out->nentries++] = (struct ptx_build_entry){.name = alloc_str(name->text),
                                                             .symbol = alloc_str(made->lowered[i]),
                                                             .line = name->line,
                                                             .registers = -1,
                                                             .shared_bytes = -1,
                                                             .stack_bytes = -1,
                                                             .spill_bytes = -1};
  }
}

/* The number right before `word` on this line; `none` if the word is not there. */
static int number_before(const char *line, size_t len, const char *word, int none) {
  const char *at = memmem(line, len, word, strlen(word));
  if (!at)
    return none;
  while (at > line && at[-1] >= '0' && at[-1] <= '9')
    at--;
  return atoi(at);
}

/* ptxas speaks of one entry in several lines: its name, then stack and spills, then registers. */
static void take_resources(struct ptx_build_output *out, const char *log) {
  static const char mark[] = "Compiling entry function '";
  struct ptx_build_entry *e = NULL;
  for (const char *line = log; *line;) {
    size_t len = strcspn(line, "\n");
    const char *name = memmem(line, len, mark, strlen(mark));
    if (name) {
      name += strlen(mark);
      size_t n = strcspn(name, "'\n");
      e = NULL;
      for (int i = 0; i < out->nentries; i++)
        if (strlen(out->entries[i].symbol) == n && !memcmp(out->entries[i].symbol, name, n))
          e = &out->entries[i];
    } else if (e && memmem(line, len, " bytes stack frame", 18)) {
      e->stack_bytes = number_before(line, len, " bytes stack frame", -1);
      e->spill_bytes = number_before(line, len, " bytes spill stores", 0) +
                       number_before(line, len, " bytes spill loads", 0);
    } else if (e && memmem(line, len, " registers", 10)) {
      e->registers = number_before(line, len, " registers", -1);
      e->shared_bytes = number_before(line, len, " bytes smem", 0);
      e = NULL;
    } else if (memmem(line, len, "Function properties", 19) && e &&
               !memmem(line, len, e->symbol, strlen(e->symbol))) {
      e = NULL; /* of a function that an entry calls */
    }
    line += len + (line[len] == '\n');
  }
}

/* One compile gives both: headers such as cooperative_groups.h take seconds to read. */
static void take_code(struct ptx_build_output *out, struct nvrtc_output *made, bool cubin) {
  char **ptx = cubin ? &made->ptx : &made->image;
  out->ptx = *ptx;
  *ptx = NULL;
  if (!cubin)
    return;
  take_resources(out, made->log);
  out->log[0] = '\0'; /* the assembler's figures are no message */
  out->cubin = made->image;
  out->cubin_size = made->size;
  made->image = NULL;
}

/* The compiler's own errors name a line; the assembler's do not. */
static bool assembler_failed(const struct builder *b, const struct nvrtc_output *made) {
  struct complaint c;
  const char *at = made->log;
  return b->cubin && !next_complaint(&at, &c);
}

static bool attempts(struct builder *b, struct err *err) {
  struct err code = {""};
  for (int i = 0; i < MAX_COMPILES; i++) {
    struct nvrtc_output made;
    struct err why = {""}; /* not the caller's: the next attempt may succeed */
    if (compile(b, &made, &why)) {
      take_entries(b, &made);
      take_code(b->out, &made, b->cubin);
      nvrtc_output_done(&made);
      if (!b->q->resources || b->cubin)
        return true;
      return err_set(err, "The PTX is there, but not the machine code: %s", code.text);
    }
    bool again = assembler_failed(b, &made);
    if (again) {
      code = why;
      b->cubin = false;
    } else {
      again = repair(b, made.log, &why);
    }
    nvrtc_output_done(&made);
    if (!again)
      return err_set(err, "%s", why.text);
  }
  return err_set(err, "%.200s has too many pieces that do not compile. The first: %s", b->q->name,
                 b->first);
}

bool ptx_build(const nvrtc *n, const struct ptx_build_request *q, struct ptx_build_output *out,
               struct err *err) {
  struct builder b = {.n = n, .q = q, .out = out, .cubin = q->resources};
  *out = (struct ptx_build_output){.log = alloc_str("")};
  b.include = q->include ? q->include : nvrtc_include(n);
  bool ok = ptx_sources_read(&out->sources, q->source, q->size, q->name, q->dir, b.include, err) &&
            ptx_names_choose(&b.names, &out->sources, q->entry, err) && attempts(&b, err);
  ptx_names_done(&b.names);
  return ok;
}

void ptx_build_done(struct ptx_build_output *out) {
  for (int i = 0; i < out->nentries; i++) {
    free(out->entries[i].name);
    free(out->entries[i].symbol);
  }
  free(out->entries);
  free(out->ptx);
  free(out->log);
  free(out->cubin);
  ptx_sources_done(&out->sources);
  *out = (struct ptx_build_output){0};
}
