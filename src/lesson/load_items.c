#include "lesson/load_items.h"

#include "base/alloc.h"
#include "base/units.h"
#include "lesson/answer.h"
#include "lesson/misconception.h"
#include "lesson/tolerance.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool load_row(const struct load *ld, const cJSON *row, struct item_draw *d, int i) {
  if (!load_string(ld, row, "label", true, &d->labels[i]))
    return false;
  d->values[i] = i;
  for (const cJSON *v = row->child; v; v = v->next) {
    if (strcmp(v->string, "label") == 0)
      continue;
    if (!load_is_name(v->string) || !cJSON_IsNumber(v))
      return json_fail(ld->doc, v, ld->err,
                       "\"%s\": a drawn row holds \"label\" and numbers under names", v->string);
    expr_vars_set(&d->rows[i], v->string, v->valuedouble);
  }
  return true;
}

/* One member of "draw": a list of numbers, or of rows. */
static bool load_draw_values(const struct load *ld, const cJSON *node, struct item_draw *d) {
  int n = cJSON_IsArray(node) ? cJSON_GetArraySize(node) : 0;
  if (n < 1 || n > LOAD_LIST)
    return json_fail(ld->doc, node, ld->err, "draw \"%s\" must be a list of 1 to %d values",
                     node->string, LOAD_LIST);
  if (!load_is_name(node->string))
    return json_fail(ld->doc, node, ld->err, "\"%s\" cannot be the name of a draw", node->string);
  snprintf(d->name, sizeof d->name, "%s", node->string);
  d->n = n;
  d->values = alloc_zero((size_t)n, sizeof *d->values);
  bool rows = cJSON_IsObject(node->child);
  if (rows) {
    d->labels = alloc_zero((size_t)n, sizeof *d->labels);
    d->rows = alloc_zero((size_t)n, sizeof *d->rows);
  }
  int i = 0;
  for (const cJSON *v = node->child; v; v = v->next, i++) {
    if (rows ? !cJSON_IsObject(v) : !cJSON_IsNumber(v))
      return json_fail(ld->doc, v, ld->err, "draw \"%s\" mixes numbers and rows, or holds neither",
                       node->string);
    if (rows && !load_row(ld, v, d, i))
      return false;
    if (!rows)
      d->values[i] = v->valuedouble;
  }
  return true;
}

static bool load_draw(const struct load *ld, const cJSON *obj, struct item *item) {
  const cJSON *draw = json_get(obj, "draw");
  if (!draw)
    return true;
  int n = cJSON_IsObject(draw) ? cJSON_GetArraySize(draw) : -1;
  if (n < 0 || n > ANSWER_DRAWS)
    return json_fail(ld->doc, draw, ld->err,
                     "\"draw\" must be {name: [values], ...} of at most %d names", ANSWER_DRAWS);
  item->draw = alloc_zero((size_t)n, sizeof *item->draw);
  for (const cJSON *v = draw->child; v; v = v->next)
    if (!load_draw_values(ld, v, &item->draw[item->ndraw++]))
      return false;
  return true;
}

/* Somebody who goes this wrong way must be told something. */
static bool has_say(const struct load *ld, const cJSON *node, const struct text2 *say,
                    const char *tag) {
  if (say->in[LANG_EN] || (tag && misconception_text(tag, LANG_EN)))
    return true;
  return json_fail(ld->doc, node, ld->err,
                   "needs \"say\", or a \"tag\" with text in assets/misconceptions.json");
}

