#include "app/run_args.h"

#include "app/options.h"
#include "base/alloc.h"
#include "base/paths.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 768 * 1024, DEFAULT_SIZE = 1024 };

enum {
  OPT_DEVICE = 256,
  OPT_PARAM,
  OPT_SECONDS,
  OPT_SWEEP,
  OPT_JSON,
  OPT_THREADS,
  OPT_ISA,
  OPT_SEED,
  OPT_NO_REFERENCE,
  OPT_COLD,
  OPT_WARMUP,
  OPT_WORKER,
  OPT_LIST
};

static const struct option long_options[] = {{"device", required_argument, NULL, OPT_DEVICE},
                                             {"param", required_argument, NULL, OPT_PARAM},
                                             {"seconds", required_argument, NULL, OPT_SECONDS},
                                             {"sweep", required_argument, NULL, OPT_SWEEP},
                                             {"json", no_argument, NULL, OPT_JSON},
                                             {"threads", required_argument, NULL, OPT_THREADS},
                                             {"isa", required_argument, NULL, OPT_ISA},
                                             {"seed", required_argument, NULL, OPT_SEED},
                                             {"no-reference", no_argument, NULL, OPT_NO_REFERENCE},
                                             {"cold", no_argument, NULL, OPT_COLD},
                                             {"warmup", required_argument, NULL, OPT_WARMUP},
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

static bool read_param(struct run_args *a, struct err *err) {
  const char *eq = strchr(optarg, '=');
  size_t n = eq ? (size_t)(eq - optarg) : 0;
  if (!eq || n == 0 || n >= sizeof a->params[0].name)
    return err_set(err, "--param needs NAME=VALUE, like T=16, not '%.40s'.", optarg);
  if (a->nparams == MM_PARAMS)
    return err_set(err, "--param can be given %d times at most.", MM_PARAMS);
  char what[64];
  snprintf(what, sizeof what, "--param %.*s", (int)n, optarg);
  if (!options_number(what, eq + 1, -1e15, 1e15, &a->params[a->nparams].value, err))
    return false;
  memcpy(a->params[a->nparams].name, optarg, n);
  a->params[a->nparams++].name[n] = '\0';
  return true;
}

static bool read_isa(struct run_args *a, struct err *err) {
  a->isa = optarg;
  bool known = strcmp(optarg, "auto") == 0;
  for (int i = 0; i < ISA_COUNT; i++)
    known = known || strcmp(optarg, catalog_isa_name((enum catalog_isa)i)) == 0;
  return known || err_set(err, "--isa is one of auto, plain, avx2, avx512, not '%.40s'.", optarg);
}

static bool read_option(int c, struct run_args *a, struct err *err) {
  double v = 0;
  bool ok = true;
  switch (c) {
  case 'M':
    return read_size("-M", &a->M, err);
  case 'N':
    return read_size("-N", &a->N, err);
  case 'K':
    return read_size("-K", &a->K, err);
  case OPT_DEVICE:
    a->device = optarg;
    break;
  case OPT_PARAM:
    return read_param(a, err);
  case OPT_SECONDS:
    return options_number("--seconds", optarg, 0.001, 3600, &a->seconds, err);
  case OPT_SWEEP:
    a->sweep = optarg;
    break;
  case OPT_JSON:
    a->json = true;
    break;
  case OPT_THREADS:
    ok = options_whole("--threads", optarg, 0, 4096, &v, err);
    a->threads = (int)v;
    return ok;
  case OPT_ISA:
    return read_isa(a, err);
  case OPT_SEED:
    ok = options_whole("--seed", optarg, 0, 9007199254740991.0, &v, err);
    a->seed = ok ? (uint64_t)v : 0;
    return ok;
  case OPT_NO_REFERENCE:
    a->reference = false;
    break;
  case OPT_COLD:
    a->cold = true;
    break;
  case OPT_WARMUP:
    return options_number("--warmup", optarg, 0.001, 60, &a->warmup_s, err);
  case OPT_WORKER:
    a->worker = optarg;
    break;
  case OPT_LIST:
    a->list = true;
    break;
  default:
    a->help = true;
  }
  return true;
}

int run_args_read(int argc, char **argv, struct run_args *a) {
  *a = (struct run_args){.M = DEFAULT_SIZE,
                         .N = DEFAULT_SIZE,
                         .K = DEFAULT_SIZE,
                         .seconds = 2,
                         .isa = "auto",
                         .seed = 1,
                         .reference = true};
  struct err err;
  int c;
  optind = 0;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":M:N:K:h", long_options, NULL)) != -1) {
    if (c == '?' || c == ':')
      return options_wrong("run", argv, c);
    if (!read_option(c, a, &err))
      return options_fail("run", 2, err.text);
  }
  if (optind < argc)
    a->name = argv[optind++];
  if (optind < argc) {
    err_set(&err,
            "One kernel at a time: '%.60s' is one too many. `mmtutor run --help` shows the "
            "use.",
            argv[optind]);
    return options_fail("run", 2, err.text);
  }
  if (!a->name && !a->help && !a->list)
    return options_fail("run", 2,
                        "Name a kernel or a file: `mmtutor run cpu/ikj`. `mmtutor run --list` "
                        "shows the kernels.");
  return 0;
}

