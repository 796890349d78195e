#include "app/xray_args.h"

#include "app/language.h"
#include "app/options.h"
#include "base/alloc.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "kernels/catalog.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 768 * 1024 };

enum {
  OPT_ENTRY = 256,
  OPT_GRID,
  OPT_BLOCK,
  OPT_SMEM,
  OPT_ARGS,
  OPT_DTYPE,
  OPT_OP,
  OPT_LAYOUT,
  OPT_DEFINE,
  OPT_ARCH,
  OPT_SAMPLE,
  OPT_NO_CHECKS,
  OPT_TRACE,
  OPT_TRACE_BLOCK,
  OPT_SEED,
  OPT_SECONDS,
  OPT_JSON,
  OPT_VERBOSE,
  OPT_WIDTH,
  OPT_LANG,
  OPT_ASCII,
  OPT_COLOR,
  OPT_NO_COLOR,
  OPT_WORKER,
  OPT_LIST,
  OPT_IGNORED
};

static const struct option long_options[] = {
    {"entry", required_argument, NULL, OPT_ENTRY},
    {"grid", required_argument, NULL, OPT_GRID},
    {"block", required_argument, NULL, OPT_BLOCK},
    {"smem", required_argument, NULL, OPT_SMEM},
    {"args", required_argument, NULL, OPT_ARGS},
    {"dtype", required_argument, NULL, OPT_DTYPE},
    {"op", required_argument, NULL, OPT_OP},
    {"layout", required_argument, NULL, OPT_LAYOUT},
    {"define", required_argument, NULL, OPT_DEFINE},
    {"param", required_argument, NULL, OPT_DEFINE},
    {"arch", required_argument, NULL, OPT_ARCH},
    {"sample", no_argument, NULL, OPT_SAMPLE},
    {"no-checks", no_argument, NULL, OPT_NO_CHECKS},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"trace-block", required_argument, NULL, OPT_TRACE_BLOCK},
    {"seed", required_argument, NULL, OPT_SEED},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"json", no_argument, NULL, OPT_JSON},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"width", required_argument, NULL, OPT_WIDTH},
    {"lang", required_argument, NULL, OPT_LANG},
    {"ascii", no_argument, NULL, OPT_ASCII},
    {"color", optional_argument, NULL, OPT_COLOR},
    {"no-color", no_argument, NULL, OPT_NO_COLOR},
    {"plain", no_argument, NULL, OPT_IGNORED},
    {"worker", required_argument, NULL, OPT_WORKER},
    {"list", no_argument, NULL, OPT_LIST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static bool read_size(const char *name, int64_t *out, struct err *err) {
  double v;
  if (!options_whole(name, optarg, 1, 2147483647, &v, err))
    return false;
  *out = (int64_t)v;
  return true;
}

/* One of the words of a list that ends with NULL. */
static bool read_word(const char *name, const char *const *words, const char **out,
                      struct err *err) {
  char all[128] = "";
  for (int i = 0; words[i]; i++) {
    if (strcmp(optarg, words[i]) == 0) {
      *out = optarg;
      return true;
    }
    size_t n = strlen(all);
    snprintf(all + n, sizeof all - n, "%s%s", i ? " " : "", words[i]);
  }
  return err_set(err, "%s is one of %s, not '%.40s'.", name, all, optarg);
}

/* "A=col" */
static bool read_layout(struct xray_request *q, struct err *err) {
  bool known = optarg[0] >= 'A' && optarg[0] <= 'C' && optarg[1] == '=' &&
               (strcmp(optarg + 2, "row") == 0 || strcmp(optarg + 2, "col") == 0);
  if (!known)
    return err_set(err, "--layout is A, B or C, then =row or =col, like A=col, not '%.40s'.",
                   optarg);
  q->layout[optarg[0] - 'A'] = optarg + 2;
  return true;
}

static bool read_define(struct xray_request *q, struct err *err) {
  if (!*optarg || *optarg == '=')
    return err_set(err, "--define needs NAME=VALUE, like T=16, not '%.40s'.", optarg);
  if (q->ndefines == XRAY_REQUEST_DEFINES)
    return err_set(err, "--define can be given %d times at most.", XRAY_REQUEST_DEFINES);
  q->defines[q->ndefines++] = optarg;
  return true;
}

static bool read_block(struct xray_request *q, struct err *err) {
  char *end = optarg;
  int n = 0;
  for (; n < 3; n++) {
    char *at = end;
    q->trace_block[n] = strtoll(at, &end, 10);
    if (end == at || q->trace_block[n] < 0 || (*end != ',' && *end != '\0'))
      break;
    if (*end == '\0')
      return true;
    end++;
  }
  return err_set(err, "--trace-block needs the block's coordinates, like 0,0, not '%.40s'.",
                 optarg);
}

static bool read_look(int c, struct xray_args *a, struct err *err) {
  double v = 0;
  switch (c) {
  case OPT_WIDTH:
    if (!options_whole("--width", optarg, 60, 1000, &v, err))
      return false;
    a->width = (int)v;
    return true;
  case OPT_LANG:
    return language_pick(optarg, &a->lang) || err_set(err, "--lang is en, zh or auto.");
  case OPT_COLOR:
    a->colour = !optarg || strcmp(optarg, "always") == 0 ? 1
                : strcmp(optarg, "never") == 0           ? -1
                                                         : 0;
    return a->colour != 0 || strcmp(optarg, "auto") == 0 ||
           err_set(err, "--color is auto, always or never, not '%.40s'.", optarg);
  case OPT_NO_COLOR:
    a->colour = -1;
    return true;
  case OPT_ASCII:
    a->ascii = true;
    return true;
  case OPT_JSON:
    a->json = true;
    return true;
  case OPT_VERBOSE:
    a->verbose = true;
    return true;
  case OPT_WORKER:
    a->worker = optarg;
    return true;
  case OPT_LIST:
    a->list = true;
    return true;
  case 'h':
    a->help = true;
    return true;
  default:
    return true;
  }
}

static bool read_limits(int c, struct xray_args *a, struct err *err) {
  struct xray_request *q = &a->request;
  double v = 0;
  switch (c) {
  case 'M':
    return read_size("-M", &q->M, err);
  case 'N':
    return read_size("-N", &q->N, err);
  case 'K':
    return read_size("-K", &q->K, err);
  case OPT_SEED:
    if (!options_whole("--seed", optarg, 1, 9007199254740991.0, &v, err))
      return false;
    q->seed = (uint64_t)v;
    return true;
  case OPT_SECONDS:
    return options_number("--seconds", optarg, 0.01, 3600, &q->seconds, err);
  case OPT_TRACE:
    a->trace = optarg;
    q->trace = true;
    return *optarg || err_set(err, "--trace needs the name of a file, or - for the output.");
  case OPT_TRACE_BLOCK:
    return read_block(q, err);
  case OPT_SAMPLE:
    q->sample = true;
    return true;
  case OPT_NO_CHECKS:
    q->no_checks = true;
    return true;
  default:
    return read_look(c, a, err);
  }
}

static bool read_option(int c, struct xray_args *a, struct err *err) {
  static const char *const types[] = {"f32", "bf16", "f16", "f64", NULL};
  static const char *const ops[] = {"gemm",   "gemv",      "add",  "copy",
                                    "reduce", "transpose", "none", NULL};
  struct xray_request *q = &a->request;
  switch (c) {
  case OPT_ENTRY:
    q->entry = optarg;
    return true;
  case OPT_GRID:
    q->grid = optarg;
    return true;
  case OPT_BLOCK:
    q->block = optarg;
    return true;
  case OPT_SMEM:
    q->smem = optarg;
    return true;
  case OPT_ARGS:
    q->args = optarg;
    return true;
  case OPT_ARCH:
    q->arch = optarg;
    return true;
  case OPT_DTYPE:
    return read_word("--dtype", types, &q->dtype, err);
  case OPT_OP:
    return read_word("--op", ops, &q->op, err);
  case OPT_LAYOUT:
    return read_layout(q, err);
  case OPT_DEFINE:
    return read_define(q, err);
  default:
    return read_limits(c, a, err);
  }
}

int xray_args_read(int argc, char **argv, struct xray_args *a) {
  *a = (struct xray_args){0};
  language_pick(NULL, &a->lang);
  struct err err;
  int c;
  optind = 0;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":M:N:K:h", long_options, NULL)) != -1) {
    if (c == '?' || c == ':')
      return options_wrong("xray", argv, c);
    if (!read_option(c, a, &err))
      return options_fail("xray", 2, err.text);
  }
  if (optind < argc)
    a->name = argv[optind++];
  if (optind < argc) {
    err_set(&err,
            "One kernel at a time: '%.60s' is one too many. `mmtutor xray --help` shows the use.",
            argv[optind]);
    return options_fail("xray", 2, err.text);
  }
  if (!a->name && !a->help && !a->list)
    return options_fail("xray", 2,
                        "Name a file or a kernel: `mmtutor xray mine.cu`. `mmtutor xray --list` "
                        "shows the kernels that are here.");
  return 0;
}

