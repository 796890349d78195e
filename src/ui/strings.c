#include "ui/strings.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/log.h"
#include "base/paths.h"
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  const char *id;
  const char *in[LANGS];
};

static struct {
  bool loaded;
  json_doc *doc; /* never freed: the texts live as long as the program */
  struct entry *entries;
  size_t n;
} table;

static int by_id(const void *a, const void *b) {
  return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

static void load(void) {
  struct err err;
  size_t n;
  table.loaded = true;
  char *text = paths_asset("assets/strings.json", &n, &err);
  if (text)
    table.doc = json_parse(text, n, "assets/strings.json", 0, &err);
  free(text);
  if (!table.doc) {
    log_line("%s", err.text);
    return;
  }
  const cJSON *root = json_root(table.doc), *item;
  table.entries = alloc_zero((size_t)cJSON_GetArraySize(root), sizeof *table.entries);
  cJSON_ArrayForEach(item, root) {
    const char *en = json_str(item, "en"), *zh = json_str(item, "zh");
    if (item->string && en && zh)
      table.entries[table.n++] = (struct entry){item->string, {en, zh}};
  }
  qsort(table.entries, table.n, sizeof *table.entries, by_id);
}

const char *strings_get(enum lang lang, const char *id) {
  if (!table.loaded)
    load();
  struct entry key = {.id = id};
  const struct entry *e = table.n ? bsearch(&key, table.entries, table.n, sizeof key, by_id) : NULL;
  return e ? e->in[lang] : id;
}

/* The first of the three variables that is set and not empty decides, as for setlocale. */
static const char *locale_name(void) {
  static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
  for (int i = 0; i < 3; i++) {
    const char *v = getenv(names[i]);
    if (v && *v)
      return v;
  }
  return "";
}

enum lang strings_lang(const char *option) {
  if (option && strcmp(option, "en") == 0)
    return LANG_EN;
  if (option && strcmp(option, "zh") == 0)
    return LANG_ZH;
  bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  return utf8 && strncmp(locale_name(), "zh", 2) == 0 ? LANG_ZH : LANG_EN;
}
