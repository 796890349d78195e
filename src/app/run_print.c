#include "app/run_print.h"

#include "base/str.h"
#include "base/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void label(FILE *f, const char *name) { fprintf(f, "%-11s ", name); }

/* Prints a quantity; the text of units_format is freed. */
static void quantity(FILE *f, double v, const char *unit) {
  char *text = units_format(v, unit, 3);
  fputs(text, f);
  free(text);
}

static void print_device(FILE *f, const struct device_info *d) {
  label(f, "on");
  fprintf(f, "%s (%s", d->name[0] ? d->name : d->id, d->id);
  if (d->cc[0])
    fprintf(f, ", cc %s", d->cc);
  if (d->driver[0])
    fprintf(f, ", driver %s", d->driver);
  if (d->threads > 0)
    fprintf(f, ", %d thread%s", d->threads, d->threads == 1 ? "" : "s");
  if (d->isa[0])
    fprintf(f, ", %s", d->isa);
  if (d->compiler[0])
    fprintf(f, ", %s", d->compiler);
  fputs(")\n", f);
}

static void print_built(FILE *f, const struct device_built *b) {
  if (!b || !(b->compile_ms > 0))
    return;
  label(f, "compile");
  quantity(f, b->compile_ms / 1e3, "s");
  if (b->cached)
    fputs(" (from the cache)", f);
  if (b->registers >= 0)
    fprintf(f, ", %d registers a thread", b->registers);
  if (b->shared_bytes > 0)
    fprintf(f, ", %d B shared", b->shared_bytes);
  if (b->spill_bytes > 0)
    fprintf(f, ", %d B spilled", b->spill_bytes);
  fputc('\n', f);
}

static void print_verify(FILE *f, const struct result_verify *v) {
  label(f, "verify");
  fputs(v->ok ? "right" : "WRONG", f);
  if (v->note[0])
    fprintf(f, ": %s", v->note);
  if (!isnan(v->max_error))
    fprintf(f, "; error %.2g, bound %.2g", v->max_error, v->bound);
  if (v->checked > 0) {
    char *n = units_exact(v->checked);
    fprintf(f, "; %s elements checked", n);
    free(n);
  }
  fputc('\n', f);
}

static void print_time(FILE *f, const struct result *r) {
  if (isnan(r->median_ms))
    return;
  label(f, "time");
  quantity(f, r->median_ms / 1e3, "s");
  fputs(" median, ", f);
  quantity(f, r->p10_ms / 1e3, "s");
  fputs(" p10, ", f);
  quantity(f, r->p90_ms / 1e3, "s");
  fprintf(f, " p90; %d sample%s", r->nsamples, r->nsamples == 1 ? "" : "s");
  if (r->launches_per_sample > 1)
    fprintf(f, " of %d launches", r->launches_per_sample);
  fputc('\n', f);
  if (!isnan(r->overhead_ms) && r->median_ms < 0.05) {
    label(f, "");
    quantity(f, r->overhead_ms / 1e3, "s");
    fputs(" for an empty launch\n", f);
  }
}

static void print_speed(FILE *f, const struct result *r) {
  if (!isnan(r->gflops) && r->gflops > 0) {
    label(f, "throughput");
    quantity(f, r->gflops * 1e9, "FLOP/s");
    fputc('\n', f);
  }
  if (!isnan(r->gbs)) {
    label(f, "bandwidth");
    quantity(f, r->gbs * 1e9, "B/s");
    fputs(" of compulsory traffic\n", f);
  }
  if (r->reference.name[0]) {
    label(f, "reference");
    fprintf(f, "%s %s: ", r->reference.name, r->reference.version);
    quantity(f, r->reference.median_ms / 1e3, "s");
    if (!isnan(r->reference.gflops)) {
      fputs(", ", f);
      quantity(f, r->reference.gflops * 1e9, "FLOP/s");
    }
    if (!isnan(r->reference.ratio))
      fprintf(f, "; this is %.3g %% of it", r->reference.ratio * 100);
    fputc('\n', f);
  }
  if (r->roof.name[0]) {
    label(f, "roof");
    fprintf(f, "%s: ", r->roof.name);
    quantity(f, r->roof.value, r->roof.unit);
    if (!isnan(r->roof.share))
      fprintf(f, "; this is %.3g %% of it", r->roof.share * 100);
    fputc('\n', f);
  }
}

void run_print_result(FILE *f, const struct result *r, const struct device_built *built) {
  label(f, "kernel");
  fprintf(f, "%s  M=%lld N=%lld K=%lld", r->kernel, (long long)r->M, (long long)r->N,
          (long long)r->K);
  for (int i = 0; i < r->nparams; i++)
    fprintf(f, " %s=%g", r->params[i].name, r->params[i].value);
  fputc('\n', f);
  print_device(f, &r->device);
  print_built(f, built);
  print_verify(f, &r->verify);
  print_time(f, r);
  print_speed(f, r);
  label(f, "measured");
  fprintf(f, "%s, mmtutor %s, %s cache, seed %llu", r->date, r->version, r->cache,
          (unsigned long long)r->seed);
  if (!isnan(r->clock_mhz))
    fprintf(f, ", %.0f MHz", r->clock_mhz);
  fputc('\n', f);
  for (int i = 0; i < r->nwarnings; i++) {
    label(f, "note");
    fprintf(f, "%s\n", r->warnings[i]);
  }
  if (!r->verify.ok)
    fputs("A wrong result has no time: correct the kernel, then run it again.\n", f);
}

void run_print_head(FILE *f, const struct kernel *k) {
  fprintf(f, "%8s %8s %8s", "M", "N", "K");
  for (int i = 0; i < k->nparams; i++)
    fprintf(f, " %6s", k->params[i].name);
  fprintf(f, " %-7s %10s %8s %14s %10s %8s\n", "verify", "median", "spread", "throughput",
          "reference", "roof");
}

static void cell(FILE *f, int width, double v, const char *unit) {
  char *text = units_format(v, unit, 3);
  fprintf(f, " %*s", width, text);
  free(text);
}

static void percent(FILE *f, int width, double share) {
  if (isnan(share))
    fprintf(f, " %*s", width, "-");
  else
    fprintf(f, " %*.3g %%", width - 2, share * 100);
}

void run_print_row(FILE *f, const struct result *r) {
  fprintf(f, "%8lld %8lld %8lld", (long long)r->M, (long long)r->N, (long long)r->K);
  for (int i = 0; i < r->nparams; i++)
    fprintf(f, " %6g", r->params[i].value);
  fprintf(f, " %-7s", r->verify.ok ? "right" : "WRONG");
  cell(f, 10, r->median_ms / 1e3, "s");
  percent(f, 8, isnan(r->median_ms) ? NAN : result_spread(r));
  if (isnan(r->gflops) || r->gflops == 0)
    cell(f, 14, r->gbs * 1e9, "B/s");
  else
    cell(f, 14, r->gflops * 1e9, "FLOP/s");
  percent(f, 10, r->reference.name[0] ? r->reference.ratio : NAN);
  percent(f, 8, r->roof.name[0] ? r->roof.share : NAN);
  fputc('\n', f);
}
