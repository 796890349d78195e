#include "lesson/misconception.h"

#include "base/paths.h"
#include <stdlib.h>

static struct {
  bool tried;
  json_doc *doc;
  struct err err;
} reg;

static void read_once(void) {
  if (reg.tried)
    return;
  reg.tried = true;
  size_t n;
  char *text = paths_asset("assets/misconceptions.json", &n, &reg.err);
  if (!text)
    return;
  reg.doc = json_parse(text, n, "assets/misconceptions.json", 0, &reg.err);
  free(text);
}

const char *misconception_text(const char *tag, enum lang lang) {
  read_once();
  if (!reg.doc)
    return NULL;
  return json_str(json_get(json_root(reg.doc), tag), lang == LANG_ZH ? "zh" : "en");
}

const char *misconception_complaint(void) {
  read_once();
  return reg.doc ? "" : reg.err.text;
}