static bool load_mals(const struct load *ld, const cJSON *obj, const char *key, const char *say,
                      struct item_mal **out, int *n) {
  const cJSON *node;
  int count;
  if (!load_array(ld, obj, key, LOAD_LIST, &node, &count))
    return false;
  *out = alloc_zero((size_t)count, sizeof **out);
  for (; node; node = node->next) {
    struct item_mal *m = &(*out)[(*n)++];
    if (!cJSON_IsObject(node))
      return json_fail(ld->doc, node, ld->err, "each of \"%s\" must be {\"key\":...}", key);
    if (!load_expr(ld, node, "key", true, &m->key) ||
        !load_string(ld, node, "tag", false, &m->tag) ||
        !load_text2(ld, node, say, false, &m->say) || !has_say(ld, node, &m->say, m->tag))
      return false;
  }
  return true;
}

static bool load_numeric(const struct load *ld, const cJSON *obj, struct item *item) {
  if (!load_expr(ld, obj, "key", true, &item->key) ||
      !load_string(ld, obj, "tol", false, &item->tol))
    return false;
  const cJSON *unit = json_get(obj, "unit");
  if (unit && !cJSON_IsString(unit))
    return json_fail(ld->doc, unit, ld->err, "\"unit\" must be a text in quotes");
  item->unit = alloc_str(unit ? unit->valuestring : "");
  enum unit_class class;
  if (!units_class(item->unit, &class))
    return json_fail(ld->doc, unit, ld->err,
                     "unknown unit \"%s\"; known are FLOP FLOP/s B B/s FLOP/B s Hz %% and none",
                     item->unit);
  if (!item->tol)
    item->tol = alloc_str("2%");
  struct tolerance tol;
  if (!tolerance_parse(item->tol, &tol))
    return json_fail(ld->doc, json_get(obj, "tol"), ld->err,
                     "\"tol\" must be like \"2%%\", \"abs2\" or \"exact\", not \"%s\"", item->tol);
  return load_mals(ld, obj, "accept", "note", &item->accept, &item->naccept) &&
         load_mals(ld, obj, "mal", "say", &item->mal, &item->nmal);
}

static bool load_options(const struct load *ld, const cJSON *obj, struct item *item) {
  const cJSON *node;
  int count, right = 0;
  if (!load_array(ld, obj, "options", 6, &node, &count))
    return false;
  if (count < 2)
    return json_fail(ld->doc, obj, ld->err, "\"options\" needs 2 to 6 entries");
  item->options = alloc_zero((size_t)count, sizeof *item->options);
  for (; node; node = node->next) {
    struct item_option *o = &item->options[item->noptions++];
    o->right = json_bool(node, "right", false);
    right += o->right;
    if (!load_text2(ld, node, "text", true, &o->text) ||
        !load_string(ld, node, "tag", false, &o->tag) ||
        !load_text2(ld, node, "say", false, &o->say) ||
        (!o->right && !has_say(ld, node, &o->say, o->tag)))
      return false;
  }
  if (right != 1)
    return json_fail(ld->doc, json_get(obj, "options"), ld->err,
                     "%d options are \"right\":true, exactly one must be", right);
  return true;
}

static bool load_order(const struct load *ld, const cJSON *obj, struct item *item) {
  const cJSON *node;
  int count;
  if (!load_array(ld, obj, "steps", 8, &node, &count))
    return false;
  if (count < 2)
    return json_fail(ld->doc, obj, ld->err, "\"steps\" needs 2 to 8 entries in the right order");
  item->order_steps = alloc_zero((size_t)count, sizeof *item->order_steps);
  for (; node; node = node->next)
    if (!load_text2_node(ld, node, "steps", &item->order_steps[item->norder++]))
      return false;
  return true;
}

static bool load_kind(const struct load *ld, const cJSON *obj, struct item *item) {
  static const struct {
    const char *name;
    enum item_kind kind;
    bool (*load)(const struct load *, const cJSON *, struct item *);
  } kinds[] = {
      {"choice", ITEM_CHOICE, load_options}, {"numeric", ITEM_NUMERIC, load_numeric},
      {"order", ITEM_ORDER, load_order},     {"bug", ITEM_BUG, load_options},
      {"read", ITEM_READ, load_options},
  };
  const char *kind = json_str(obj, "kind");
  for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kind, kinds[i].name) == 0) {
      item->kind = kinds[i].kind;
      return kinds[i].load(ld, obj, item);
    }
  const cJSON *at = json_get(obj, "kind");
  if (kind && strcmp(kind, "fill") == 0)
    return json_fail(ld->doc, at, ld->err, "items of kind \"fill\" are not taken yet");
  return json_fail(ld->doc, at ? at : obj, ld->err,
                   "\"kind\" of an item must be choice, numeric, order, bug or read");
}

