#include "bench/gpus.h"
#include "base/json.h"
#include "base/log.h"
#include "base/paths.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What makes another card of the name before it. */
static bool other_card(const char *rest) {
  static const char *const words[] = {"Ti", "SUPER", "Laptop", "D", "NVL", "Max-Q"};
  while (*rest == ' ')
    rest++;
  size_t n = strcspn(rest, " ");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == n && !strncmp(rest, words[i], n))
      return true;
  return false;
}

/* Length of `part` if it stands in `name` as whole words, else 0. */
static size_t match_length(const char *name, const char *part) {
  size_t n = strlen(part);
  for (const char *at = strstr(name, part); n && at; at = strstr(at + 1, part))
    if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]) &&
        !other_card(at + n))
      return n;
  return 0;
}

static size_t row_match(const cJSON *row, const char *name, const char *cc, double sms) {
  const char *row_cc = json_str(row, "cc");
  size_t best = 0;
  const cJSON *part;
  if (!row_cc || strcmp(row_cc, cc) || json_num(row, "sm_count", -1) != sms)
    return 0;
  cJSON_ArrayForEach(part, json_get(row, "match")) {
    size_t n = cJSON_IsString(part) ? match_length(name, part->valuestring) : 0;
    if (n > best)
      best = n;
  }
  return best;
}

static void read_row(const cJSON *row, struct gpus_row *out) {
  const char *name = json_str(row, "name");
  snprintf(out->name, sizeof out->name, "%s", name ? name : "");
  out->fp32 = json_num(row, "fp32_tflops", (double)NAN) * 1e12;
  out->dram = json_num(row, "mem_bw_gbs", (double)NAN) * 1e9;
  out->tf32 = json_num(row, "tf32_tensor_tflops", (double)NAN) * 1e12;
  out->fp16 = json_num(row, "fp16_tensor_fp32acc_tflops", (double)NAN) * 1e12;
  out->bf16 = json_num(row, "bf16_tensor_tflops", (double)NAN) * 1e12;
}

bool gpus_find(const char *name, const char *cc, double sms, struct gpus_row *out) {
  size_t n = 0, best = 0;
  struct err err;
  char *text = paths_asset("assets/gpus.json", &n, &err);
  json_doc *doc = text ? json_parse(text, n, "assets/gpus.json", 0, &err) : NULL;
  const cJSON *row, *rows = doc ? json_get(json_root(doc), "gpus") : NULL;
  if (!doc)
    log_line("%s", err.text);
  cJSON_ArrayForEach(row, rows) {
    size_t m = row_match(row, name, cc, sms);
    if (m > best) {
      best = m;
      read_row(row, out);
    }
  }
  json_free(doc);
  free(text);
  return best > 0;
}