/* ---- the plan */
static bool is_file(const char *name, size_t n) {
  return (n > 3 && strncmp(name + n - 3, ".cu", 3) == 0) ||
         (n > 2 && strncmp(name + n - 2, ".c", 2) == 0);
}

static bool load_file(const char *name, size_t n, struct run_plan *plan, struct err *err) {
  char *path = alloc_strn(name, n);
  size_t bytes;
  char *text = paths_read(path, FILE_MAX, &bytes, err);
  if (text)
    plan->file = kernel_parse(text, bytes, path, name[n] == '@' ? name + n + 1 : NULL, err);
  free(text);
  free(path);
  plan->kernel = plan->file;
  return plan->file != NULL;
}

static bool find_kernel(const char *name, struct run_plan *plan, struct err *err) {
  const char *at = strrchr(name, '@');
  size_t n = at ? (size_t)(at - name) : strlen(name);
  if (is_file(name, n))
    return load_file(name, n, plan, err);
  plan->kernel = catalog_find(plan->kernels, name);
  if (!plan->kernel)
    catalog_unknown(plan->kernels, name, err);
  return plan->kernel != NULL;
}

static bool check_device(const struct run_args *a, struct run_plan *plan, struct err *err) {
  bool cuda = plan->kernel->target == KERNEL_CUDA;
  plan->device = a->device ? a->device : cuda ? "cuda:0" : "cpu";
  int index;
  if (strcmp(plan->device, "xray") == 0)
    return err_set(err,
                   "The x-ray counts and has no times, so `run` cannot use it. `mmtutor xray %s` "
                   "counts.",
                   plan->kernel->id);
  const struct device_ops *ops = device_by_id(plan->device, &index, err);
  if (!ops)
    return false;
  if ((ops == &device_cpu && cuda) || (ops == &device_cuda && !cuda))
    return err_set(err, "%s is a %s kernel and cannot run on %s. Leave --device out, or use %s.",
                   plan->kernel->id, cuda ? "CUDA" : "CPU", plan->device, cuda ? "cuda:0" : "cpu");
  return true;
}

/* Sets the swept variable of a point; false with a sentence. */
static bool set_var(const struct kernel *k, struct kernel_size *s, const char *var, double v,
                    struct err *err) {
  bool all = strcmp(var, "n") == 0;
  bool dim = all || strcmp(var, "M") == 0 || strcmp(var, "N") == 0 || strcmp(var, "K") == 0;
  if (!dim)
    return kernel_set_param(k, s, var, v, err);
  if (!(v >= 1 && v <= 2147483647 && floor(v) == v))
    return err_set(err, "--sweep: sizes are whole numbers from 1 to 2147483647, not %g.", v);
  if (all || *var == 'M')
    s->M = (int64_t)v;
  if (all || *var == 'N')
    s->N = (int64_t)v;
  if (all || *var == 'K')
    s->K = (int64_t)v;
  return true;
}

