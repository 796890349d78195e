#include "base/sentences.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
  PLACES = 8,
  LEAST_WORDS = 4, /* bytes of a template's own, or it would match what it does not mean */
  DEEPEST = 4,     /* sentences within sentences */
  PIECES = 24,     /* sentences of one line */
  KEPT = 16        /* answers kept for the next frame */
};

struct span {
  const char *at;
  size_t n;
};

/* The English cut at its places: words[0] place[0] words[1] ... words[places]. */
struct template {
  struct span words[PLACES + 1];
  int place[PLACES]; /* the number in braces */
  bool deep[PLACES]; /* by number: its value is a sentence */
  int places;
  size_t weight; /* bytes of all words */
  const char *zh;
};

struct sentences {
  json_doc *doc; /* the templates point into it */
  struct template *all;
  int n;
  int first[257]; /* where those that begin with a byte begin; with a place: 0 */
};

/* ---- reading */

/* "{3}" or "{3+}" at p: its number, and the bytes it takes in *len; -1 if it is none. */
static int place_at(const char *p, size_t *len, bool *deep) {
  if (p[0] != '{' || p[1] < '0' || p[1] >= '0' + PLACES)
    return -1;
  *deep = p[2] == '+';
  *len = *deep ? 4 : 3;
  return p[*len - 1] == '}' ? p[1] - '0' : -1;
}

static bool cut(struct template *t, const char *en) {
  const char *p = en;
  size_t len;
  bool deep;
  t->words[0].at = p;
  while (*p) {
    int k = place_at(p, &len, &deep);
    if (k < 0) {
      p++;
      continue;
    }
    struct span *before = &t->words[t->places];
    before->n = (size_t)(p - before->at);
    if (deep || t->places == PLACES || (t->places && !before->n))
      return false;
    for (int i = 0; i < t->places; i++)
      if (t->place[i] == k)
        return false;
    t->place[t->places++] = k;
    p += len;
    t->words[t->places].at = p;
  }
  t->words[t->places].n = (size_t)(p - t->words[t->places].at);
  for (int i = 0; i <= t->places; i++)
    t->weight += t->words[i].n;
  return t->weight >= LEAST_WORDS;
}

static bool knows(const struct template *t, int k) {
  for (int i = 0; i < t->places; i++)
    if (t->place[i] == k)
      return true;
  return false;
}

static bool template_make(struct template *t, const char *en, const char *zh) {
  size_t len;
  bool deep;
  memset(t, 0, sizeof *t);
  if (!en || !zh || !*zh || !cut(t, en))
    return false;
  t->zh = zh;
  for (const char *p = zh; *p; p++) {
    int k = place_at(p, &len, &deep);
    if (k >= 0 && !knows(t, k))
      return false;
    if (k >= 0)
      t->deep[k] = deep;
  }
  return true;
}

static int first_byte(const struct template *t) {
  return t->words[0].n ? (unsigned char)t->words[0].at[0] : 0;
}

static int by_first_then_weight(const void *a, const void *b) {
  const struct template *s = a, *t = b;
  int d = first_byte(s) - first_byte(t);
  if (d)
    return d;
  return s->weight > t->weight ? -1 : s->weight < t->weight;
}

sentences *sentences_read(const char *json, size_t n, struct err *err) {
  json_doc *doc = json_parse(json, n, "assets/sentences.json", 0, err);
  if (!doc)
    return NULL;
  const cJSON *root = json_root(doc), *item;
  if (!cJSON_IsArray(root)) {
    json_fail(doc, root, err, "the sentences must be a list [...]");
    json_free(doc);
    return NULL;
  }
  sentences *s = alloc_zero(1, sizeof *s);
  s->doc = doc;
  s->all = alloc_zero((size_t)cJSON_GetArraySize(root), sizeof *s->all);
  cJSON_ArrayForEach(item, root) {
    if (template_make(&s->all[s->n], json_str(item, "en"), json_str(item, "zh")))
      s->n++;
  }
  qsort(s->all, (size_t)s->n, sizeof *s->all, by_first_then_weight);
  for (int b = 0, i = 0; b < 257; b++) {
    while (i < s->n && first_byte(&s->all[i]) < b)
      i++;
    s->first[b] = i;
  }
  return s;
}

int sentences_count(const sentences *s) { return s->n; }

void sentences_free(sentences *s) {
  if (!s)
    return;
  json_free(s->doc);
  free(s->all);
  free(s);
}

/* ---- matching */

