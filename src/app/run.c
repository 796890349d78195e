#include "app/run.h"

#include "app/options.h"
#include "app/run_args.h"
#include "app/run_print.h"
#include "app/session.h"
#include "base/alloc.h"
#include "base/clock.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "mmtutor run KERNEL|FILE [options]: compile, verify and measure one kernel\n"
    "\n"
    "  -M N, -N N, -K N     sizes (1024 each); C is M x N, K is summed over\n"
    "  --param T=16         a parameter of the kernel; may be repeated\n"
    "  --sweep VAR=VALUES   one run a value: n=256:8192:x2  n=64:256:+64  T=8,16\n"
    "                       (n sets M, N and K)\n"
    "  --device D           cuda:0, cuda:1, cpu or null; default: its own kind\n"
    "  --seconds S          time for samples (2); at least 7 samples are taken\n"
    "  --warmup S           warm-up at most (1)\n"
    "  --cold               buffers rotate so that caches do not help\n"
    "  --no-reference       do not run cuBLAS or CBLAS beside it\n"
    "  --threads N          CPU threads (0 = all allowed)\n"
    "  --isa LEVEL          auto, plain, avx2, avx512\n"
    "  --seed N             of the random inputs (1)\n"
    "  --json               one JSON object a run, one a line\n"
    "  --worker COMMAND     measure elsewhere: \"ssh gpubox mmtutor worker\"\n"
    "  --list               the kernels this program knows\n"
    "\n"
    "Exit codes: 0 all right, 1 wrong result or failure, 2 usage.\n";

/* What is kept of the events of one run. */
struct watch {
  bool tty, shown;
  const char *kernel;
  int samples;
  char *log; /* of the compiler */
  struct device_built built;
  bool has_built;
  struct result result;
  bool has_result;
  struct device_fault fault;
};

/* A line that overwrites itself, only ever on a terminal. */
static void progress(struct watch *w, const char *text) {
  if (!w->tty)
    return;
  fprintf(stderr, "\r%-70.70s\r", text);
  fflush(stderr);
  w->shown = *text != '\0';
}

static void on_built(struct watch *w, const struct device_built *built) {
  w->built = *built;
  w->has_built = true;
  free(w->log);
  w->log = built->log ? alloc_str(built->log) : NULL;
  w->built.log = NULL;
  progress(w, "compiled; checking the result");
}

static void on_print(struct watch *w, const char *text) {
  progress(w, "");
  size_t n = strlen(text);
  fprintf(stderr, "%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
}

static void on_event(void *ctx, const struct client_event *ev) {
  struct watch *w = ctx;
  char line[96];
  switch (ev->kind) {
  case CLIENT_COMPILE:
    on_built(w, &ev->built);
    break;
  case CLIENT_VERIFY:
    progress(w, ev->verify.ok ? "right; measuring" : "wrong");
    break;
  case CLIENT_SAMPLE:
    w->samples += ev->nsamples;
    snprintf(line, sizeof line, "measuring: %d samples, the last %.4g ms", w->samples,
             ev->nsamples > 0 ? ev->samples_ms[ev->nsamples - 1] : NAN);
    progress(w, line);
    break;
  case CLIENT_PRINT:
    on_print(w, ev->text);
    break;
  case CLIENT_RESULT:
    result_copy(&w->result, ev->result);
    w->has_result = true;
    break;
  case CLIENT_ERROR:
  case CLIENT_GONE:
    w->fault = ev->fault;
    break;
  case CLIENT_HELLO:
  case CLIENT_ROOFS:
  case CLIENT_TRACE:
  case CLIENT_XRAY:
  case CLIENT_CANCELLED:
    break;
  }
}

static void print_json(const struct result *r) {
  cJSON *o = result_to_json(r);
  char *text = json_print(o);
  puts(text);
  free(text);
  cJSON_Delete(o);
}

static int show(const struct run_args *a, const struct run_plan *plan, const struct watch *w,
                int point) {
  if (a->json)
    print_json(&w->result);
  else if (plan->npoints > 1) {
    if (point == 0)
      run_print_head(stdout, plan->kernel);
    run_print_row(stdout, &w->result);
  } else
    run_print_result(stdout, &w->result, w->has_built ? &w->built : NULL);
  fflush(stdout);
  return w->result.verify.ok ? 0 : 1;
}

/* One run; *go_on is false where the next points make no sense. */
static int run_point(client *c, const struct run_args *a, const struct run_plan *plan, int point,
                     bool *go_on) {
  const struct kernel *k = plan->kernel;
  const struct client_run run = {.device = plan->device,
                                 .kernel = k->id,
                                 .source = k->builtin ? NULL : k->source,
                                 .size = plan->points[point],
                                 .params_of = k,
                                 .seconds = a->seconds,
                                 .reference = a->reference,
                                 .cold = a->cold,
                                 .threads = a->threads,
                                 .isa = a->isa,
                                 .seed = a->seed,
                                 .prediction = NAN,
                                 .warmup_s = a->warmup_s};
  struct err err;
  int id = client_run(c, &run, &err);
  *go_on = false;
  if (id == 0)
    return options_fail("run", 1, err.text);
  struct watch w = {.tty = isatty(STDERR_FILENO) == 1, .kernel = k->id};
  progress(&w, "compiling");
  enum client_kind end = session_wait(c, id, on_event, &w);
  if (w.shown)
    progress(&w, "");
  int code = 1;
  if (end == CLIENT_CANCELLED)
    options_fail("run", 1, "Cancelled; nothing was kept.");
  else if (end == CLIENT_RESULT && w.has_result) {
    code = show(a, plan, &w, point);
    *go_on = true;
  } else {
    if (w.log && w.log[0])
      w.fault.why[0] = '\0'; /* the compiler's own words follow whole */
    options_fault("run", 1, &w.fault);
    if (w.log && w.log[0])
      fprintf(stderr, "%s\n", w.log);
  }
  free(w.log);
  if (w.has_result)
    result_done(&w.result);
  return code;
}

static int list(void) {
  catalog *c = catalog_new();
  for (int i = 0; i < catalog_count(c); i++)
    printf("%-24s %s\n", catalog_at(c, i)->id,
           catalog_at(c, i)->idea[0] ? catalog_at(c, i)->idea[0] : "");
  fputs(catalog_complaints(c), stderr);
  catalog_free(c);
  return 0;
}

int run_main(int argc, char **argv) {
  struct run_args a;
  int code = run_args_read(argc, argv, &a);
  if (code != 0)
    return code;
  if (a.help)
    return fputs(help, stdout) < 0;
  if (a.list)
    return list();
  struct run_plan *plan = alloc_zero(1, sizeof *plan);
  struct err err;
  if (!run_args_plan(&a, plan, &err))
    code = options_fail("run", 2, err.text);
  else {
    session_signals();
    client *c = client_new(a.worker);
    bool go_on = true;
    for (int i = 0; i < plan->npoints && go_on && !session_stopped(); i++)
      if (run_point(c, &a, plan, i, &go_on) != 0)
        code = 1;
    client_free(c);
  }
  run_args_plan_done(plan);
  free(plan);
  return code;
}
