#include "lesson/course.h"

#include "base/alloc.h"
#include "base/embed.h"
#include "base/paths.h"
#include "base/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The order and the names are for ever: progress hangs on the ids. */
static const char *const dirs[COURSE_LESSONS] = {
    "01-machine",   "02-flops",        "03-intensity", "04-roofline",        "05-coalescing",
    "06-tiling",    "07-tiled-kernel", "08-tile-size", "09-register-tiling", "10-vector-loads",
    "11-latency",   "12-tensor-cores", "13-cpu-gpu",   "14-strassen",        "15-diagnosis",
    "16-measuring", "17-l2-and-waves", "18-reduce",    "19-interview",
};

const char *course_dir(const char *id) {
  for (int i = 0; i < COURSE_LESSONS; i++)
    if (strcmp(dirs[i] + 3, id) == 0)
      return dirs[i];
  return NULL;
}

static struct lesson *load_embedded(const char *rel, bool *there, struct err *err) {
  static const char *const file[] = {"lesson.json", "en.md", "zh.md"};
  const struct embed_file *f[3];
  for (int i = 0; i < 3; i++) {
    char *path = alloc_printf("%s/%s", rel, file[i]);
    f[i] = embed_find(path);
    free(path);
  }
  *there = f[0] && f[1] && f[2];
  if (!*there)
    return NULL;
  struct lesson_texts t = {rel, f[0]->data, {f[1]->data, f[2]->data}, f[0]->n, {f[1]->n, f[2]->n}};
  return lesson_parse(&t, err);
}

static void load_entry(struct course_entry *e) {
  struct err err = {""};
  bool there = true;
  char *rel = alloc_printf("lessons/%s", e->dir);
  char *data = paths_data(rel);
  if (data) {
    char *path = alloc_printf("%s/%s", data, rel);
    e->lesson = lesson_load(path, &err);
    free(path);
  } else {
    e->lesson = load_embedded(rel, &there, &err);
  }
  if (e->lesson && strcmp(e->lesson->id, e->id) != 0) {
    err_set(&err, "%s/lesson.json:1: the id is \"%s\", and the directory's name asks for \"%s\"",
            rel, e->lesson->id, e->id);
    lesson_free(e->lesson);
    e->lesson = NULL;
  }
  if (!e->lesson && there)
    e->broken = utf8_clean(err.text, strlen(err.text));
  free(data);
  free(rel);
}

static const char *title_in(const cJSON *list, const char *dir, enum lang lang, int *minutes) {
  for (const cJSON *node = list ? list->child : NULL; node; node = node->next) {
    const char *name = json_str(node, "dir");
    if (!name || strcmp(name, dir) != 0)
      continue;
    double m = json_num(node, "minutes", 0);
    *minutes = m >= 1 && m <= 600 ? (int)m : 0;
    return json_str(json_get(node, "title"), lang == LANG_ZH ? "zh" : "en");
  }
  return NULL;
}

static json_doc *load_titles(void) {
  size_t n;
  char *text = paths_asset("assets/course.json", &n, NULL);
  json_doc *doc = text ? json_parse(text, n, "assets/course.json", 0, NULL) : NULL;
  free(text);
  return doc;
}

/* The lesson's own title, else the table's, else the id. */
static void set_titles(struct course_entry *e, const json_doc *titles) {
  const cJSON *list = titles ? json_get(json_root(titles), "lessons") : NULL;
  for (int lang = 0; lang < LANGS; lang++) {
    int minutes = 0;
    const char *title = title_in(list, e->dir, (enum lang)lang, &minutes);
    if (e->lesson)
      title = e->lesson->title.in[lang];
    e->title.in[lang] = alloc_str(title ? title : e->id);
    e->minutes = e->lesson ? e->lesson->minutes : minutes;
  }
}

struct course *course_load(void) {
  struct course *c = alloc_zero(1, sizeof *c);
  json_doc *titles = load_titles();
  for (int i = 0; i < COURSE_LESSONS; i++) {
    struct course_entry *e = &c->entry[i];
    snprintf(e->dir, sizeof e->dir, "%s", dirs[i]);
    snprintf(e->id, sizeof e->id, "%s", dirs[i] + 3);
    load_entry(e);
    set_titles(e, titles);
  }
  json_free(titles);
  return c;
}

void course_free(struct course *c) {
  if (!c)
    return;
  for (int i = 0; i < COURSE_LESSONS; i++) {
    struct course_entry *e = &c->entry[i];
    lesson_free(e->lesson);
    free(e->broken);
    for (int lang = 0; lang < LANGS; lang++)
      free(e->title.in[lang]);
  }
  free(c);
}

const struct course_entry *course_find(const struct course *c, const char *id) {
  for (int i = 0; i < COURSE_LESSONS; i++) {
    char number[16];
    snprintf(number, sizeof number, "%d", i + 1);
    const struct course_entry *e = &c->entry[i];
    if (strcmp(e->id, id) == 0 || strcmp(e->dir, id) == 0 || strcmp(number, id) == 0)
      return e;
  }
  return NULL;
}
