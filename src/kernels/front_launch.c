#include "kernels/front_launch.h"

#include "base/alloc.h"
#include <string.h>

/* What an argument may be called; no map may have such a name. */
static const char *const arguments[] = {"A",   "B",   "C",     "M",    "N", "K", "lda",
                                        "ldb", "ldc", "alpha", "beta", "W", NULL};

/* ---- tensor maps */

/* A member that is one of the numbers; `fallback` where it is absent and that is not below 0. */
static bool read_choice(const struct front_reader *r, const cJSON *obj, const char *key,
                        const int list[4], int fallback, int *out) {
  const cJSON *node = json_get(obj, key);
  *out = fallback;
  if (!node && fallback >= 0)
    return true;
  for (int i = 0; i < 4; i++)
    if (cJSON_IsNumber(node) && node->valuedouble == list[i]) {
      *out = list[i];
      return true;
    }
  return json_fail(r->doc, node ? node : obj, r->err,
                   "\"%s\" of a tensor map is %d, %d, %d or %d", key, list[0], list[1], list[2],
                   list[3]);
}

static bool read_box(const struct front_reader *r, const cJSON *obj, struct kernel_map *map) {
  const cJSON *list = json_get(obj, "box");
  int i = 0;
  if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 2)
    return json_fail(r->doc, list ? list : obj, r->err,
                     "\"box\" must be an array of two expressions, the innermost dimension first");
  for (const cJSON *m = list->child; m; m = m->next, i++)
    if (!front_read_expr(r, m, "box", &map->box[i]))
      return false;
  return true;
}

static bool read_map(const struct front_reader *r, const cJSON *node, struct kernel_map *map) {
  static const char *const keys[] = {"of", "box", "swizzle", "l2", NULL};
  static const char *const matrices[] = {"A", "B", "C", NULL};
  static const int swizzles[] = {0, 32, 64, 128}, promotions[] = {0, 64, 128, 256};
  double ignored;
  struct kernel_size size = kernel_size_default(r->k, 1, 1, 1);
  struct kernel_scope scope = {r->k, &size, 1, 1};
  if (!front_read_is_name(node->string, sizeof map->name - 1, "") ||
      front_read_in_list(node->string, arguments) || kernel_lookup(&scope, node->string, &ignored))
    return json_fail(r->doc, node, r->err, "\"%s\" cannot be a tensor map's name", node->string);
  strcpy(map->name, node->string);
  if (!front_read_only(r, node, "a tensor map", keys))
    return false;
  const char *of = front_read_string(r, node, "of");
  if (!of)
    return false;
  if (!front_read_in_list(of, matrices))
    return json_fail(r->doc, json_get(node, "of"), r->err, "a tensor map is of A, B or C");
  map->of = of[0] - 'A';
  return read_box(r, node, map) &&
         read_choice(r, node, "swizzle", swizzles, -1, &map->swizzle) &&
         read_choice(r, node, "l2", promotions, 128, &map->l2);
}

static bool read_maps(const struct front_reader *r, const cJSON *root) {
  struct kernel *k = r->k;
  const cJSON *maps = json_get(root, "maps");
  int n = maps ? cJSON_GetArraySize(maps) : 0;
  if (!maps)
    return true;
  if (!cJSON_IsObject(maps))
    return json_fail(r->doc, maps, r->err, "\"maps\" must be a JSON object");
  if (n > KERNEL_MAPS)
    return json_fail(r->doc, maps, r->err, "more than %d tensor maps", KERNEL_MAPS);
  k->maps = alloc_zero((size_t)n + 1, sizeof *k->maps);
  for (const cJSON *m = maps->child; m; m = m->next) {
    if (kernel_map_find(k, m->string))
      return json_fail(r->doc, m, r->err, "there are two tensor maps \"%s\"", m->string);
    k->nmaps++;
    if (!read_map(r, m, &k->maps[k->nmaps - 1]))
      return false;
  }
  return true;
}

