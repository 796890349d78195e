#include "base/json.h"

#include "base/alloc.h"
#include "base/paths.h"
#include "base/str.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  max_depth = 64,
  max_number = 60, /* libcjson cuts numbers at 63 characters without a word */
  default_bytes = 8 << 20
};

struct placed {
  const cJSON *node;
  int line;
};

struct json_doc {
  cJSON *root;
  char *name;
  struct placed *map; /* sorted by address */
  size_t n;
};

/* ---- the strict scan before libcjson, which accepts more than JSON */

struct scan {
  const char *s, *name;
  size_t n, i;
  int line, depth;
  struct err *err;
  int *lines; /* of every value, in pre-order */
  size_t count, cap;
};

static bool bad(struct scan *sc, const char *what) {
  return err_set(sc->err, "%s:%d: %s", sc->name, sc->line, what);
}

static int peek(const struct scan *sc) { return sc->i < sc->n ? (unsigned char)sc->s[sc->i] : -1; }

static bool take(struct scan *sc, char c) {
  if (peek(sc) != c)
    return false;
  sc->i++;
  return true;
}

static void skip_space(struct scan *sc) {
  for (int c; (c = peek(sc)) == ' ' || c == '\t' || c == '\r' || c == '\n'; sc->i++)
    sc->line += c == '\n';
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static int hex4(struct scan *sc) {
  int value = 0;
  for (int k = 0; k < 4; k++, sc->i++) {
    int c = peek(sc);
    int digit = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    value = value * 16 + digit;
  }
  return value;
}

static void add_code_point(struct str *out, unsigned cp) {
  if (cp < 0x80)
    str_addc(out, (char)cp);
  else if (cp < 0x800) {
    str_addc(out, (char)(0xC0 | cp >> 6));
    str_addc(out, (char)(0x80 | (cp & 63)));
  } else {
    if (cp < 0x10000)
      str_addc(out, (char)(0xE0 | cp >> 12));
    else {
      str_addc(out, (char)(0xF0 | cp >> 18));
      str_addc(out, (char)(0x80 | (cp >> 12 & 63)));
    }
    str_addc(out, (char)(0x80 | (cp >> 6 & 63)));
    str_addc(out, (char)(0x80 | (cp & 63)));
  }
}

/* Behind "\u". */
static bool scan_unicode(struct scan *sc, struct str *out) {
  int cp = hex4(sc);
  if (cp < 0)
    return bad(sc, "\\u needs four hexadecimal digits.");
  if (cp == 0)
    return bad(sc, "\\u0000 is not allowed in a string; remove it.");
  if (cp >= 0xDC00 && cp <= 0xDFFF)
    return bad(sc, "the second half of a surrogate pair stands alone.");
  if (cp >= 0xD800 && cp <= 0xDBFF) {
    int low = take(sc, '\\') && take(sc, 'u') ? hex4(sc) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
      return bad(sc, "the first half of a surrogate pair stands alone.");
    cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
  }
  if (out)
    add_code_point(out, (unsigned)cp);
  return true;
}

static bool scan_escape(struct scan *sc, struct str *out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  int c = peek(sc);
  const char *at = c > 0 ? strchr(from, c) : NULL;
  if (c != 'u' && !at)
    return bad(sc, "a backslash is followed by a character that cannot be escaped.");
  sc->i++;
  if (c == 'u')
    return scan_unicode(sc, out);
  if (out)
    str_addc(out, to[at - from]);
  return true;
}

/* At a quotation mark. out (may be NULL) gets the text without escapes. */
static bool scan_string(struct scan *sc, struct str *out) {
  if (!take(sc, '"'))
    return bad(sc, "a string in quotation marks is needed here.");
  while (!take(sc, '"')) {
    int c = peek(sc);
    if (c < 0)
      return bad(sc, "the text ends inside a string.");
    if (c < 0x20)
      return bad(sc, "a line break or control character stands inside a string; write \\n.");
    sc->i++;
    if (c == '\\') {
      if (!scan_escape(sc, out))
        return false;
    } else if (out)
      str_addc(out, (char)c);
  }
  return true;
}

static bool scan_digits(struct scan *sc) {
  if (!is_digit(peek(sc)))
    return bad(sc, "a digit is missing in a number.");
  while (is_digit(peek(sc)))
    sc->i++;
  return true;
}

static bool scan_number(struct scan *sc) {
  size_t start = sc->i;
  take(sc, '-');
  if (take(sc, '0')) {
    if (is_digit(peek(sc)))
      return bad(sc, "a number does not begin with 0.");
  } else if (!scan_digits(sc))
    return false;
  if (take(sc, '.') && !scan_digits(sc))
    return false;
  if (take(sc, 'e') || take(sc, 'E')) {
    if (!take(sc, '-'))
      take(sc, '+');
    if (!scan_digits(sc))
      return false;
  }
  if (sc->i - start > max_number)
    return bad(sc, "a number has more than 60 characters.");
  return true;
}

static bool scan_word(struct scan *sc, const char *word) {
  size_t n = strlen(word);
  if (sc->n - sc->i < n || memcmp(sc->s + sc->i, word, n) != 0)
    return bad(sc, "this is no JSON value (true, false, null, a number or a string).");
  sc->i += n;
  return true;
}

struct key {
  char *text;
  size_t n;
  int line;
};

struct keys {
  struct key *v;
  size_t n, cap;
};

static int key_order(const void *a, const void *b) {
  const struct key *x = a, *y = b;
  size_t n = x->n < y->n ? x->n : y->n;
  int order = memcmp(x->text, y->text, n);
  if (order)
    return order;
  if (x->n != y->n)
    return x->n < y->n ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

static bool keys_differ(struct scan *sc, struct keys *keys) {
  if (keys->n > 1)
    qsort(keys->v, keys->n, sizeof *keys->v, key_order);
  for (size_t i = 1; i < keys->n; i++) {
    const struct key *a = &keys->v[i - 1], *b = &keys->v[i];
    if (a->n != b->n || memcmp(a->text, b->text, a->n) != 0)
      continue;
    char *text = utf8_clean(b->text, b->n < 80 ? b->n : 80);
    err_set(sc->err, "%s:%d: the key \"%s\" stands twice in one object (first in line %d).",
            sc->name, b->line, text, a->line);
    free(text);
    return false;
  }
  return true;
}

static void keys_free(struct keys *keys) {
  for (size_t i = 0; i < keys->n; i++)
    free(keys->v[i].text);
  free(keys->v);
}

static bool scan_key(struct scan *sc, struct keys *keys) {
  struct str text = {0};
  int line = sc->line;
  bool ok = scan_string(sc, &text);
  if (keys->n == keys->cap) {
    keys->cap = keys->cap ? keys->cap * 2 : 8;
    keys->v = alloc_grow(keys->v, keys->cap, sizeof *keys->v);
  }
  size_t n = text.len;
  keys->v[keys->n++] = (struct key){str_take(&text), n, line};
  skip_space(sc);
  return ok && (take(sc, ':') || bad(sc, "a colon is needed behind a key."));
}

static bool scan_value(struct scan *sc);

/* The members or elements behind the opening bracket. */
static bool scan_items(struct scan *sc, char close, struct keys *keys) {
  skip_space(sc);
  if (take(sc, close))
    return true;
  for (;;) {
    skip_space(sc);
    if (keys && !scan_key(sc, keys))
      return false;
    if (!scan_value(sc))
      return false;
    skip_space(sc);
    if (take(sc, close))
      return true;
    if (!take(sc, ','))
      return bad(sc, peek(sc) < 0 ? "the text ends before a bracket is closed."
                                  : "a comma or a closing bracket is needed here.");
  }
}

static bool scan_container(struct scan *sc) {
  if (sc->depth == max_depth)
    return bad(sc, "brackets are nested more than 64 deep.");
  sc->depth++;
  bool ok;
  if (take(sc, '[')) {
    ok = scan_items(sc, ']', NULL);
  } else {
    struct keys keys = {0};
    sc->i++;
    ok = scan_items(sc, '}', &keys) && keys_differ(sc, &keys);
    keys_free(&keys);
  }
  sc->depth--;
  return ok;
}

static bool scan_value(struct scan *sc) {
  skip_space(sc);
  if (sc->count == sc->cap) {
    sc->cap = sc->cap ? sc->cap * 2 : 64;
    sc->lines = alloc_grow(sc->lines, sc->cap, sizeof *sc->lines);
  }
  sc->lines[sc->count++] = sc->line;
  int c = peek(sc);
  switch (c) {
  case -1:
    return bad(sc, "the text ends where a value is needed.");
  case '{':
  case '[':
    return scan_container(sc);
  case '"':
    return scan_string(sc, NULL);
  case 't':
    return scan_word(sc, "true");
  case 'f':
    return scan_word(sc, "false");
  case 'n':
    return scan_word(sc, "null");
  default:
    if (c == '-' || is_digit(c))
      return scan_number(sc);
    return bad(sc, "a value is needed here; this character begins none.");
  }
}

static bool scan_text(struct scan *sc, size_t max_bytes) {
  if (sc->n > max_bytes)
    return err_set(sc->err, "%s:1: the text is larger than %zu bytes.", sc->name, max_bytes);
  size_t at;
  if (!utf8_valid(sc->s, sc->n, &at)) {
    for (size_t i = 0; i < at; i++)
      sc->line += sc->s[i] == '\n';
    return bad(sc, "the text is not valid UTF-8; save it as UTF-8.");
  }
  if (sc->n >= 3 && memcmp(sc->s, "\xEF\xBB\xBF", 3) == 0)
    sc->i = 3;
  if (!scan_value(sc))
    return false;
  skip_space(sc);
  return sc->i == sc->n || bad(sc, "something follows the end of the JSON text; remove it.");
}

/* ---- documents */

/* The node behind `node` in pre-order; *up is the stack of its parents. */
static const cJSON *next_node(const cJSON *node, const cJSON **up, int *depth) {
  if (node->child) {
    up[(*depth)++] = node;
    return node->child;
  }
  while (!node->next) {
    if (*depth == 0)
      return NULL;
    node = up[--*depth];
  }
  return *depth ? node->next : NULL;
}

static int by_address(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)((const struct placed *)a)->node;
  uintptr_t y = (uintptr_t)((const struct placed *)b)->node;
  return (x > y) - (x < y);
}

/* Joins the nodes with the lines of the scan; both are in the order of the text. */
static bool place_nodes(json_doc *doc, const struct scan *sc) {
  const cJSON *up[max_depth + 1];
  int depth = 0;
  doc->map = alloc_zero(sc->count, sizeof *doc->map);
  for (const cJSON *node = doc->root; node; node = next_node(node, up, &depth)) {
    if (doc->n == sc->count)
      return err_set(sc->err, "%s:1: the text could not be read.", sc->name);
    int line = sc->lines[doc->n];
    doc->map[doc->n++] = (struct placed){node, line};
    if (cJSON_IsNumber(node) && !isfinite(node->valuedouble))
      return err_set(sc->err, "%s:%d: a number is too large.", sc->name, line);
  }
  qsort(doc->map, doc->n, sizeof *doc->map, by_address);
  return true;
}

json_doc *json_parse(const char *text, size_t n, const char *name, size_t max_bytes,
                     struct err *err) {
  json_doc *doc = alloc_zero(1, sizeof *doc);
  doc->name = utf8_clean(name, strlen(name));
  struct scan sc = {.s = text, .n = n, .name = doc->name, .line = 1, .err = err};
  bool ok = scan_text(&sc, max_bytes ? max_bytes : default_bytes);
  if (ok) {
    doc->root = cJSON_ParseWithLength(text, n);
    ok = doc->root ? place_nodes(doc, &sc) : bad(&sc, "the text could not be read.");
  }
  free(sc.lines);
  if (ok)
    return doc;
  json_free(doc);
  return NULL;
}

json_doc *json_load(const char *path, size_t max_bytes, struct err *err) {
  size_t n;
  char *text = paths_read(path, max_bytes ? max_bytes : default_bytes, &n, err);
  if (!text)
    return NULL;
  json_doc *doc = json_parse(text, n, path, max_bytes, err);
  free(text);
  return doc;
}

void json_free(json_doc *doc) {
  if (!doc)
    return;
  cJSON_Delete(doc->root);
  free(doc->name);
  free(doc->map);
  free(doc);
}

static void clean_text(char **s) {
  if (!*s)
    return;
  char *clean = utf8_clean(*s, strlen(*s));
  cJSON_free(*s);
  *s = clean;
}

static void clean_node(cJSON *node) {
  for (; node; node = node->next) {
    clean_text(&node->string);
    clean_text(&node->valuestring);
    clean_node(node->child); /* no deeper than max_depth */
  }
}

void json_clean(json_doc *doc) { clean_node(doc->root); }

const cJSON *json_root(const json_doc *doc) { return doc->root; }
const char *json_name(const json_doc *doc) { return doc->name; }

int json_line(const json_doc *doc, const cJSON *node) {
  struct placed key = {node, 0};
  const struct placed *at = bsearch(&key, doc->map, doc->n, sizeof key, by_address);
  return at ? at->line : 1;
}

bool json_fail(const json_doc *doc, const cJSON *node, struct err *err, const char *fmt, ...) {
  char *text = NULL;
  va_list ap;
  va_start(ap, fmt);
  int n = vasprintf(&text, fmt, ap);
  va_end(ap);
  err_set(err, "%s:%d: %s", doc->name, json_line(doc, node), n < 0 ? fmt : text);
  if (n >= 0)
    free(text);
  return false;
}

/* ---- members */

const cJSON *json_get(const cJSON *obj, const char *key) {
  return cJSON_IsObject(obj) ? cJSON_GetObjectItemCaseSensitive(obj, key) : NULL;
}

const char *json_str(const cJSON *obj, const char *key) {
  const cJSON *item = json_get(obj, key);
  return cJSON_IsString(item) ? item->valuestring : NULL;
}

double json_num(const cJSON *obj, const char *key, double fallback) {
  const cJSON *item = json_get(obj, key);
  return cJSON_IsNumber(item) ? item->valuedouble : fallback;
}

bool json_bool(const cJSON *obj, const char *key, bool fallback) {
  const cJSON *item = json_get(obj, key);
  return cJSON_IsBool(item) ? cJSON_IsTrue(item) : fallback;
}

void json_put_num(cJSON *obj, const char *key, double value) {
  if (isfinite(value))
    cJSON_AddNumberToObject(obj, key, value);
}

/* ---- printing */

static void print_string(struct str *out, const char *s) {
  static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
  str_addc(out, '"');
  for (size_t len; *s; s += len) {
    const char *at = strchr(from, *s);
    int cp = utf8_decode(s, strnlen(s, 4), &len);
    if (at) {
      str_addc(out, '\\');
      str_addc(out, to[at - from]);
    } else if (cp < 0)
      str_add(out, "\xEF\xBF\xBD"); /* what is written can always be read again */
    else if (cp < 0x20 || cp == 0x7F)
      str_addf(out, "\\u%04x", (unsigned)cp);
    else
      str_addn(out, s, len);
  }
  str_addc(out, '"');
}

static void print_node(struct str *out, const cJSON *node) {
  if (cJSON_IsObject(node) || cJSON_IsArray(node)) {
    bool object = cJSON_IsObject(node);
    str_addc(out, object ? '{' : '[');
    for (const cJSON *child = node->child; child; child = child->next) {
      if (object) {
        print_string(out, child->string ? child->string : "");
        str_addc(out, ':');
      }
      print_node(out, child);
      if (child->next)
        str_addc(out, ',');
    }
    str_addc(out, object ? '}' : ']');
  } else if (cJSON_IsString(node) && node->valuestring)
    print_string(out, node->valuestring);
  else if (cJSON_IsRaw(node) && node->valuestring)
    str_add(out, node->valuestring);
  else if (cJSON_IsNumber(node) && isfinite(node->valuedouble))
    str_add_num(out, node->valuedouble);
  else
    str_add(out, cJSON_IsTrue(node) ? "true" : cJSON_IsFalse(node) ? "false" : "null");
}

char *json_print(const cJSON *node) {
  struct str out = {0};
  print_node(&out, node);
  return str_take(&out);
}