static bool begins(struct span text, struct span words) {
  return text.n >= words.n && memcmp(text.at, words.at, words.n) == 0;
}

/* A sentence ends with a full stop before a space and something that begins another. */
static bool ends_at(struct span text, size_t i) {
  if (text.at[i] != '.' || i + 2 >= text.n || text.at[i + 1] != ' ')
    return false;
  char next = text.at[i + 2];
  return (next >= 'A' && next <= 'Z') || next == '"' || next == '`';
}

static bool holds_end(struct span text) {
  for (size_t i = 0; i < text.n; i++)
    if (ends_at(text, i))
      return true;
  return false;
}

/* At either end of a template a value must not take in the sentence before or behind. */
static bool fits_ends(const struct template *t, const struct span value[PLACES]) {
  int first = t->place[0], last = t->place[t->places - 1];
  if (!t->words[0].n && !t->deep[first] && holds_end(value[first]))
    return false;
  return t->words[t->places].n || t->deep[last] || !holds_end(value[last]);
}

/* Where words stand first in text from byte 1 on: a place holds something. NULL: nowhere. */
static const char *find(struct span text, struct span words) {
  if (text.n < 1 + words.n)
    return NULL;
  return memmem(text.at + 1, text.n - 1, words.at, words.n);
}

/* The first place of each words after the one before: if any way fits, this one does. */
static bool match(const struct template *t, struct span text, struct span value[PLACES]) {
  const struct span *last = &t->words[t->places];
  if (text.n < t->weight + (size_t)t->places || !begins(text, t->words[0]) ||
      memcmp(text.at + text.n - last->n, last->at, last->n) != 0)
    return false;
  if (t->places == 0)
    return text.n == t->weight;
  const char *end = text.at + text.n - last->n, *p = text.at + t->words[0].n;
  for (int i = 0; i < t->places; i++) {
    bool rest = i == t->places - 1;
    const char *to = rest ? end : find((struct span){p, (size_t)(end - p)}, t->words[i + 1]);
    if (!to || to <= p)
      return false;
    value[t->place[i]] = (struct span){p, (size_t)(to - p)};
    p = to + t->words[i + 1].n;
  }
  return fits_ends(t, value);
}

static const struct template *look(const sentences *s, struct span text,
                                   struct span value[PLACES]) {
  if (!text.n)
    return NULL;
  unsigned char b = (unsigned char)text.at[0];
  const struct template *best = NULL;
  for (int i = s->first[b]; b && i < s->first[b + 1] && !best; i++)
    if (match(&s->all[i], text, value))
      best = &s->all[i];
  for (int i = 0; i < s->first[1]; i++) {
    struct span other[PLACES];
    if (best && s->all[i].weight <= best->weight)
      break;
    if (match(&s->all[i], text, other)) {
      memcpy(value, other, sizeof other);
      return &s->all[i];
    }
  }
  return best;
}

static bool say(const sentences *s, struct span text, int depth, struct str *out);

static void fill(const sentences *s, const struct template *t, const struct span value[PLACES],
                 int depth, struct str *out) {
  size_t len;
  bool deep;
  for (const char *p = t->zh; *p;) {
    int k = place_at(p, &len, &deep);
    if (k < 0) {
      str_addc(out, *p++);
      continue;
    }
    if (!deep || !say(s, value[k], depth + 1, out))
      str_addn(out, value[k].at, value[k].n);
    p += len;
  }
}

static bool say_whole(const sentences *s, struct span text, int depth, struct str *out) {
  struct span value[PLACES];
  const struct template *t = look(s, text, value);
  if (t)
    fill(s, t, value, depth, out);
  return t != NULL;
}

/* ---- texts of several sentences */

/* What stands before the first ": " ("lessons/06-tiling/lesson.json:12", the name of a field) with
 * it: its bytes, or 0 if that is not within the first sentence. */
static size_t prefix_of(struct span text) {
  for (size_t i = 0; i + 2 < text.n; i++) {
    if (text.at[i + 1] == ' ' && text.at[i] == ':')
      return i > 0 ? i + 2 : 0;
    if (text.at[i + 1] == ' ' && text.at[i] == '.')
      return 0;
  }
  return 0;
}

/* Cuts text into sentences: start[0..n] with start[n] behind the end. Returns n. */
static int sentences_of(struct span text, size_t start[PIECES + 1]) {
  int n = 0;
  start[n++] = 0;
  for (size_t i = 0; i < text.n && n < PIECES; i++)
    if (ends_at(text, i))
      start[n++] = i + 2;
  start[n] = text.n + 1;
  return n;
}