/* ---- launches */

static bool read_three(const struct front_reader *r, const cJSON *obj, const char *key,
                       char *out[3]) {
  const cJSON *list = json_get(obj, key);
  if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 3)
    return json_fail(r->doc, list ? list : obj, r->err,
                     "\"%s\" must be an array of three expressions", key);
  int i = 0;
  for (const cJSON *m = list->child; m; m = m->next, i++)
    if (!front_read_expr(r, m, key, &out[i]))
      return false;
  return true;
}

static bool read_args(const struct front_reader *r, const cJSON *obj, struct kernel_launch *l) {
  const cJSON *list = json_get(obj, "args");
  if (!cJSON_IsArray(list))
    return json_fail(r->doc, list ? list : obj, r->err, "\"args\" must be an array");
  l->args = alloc_zero((size_t)cJSON_GetArraySize(list) + 1, sizeof *l->args);
  for (const cJSON *m = list->child; m; m = m->next) {
    if (cJSON_IsNumber(m))
      l->args[l->nargs++] = alloc_printf("%.17g", m->valuedouble);
    else if (cJSON_IsString(m) && (front_read_in_list(m->valuestring, arguments) ||
                                   kernel_map_find(r->k, m->valuestring)))
      l->args[l->nargs++] = alloc_str(m->valuestring);
    else
      return json_fail(r->doc, m, r->err,
                       "an argument is A, B, C, M, N, K, lda, ldb, ldc, alpha, beta, W, a tensor "
                       "map's name or a number");
  }
  return true;
}

static bool read_cluster(const struct front_reader *r, const cJSON *obj, struct kernel_launch *l) {
  const cJSON *list = json_get(obj, "cluster");
  for (int i = 0; i < 3; i++) {
    const cJSON *m = list ? cJSON_GetArrayItem(list, i) : NULL;
    if (list &&
        (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 3 || !front_read_whole(m, 1, 16)))
      return json_fail(r->doc, list, r->err, "\"cluster\" must be three whole numbers, 1 to 16");
    l->cluster[i] = m ? (int)m->valuedouble : 1;
  }
  return true;
}

static bool read_launch(const struct front_reader *r, const cJSON *obj, struct kernel_launch *l) {
  static const char *const keys[] = {"entry", "grid", "block", "cluster", "smem", "args", NULL};
  if (!front_read_only(r, obj, "a launch", keys))
    return false;
  const char *entry = front_read_string(r, obj, "entry");
  if (!entry)
    return false;
  if (!front_read_is_name(entry, 128, ""))
    return json_fail(r->doc, json_get(obj, "entry"), r->err, "\"entry\" must be a C name");
  l->entry = alloc_str(entry);
  if (!read_three(r, obj, "grid", l->grid) || !read_three(r, obj, "block", l->block) ||
      !read_cluster(r, obj, l) || !read_args(r, obj, l))
    return false;
  const cJSON *smem = json_get(obj, "smem");
  if (smem)
    return front_read_expr(r, smem, "smem", &l->smem);
  l->smem = alloc_str("0");
  return true;
}

static bool read_launches(const struct front_reader *r, const cJSON *root) {
  struct kernel *k = r->k;
  const cJSON *list = json_get(root, "launches");
  int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
  if (n < 1 || n > 16)
    return json_fail(r->doc, list ? list : root, r->err,
                     "\"launches\" must be an array of 1 to 16 launches");
  k->launches = alloc_zero((size_t)n, sizeof *k->launches);
  for (const cJSON *m = list->child; m; m = m->next) {
    k->nlaunches++;
    if (!read_launch(r, m, &k->launches[k->nlaunches - 1]))
      return false;
  }
  return true;
}

bool front_launch_read(const struct front_reader *r, const cJSON *root) {
  return r->k->target == KERNEL_CPU || (read_maps(r, root) && read_launches(r, root));
}