static bool add_point(struct run_plan *plan, const struct kernel_size *base, const char *var,
                      double v, struct err *err) {
  if (plan->npoints == RUN_ARGS_POINTS)
    return err_set(err, "--sweep: more than %d points. Take a larger step.", RUN_ARGS_POINTS);
  struct kernel_size s = *base;
  if (!set_var(plan->kernel, &s, var, v, err) || !kernel_accepts(plan->kernel, &s, err))
    return false;
  plan->points[plan->npoints++] = s;
  return true;
}

static bool sweep_range(char *spec, struct run_plan *plan, const struct kernel_size *base,
                        const char *var, struct err *err) {
  char *to = strchr(spec, ':');
  char *step = to ? strchr(to + 1, ':') : NULL;
  if (!step || (step[1] != 'x' && step[1] != '+'))
    return err_set(err, "--sweep: a range is FROM:TO:xFACTOR or FROM:TO:+STEP, like "
                        "n=256:8192:x2.");
  *to++ = *step++ = '\0';
  bool times = *step++ == 'x';
  double from, until, by;
  if (!options_number("--sweep FROM", spec, 1, 2147483647, &from, err) ||
      !options_number("--sweep TO", to, 1, 2147483647, &until, err) ||
      !options_number(times ? "--sweep FACTOR" : "--sweep STEP", step, times ? 1.001 : 1,
                      2147483647, &by, err))
    return false;
  if (from > until)
    return err_set(err, "--sweep: the range %g:%g is empty; FROM must not be above TO.", from,
                   until);
  double last = NAN;
  for (double v = from; v <= until * (1 + 1e-12); v = times ? v * by : v + by) {
    double whole = round(v);
    if (whole != last && !add_point(plan, base, var, whole, err))
      return false;
    last = whole;
  }
  return true;
}

static bool sweep_list(char *spec, struct run_plan *plan, const struct kernel_size *base,
                       const char *var, struct err *err) {
  char *save = NULL;
  for (char *w = strtok_r(spec, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
    double v;
    if (!options_number("--sweep", w, -1e15, 1e15, &v, err) || !add_point(plan, base, var, v, err))
      return false;
  }
  return plan->npoints > 0 || err_set(err, "--sweep needs values, like n=64,128 or n=256:8192:x2.");
}

static bool make_points(const struct run_args *a, struct run_plan *plan, struct err *err) {
  const struct kernel *k = plan->kernel;
  struct kernel_size base = kernel_size_default(k, a->M, a->N, a->K);
  for (int i = 0; i < a->nparams; i++)
    if (!kernel_set_param(k, &base, a->params[i].name, a->params[i].value, err))
      return false;
  if (!a->sweep) {
    plan->points[plan->npoints++] = base;
    return kernel_accepts(k, &base, err);
  }
  char *spec = alloc_str(a->sweep);
  char *values = strchr(spec, '=');
  bool ok;
  if (!values || values == spec)
    ok = err_set(err, "--sweep needs VARIABLE=VALUES, like n=256:8192:x2 or T=8,16,32.");
  else {
    *values++ = '\0';
    ok = strchr(values, ':') ? sweep_range(values, plan, &base, spec, err)
                             : sweep_list(values, plan, &base, spec, err);
  }
  free(spec);
  return ok;
}

bool run_args_plan(const struct run_args *a, struct run_plan *plan, struct err *err) {
  *plan = (struct run_plan){.kernels = catalog_new()};
  return find_kernel(a->name, plan, err) && check_device(a, plan, err) && make_points(a, plan, err);
}

void run_args_plan_done(struct run_plan *plan) {
  kernel_free(plan->file);
  catalog_free(plan->kernels);
  *plan = (struct run_plan){0};
}
