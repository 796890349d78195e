#include "bench/cuda_shipped.h"

#include "base/embed.h"
#include "base/json.h"
#include "bench/cuda_build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_FILE "assets/ptx_code.json"

static bool is(const cJSON *row, const char *key, const char *text) {
  const char *s = json_str(row, key);
  return s && strcmp(s, text) == 0;
}

static void read_widths(const cJSON *row, const char *key, int to[XRAY_WIDTHS]) {
  const cJSON *list = json_get(row, key);
  for (int w = 0; w < XRAY_WIDTHS; w++) {
    const cJSON *n = cJSON_GetArrayItem(list, w);
    to[w] = n ? n->valueint : 0;
  }
}

static void read_row(const cJSON *row, struct cuda_shipped *out) {
  out->arch = (int)json_num(row, "arch", 0);
  out->registers = (int)json_num(row, "registers", -1);
  out->shared_bytes = (int)json_num(row, "shared_bytes", -1);
  out->stack_bytes = (int)json_num(row, "stack_bytes", -1);
  out->spill_bytes = (int)json_num(row, "spill_bytes", -1);
  read_widths(row, "lds", out->sass.lds);
  read_widths(row, "sts", out->sass.sts);
  read_widths(row, "ldg", out->sass.ldg);
  read_widths(row, "stg", out->sass.stg);
  out->sass.ffma = (int)json_num(row, "ffma", 0);
}

/* The machine code's row, if it is of this very source. */
static void find_code(const struct kernel *k, const char *file, const char *entry, int arch,
                      struct cuda_shipped *out) {
  const struct embed_file *e = embed_find(CODE_FILE);
  json_doc *doc = e ? json_parse(e->data, e->n, CODE_FILE, 0, NULL) : NULL;
  const cJSON *root = doc ? json_root(doc) : NULL, *row;
  cJSON_ArrayForEach(row, json_get(root, "code")) {
    if (!is(row, "file", file) || !is(row, "entry", entry) || !is(row, "sha256", k->sha256) ||
        (int)json_num(row, "arch", 0) != arch)
      continue;
    const char *nvrtc = json_str(root, "nvrtc");
    snprintf(out->compiler, sizeof out->compiler, "NVRTC %s", nvrtc ? nvrtc : "");
    read_row(row, out);
    break;
  }
  if (doc)
    json_free(doc);
}

bool cuda_shipped_find(const struct kernel *k, const struct kernel_size *size, const char *entry,
                       int arch, struct cuda_shipped *out) {
  *out = (struct cuda_shipped){
      .registers = -1, .shared_bytes = -1, .stack_bytes = -1, .spill_bytes = -1};
  if (!k->builtin)
    return false;
  char *path = cuda_build_ptx_name(k, size);
  const struct embed_file *e = embed_find(path);
  if (e) {
    out->ptx = e->data;
    out->size = e->n;
    find_code(k, strrchr(path, '/') + 1, entry, arch, out);
  }
  free(path);
  return e != NULL;
}