static bool load_hints(const struct load *ld, const cJSON *obj, struct item *item) {
  const cJSON *node;
  int count;
  if (!load_array(ld, obj, "hints", 3, &node, &count))
    return false;
  for (; node; node = node->next)
    if (!load_text2_node(ld, node, "hints", &item->hints[item->nhints++]))
      return false;
  return true;
}

static bool load_item(const struct load *ld, const cJSON *obj, struct item *item) {
  if (!cJSON_IsObject(obj))
    return json_fail(ld->doc, obj, ld->err, "each of \"items\" must be an object {...}");
  const cJSON *shuffle = json_get(obj, "shuffle");
  if (shuffle && !cJSON_IsBool(shuffle))
    return json_fail(ld->doc, shuffle, ld->err, "\"shuffle\" must be true or false");
  item->shuffle = json_bool(obj, "shuffle", true);
  return load_id(ld, obj, "id", true, &item->id) &&
         load_strings(ld, obj, "tags", &item->tags, &item->ntags) &&
         load_text2(ld, obj, "stem", true, &item->stem) && load_draw(ld, obj, item) &&
         load_kind(ld, obj, item) && load_hints(ld, obj, item) &&
         load_text2(ld, obj, "solution", false, &item->solution) &&
         load_text2(ld, obj, "why", false, &item->why);
}

bool load_items(const struct load *ld, const cJSON *root, struct lesson *l) {
  const cJSON *node;
  int count;
  if (!load_array(ld, root, "items", LOAD_ITEMS, &node, &count))
    return false;
  l->items = alloc_zero((size_t)count, sizeof *l->items);
  for (; node; node = node->next) {
    struct item *item = &l->items[l->nitems++];
    if (!load_item(ld, node, item))
      return false;
    if (lesson_item(l, item->id) != item)
      return json_fail(ld->doc, node, ld->err, "a second item \"%s\"", item->id);
  }
  return true;
}

static void free_draw(struct item_draw *d) {
  for (int i = 0; i < d->n; i++) {
    if (d->labels)
      free(d->labels[i]);
    if (d->rows)
      expr_vars_free(&d->rows[i]);
  }
  free(d->labels);
  free(d->rows);
  free(d->values);
}

static void free_mals(struct item_mal *m, int n) {
  for (int i = 0; i < n; i++) {
    free(m[i].key);
    free(m[i].tag);
    load_text2_free(&m[i].say);
  }
  free(m);
}

void load_items_done(struct item *item) {
  free(item->id);
  load_strings_free(item->tags, item->ntags);
  load_text2_free(&item->stem);
  for (int i = 0; i < item->ndraw; i++)
    free_draw(&item->draw[i]);
  free(item->draw);
  free(item->unit);
  free(item->key);
  free(item->tol);
  free_mals(item->accept, item->naccept);
  free_mals(item->mal, item->nmal);
  for (int i = 0; i < item->noptions; i++) {
    load_text2_free(&item->options[i].text);
    load_text2_free(&item->options[i].say);
    free(item->options[i].tag);
  }
  free(item->options);
  for (int i = 0; i < item->norder; i++)
    load_text2_free(&item->order_steps[i]);
  free(item->order_steps);
  for (int i = 0; i < item->nhints; i++)
    load_text2_free(&item->hints[i]);
  load_text2_free(&item->solution);
  load_text2_free(&item->why);
}