/* ---- what it names */
static bool ends_in(const char *name, const char *suffix) {
  size_t n = strlen(name), k = strlen(suffix);
  return n > k && strcmp(name + n - k, suffix) == 0;
}

static bool is_file(const char *name) {
  return ends_in(name, ".cu") || ends_in(name, ".ptx") || ends_in(name, ".cuh") ||
         ends_in(name, ".cpp") || ends_in(name, ".h") || ends_in(name, ".c") || name[0] == '.' ||
         name[0] == '/' || ends_in(name, "/");
}

/* The text is sent, so that the worker may be on another machine; what is no UTF-8, for example a
 * comment in another encoding, keeps its lines. */
static bool load_file(struct xray_args *a, struct err *err) {
  size_t n;
  char *text = paths_read(a->name, FILE_MAX, &n, err);
  if (!text)
    return false;
  if (memchr(text, '\0', n)) {
    free(text);
    return err_set(err, "%.200s is no text: it holds zero bytes. Give CUDA C++ or PTX.", a->name);
  }
  if (strspn(text, " \t\r\n") == n) {
    free(text);
    return err_set(err, "%.200s is empty. Give CUDA C++ or PTX with a kernel.", a->name);
  }
  bool clean = utf8_valid(text, n, NULL);
  a->source = clean ? text : utf8_clean(text, n);
  if (!clean)
    free(text);
  const char *slash = strrchr(a->name, '/');
  a->file = alloc_str(slash ? slash + 1 : a->name);
  a->dir = slash ? alloc_strn(a->name, slash == a->name ? 1 : (size_t)(slash - a->name))
                 : alloc_str(".");
  a->request.kernel = a->file;
  a->request.source = a->source;
  a->request.dir = a->dir;
  return true;
}

static bool find_kernel(struct xray_args *a, struct err *err) {
  catalog *c = catalog_new();
  const struct kernel *k = catalog_find(c, a->name);
  bool cuda = k && k->target == KERNEL_CUDA;
  if (!k)
    catalog_unknown(c, a->name, err);
  else if (!cuda)
    err_set(err,
            "%s is a CPU kernel; the x-ray runs CUDA kernels. `mmtutor xray --list` shows "
            "them.",
            k->id);
  catalog_free(c);
  a->request.kernel = a->name;
  return cuda;
}

bool xray_args_load(struct xray_args *a, struct err *err) {
  return is_file(a->name) ? load_file(a, err) : find_kernel(a, err);
}

void xray_args_done(struct xray_args *a) {
  free(a->source);
  free(a->dir);
  free(a->file);
}
