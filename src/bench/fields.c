#include "bench/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct named {
  const char *name;
  double value;
};

static bool find(const struct named *field, size_t n, const char *name, double *value) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(field[i].name, name) == 0) {
      *value = field[i].value;
      return isfinite(field[i].value);
    }
  return false;
}

struct fields_rates fields_of(const struct result *r) {
  return (struct fields_rates){.gflops = r->gflops,
                               .ms = r->median_ms,
                               .gbs = r->gbs,
                               .ratio = r->reference.name[0] ? r->reference.ratio : NAN,
                               .share = r->roof.name[0] ? r->roof.share : NAN};
}

bool fields_rate(const struct fields_rates *r, const char *name, double *value) {
  const struct named field[] = {{"gflops", r->gflops},
                                {"ms", r->ms},
                                {"gbs", r->gbs},
                                {"ratio", r->ratio},
                                {"share", r->share}};
  return find(field, sizeof field / sizeof *field, name, value);
}

struct fields_counts fields_counts_of(const struct xray_result *r) {
  return (struct fields_counts){.counts = r->counts,
                                .flop = r->flop_executed,
                                .occupancy = r->occupancy,
                                .registers = r->registers >= 0 ? (double)r->registers : NAN};
}

bool fields_count(const struct fields_counts *c, const char *name, double *value) {
  const struct named more[] = {
      {"flop", c->flop}, {"occupancy", c->occupancy}, {"registers", c->registers}};
  for (int i = 0; xray_result_count_name(i); i++)
    if (strcmp(xray_result_count_name(i), name) == 0) {
      *value = xray_result_count(&c->counts, i);
      return true;
    }
  return find(more, sizeof more / sizeof *more, name, value);
}

bool fields_device(const struct device_info *d, const char *name, double *value) {
  if (!d)
    return false;
  const struct named field[] = {{"sms", d->sms},
                                {"clock_hz", d->clock_hz},
                                {"smem_sm", d->smem_sm},
                                {"smem_block", d->smem_block},
                                {"l2", d->l2_bytes},
                                {"regs_sm", d->regs_sm},
                                {"threads_sm", d->threads_sm},
                                {"memory", d->memory_bytes},
                                {"peak_fp32", d->peak_fp32},
                                {"peak_dram", d->peak_dram}};
  return find(field, sizeof field / sizeof *field, name, value);
}

bool fields_roof(const struct roofs *r, const char *name, double *value) {
  const struct roof *roof = r ? roofs_find(r, name) : NULL;
  if (!roof || !isfinite(roof->value))
    return false;
  *value = roof->value;
  return true;
}

bool fields_run_name(const char *name, char experiment[FIELDS_EXPERIMENT], char as[FIELDS_AS],
                     const char **field) {
  const char *a = strchr(name, '.'), *b = a ? strchr(a + 1, '.') : NULL;
  if (!b || a - name >= FIELDS_EXPERIMENT || b - a - 1 >= FIELDS_AS)
    return false;
  snprintf(experiment, FIELDS_EXPERIMENT, "%.*s", (int)(a - name), name);
  snprintf(as, FIELDS_AS, "%.*s", (int)(b - a - 1), a + 1);
  *field = b + 1;
  return true;
}