/* Chinese sentences follow each other without a space. */
static void add_piece(struct str *out, const char *piece, size_t n, bool chinese, bool *was) {
  if (out->len && !(chinese && *was))
    str_addc(out, ' ');
  str_addn(out, piece, n);
  *was = chinese;
}

/* From each sentence on, as many as one template takes. */
static bool say_pieces(const sentences *s, struct span text, int depth, struct str *out) {
  size_t start[PIECES + 1];
  int n = sentences_of(text, start);
  bool any = false, was = false;
  struct str made = {0};
  for (int i = 0; n > 1 && i < n;) {
    int to = n - (i == 0); /* the whole was tried */
    struct str piece = {0};
    for (; to > i; to--) {
      struct span part = {text.at + start[i], start[to] - 1 - start[i]};
      if (say_whole(s, part, depth, &piece))
        break;
    }
    bool found = to > i;
    if (found)
      add_piece(&made, piece.data, piece.len, true, &was);
    else
      add_piece(&made, text.at + start[i], start[i + 1] - 1 - start[i], false, &was);
    any |= found;
    i = found ? to : i + 1;
    str_free(&piece);
  }
  if (any)
    str_addn(out, made.data, made.len);
  str_free(&made);
  return any;
}

static bool say_lines(const sentences *s, struct span text, int depth, struct str *out) {
  bool any = false;
  struct str made = {0};
  for (size_t i = 0; i <= text.n;) {
    const char *p = text.at + i, *nl = i < text.n ? memchr(p, '\n', text.n - i) : NULL;
    struct span line = {p, nl ? (size_t)(nl - p) : text.n - i};
    if (say(s, line, depth, &made))
      any = true;
    else
      str_addn(&made, line.at, line.n);
    if (nl)
      str_addc(&made, '\n');
    i += line.n + 1;
  }
  if (any)
    str_addn(out, made.data, made.len);
  str_free(&made);
  return any;
}

static bool say_behind(const sentences *s, struct span text, size_t skip, int depth,
                       struct str *out) {
  struct str made = {0};
  bool known = say(s, (struct span){text.at + skip, text.n - skip}, depth + 1, &made);
  if (known) {
    str_addn(out, text.at, skip);
    str_addn(out, made.data, made.len);
  }
  str_free(&made);
  return known;
}

/* Adds text in Chinese, as far as it is known, to out; false, and out as it was, if nothing is. */
static bool say(const sentences *s, struct span text, int depth, struct str *out) {
  size_t skip;
  if (depth > DEEPEST || !text.n)
    return false;
  if (say_whole(s, text, depth, out))
    return true;
  if (memchr(text.at, '\n', text.n))
    return say_lines(s, text, depth, out);
  if (text.n > 1 && text.at[text.n - 1] == '.' &&
      say_whole(s, (struct span){text.at, text.n - 1}, depth, out)) {
    str_add(out, "。");
    return true;
  }
  skip = prefix_of(text);
  return (skip && say_behind(s, text, skip, depth, out)) || say_pieces(s, text, depth, out);
}

char *sentences_say(const sentences *s, const char *english) {
  struct str out = {0};
  if (say(s, (struct span){english, strlen(english)}, 0, &out))
    return str_take(&out);
  str_free(&out);
  return alloc_str(english);
}

/* ---- what the program ships */

static sentences *shipped(void) {
  static bool tried;
  static sentences *s; /* lives as long as the program */
  if (tried)
    return s;
  struct err err = {""};
  size_t n = 0;
  tried = true;
  char *text = paths_asset("assets/sentences.json", &n, &err);
  if (text)
    s = sentences_read(text, n, &err);
  if (!s)
    log_line("%s", err.text);
  free(text);
  return s;
}

char *sentences_in(const char *english, bool zh) {
  static struct {
    char *en, *zh;
  } kept[KEPT];
  static int next;
  const sentences *s = zh && *english ? shipped() : NULL;
  if (!s)
    return alloc_str(english);
  for (int i = 0; i < KEPT; i++)
    if (kept[i].en && strcmp(kept[i].en, english) == 0)
      return alloc_str(kept[i].zh);
  free(kept[next].en);
  free(kept[next].zh);
  kept[next].en = alloc_str(english);
  kept[next].zh = sentences_say(s, english);
  char *copy = alloc_str(kept[next].zh);
  next = (next + 1) % KEPT;
  return copy;
}
