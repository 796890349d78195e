#include "lesson/lesson.h"

#include "base/alloc.h"
#include "base/paths.h"
#include "lesson/load.h"
#include "lesson/load_experiments.h"
#include "lesson/load_items.h"
#include "lesson/load_steps.h"
#include "lesson/prose.h"
#include "lesson/sections.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const prose_file[LANGS] = {"en.md", "zh.md"};

static bool load_head(const struct load *ld, const cJSON *root, struct lesson *l) {
  double schema = 0, order = 0, minutes = 0;
  if (!cJSON_IsObject(root))
    return json_fail(ld->doc, root, ld->err, "a lesson must be an object {...}");
  if (!load_number(ld, root, "schema", 0, 1e9, &schema))
    return false;
  if (schema != 1)
    return json_fail(ld->doc, root, ld->err, "\"schema\" must be 1 (this program reads no other)");
  if (!load_id(ld, root, "id", false, &l->id) ||
      !load_number(ld, root, "order", 1, COURSE_LESSONS, &order) ||
      !load_number(ld, root, "minutes", 1, 600, &minutes))
    return false;
  if (order != (int)order || order < 1)
    return json_fail(ld->doc, root, ld->err, "\"order\" must be a whole number from 1 to %d",
                     COURSE_LESSONS);
  l->order = (int)order;
  l->minutes = (int)minutes;
  return load_text2(ld, root, "title", true, &l->title) &&
         load_strings(ld, root, "covers", &l->covers, &l->ncovers) &&
         load_strings(ld, root, "sources", &l->sources, &l->nsources);
}

static bool needs_prose(enum step_kind kind) {
  return kind != STEP_ITEM && kind != STEP_PREDICT && kind != STEP_RUN;
}

/* Both languages must have the same sections in the same order. */
static bool same_sections(const struct sections s[LANGS], const char *name, struct err *err) {
  const struct sections *en = &s[LANG_EN], *zh = &s[LANG_ZH];
  for (int i = 0; i < en->n || i < zh->n; i++) {
    if (i >= zh->n)
      return err_set(err, "%s/en.md:%d: section \"%s\" is missing in zh.md", name, en->s[i].line,
                     en->s[i].id);
    if (i >= en->n)
      return err_set(err, "%s/zh.md:%d: section \"%s\" is missing in en.md", name, zh->s[i].line,
                     zh->s[i].id);
    if (strcmp(en->s[i].id, zh->s[i].id) != 0)
      return err_set(err, "%s/zh.md:%d: section \"%s\" stands where en.md has \"%s\" (line %d)",
                     name, zh->s[i].line, zh->s[i].id, en->s[i].id, en->s[i].line);
  }
  return true;
}

static void take_section(const struct section *s, char **title, char **prose, int *line) {
  *line = s ? s->text_line : 0;
  *title = alloc_str(s ? s->title : "");
  *prose = alloc_str(s ? s->text : "");
}

static bool join_steps(struct lesson *l, const struct sections s[LANGS], const char *name,
                       struct err *err) {
  for (int i = 0; i < l->nsteps; i++) {
    struct step *step = &l->steps[i];
    for (int lang = 0; lang < LANGS; lang++) {
      const struct section *sec = sections_find(&s[lang], step->id);
      if (needs_prose(step->kind) && (!sec || !*sec->text))
        return err_set(err, "%s/%s:%d: step \"%s\" (%s) has no text", name, prose_file[lang],
                       sec ? sec->line : 1, step->id, load_steps_kind(step->kind));
      take_section(sec, &step->title.in[lang], &step->prose[lang], &step->line[lang]);
    }
  }
  return true;
}

static void join_notes(struct lesson *l, const struct sections s[LANGS]) {
  l->notes = alloc_zero((size_t)s[LANG_EN].n, sizeof *l->notes);
  for (int i = 0; i < s[LANG_EN].n; i++) {
    if (lesson_step(l, s[LANG_EN].s[i].id) >= 0)
      continue;
    struct note *note = &l->notes[l->nnotes++];
    note->id = alloc_str(s[LANG_EN].s[i].id);
    for (int lang = 0; lang < LANGS; lang++)
      take_section(&s[lang].s[i], &note->title.in[lang], &note->prose[lang], &note->line[lang]);
  }
}

static bool check_expressions(const struct sections s[LANGS], const char *name, struct err *err) {
  for (int lang = 0; lang < LANGS; lang++)
    for (int i = 0; i < s[lang].n; i++) {
      struct err why;
      if (!prose_check(s[lang].s[i].text, &why))
        return err_set(err, "%s/%s:%d: section \"%s\": %s", name, prose_file[lang],
                       s[lang].s[i].line, s[lang].s[i].id, why.text);
    }
  return true;
}

/* What an experiment says when its effect does not show must be written. */
static bool check_not_visible(const struct load *ld, const cJSON *root, const struct lesson *l) {
  const cJSON *node = json_get(root, "experiments");
  node = node ? node->child : NULL;
  for (int i = 0; i < l->nexperiments && node; i++, node = node->next) {
    const struct experiment *e = &l->experiments[i];
    for (int j = 0; j < e->nnot_visible; j++)
      if (!lesson_section(l, e->not_visible[j].step, LANG_EN, NULL, NULL))
        return json_fail(ld->doc, json_get(node, "not_visible"), ld->err,
                         "the prose has no section \"%s\"", e->not_visible[j].step);
  }
  return true;
}

static bool join_prose(const struct load *ld, const struct lesson_texts *t, struct lesson *l) {
  struct sections s[LANGS];
  bool ok = true;
  memset(s, 0, sizeof s);
  for (int lang = 0; lang < LANGS && ok; lang++) {
    char *name = alloc_printf("%s/%s", t->name, prose_file[lang]);
    ok = sections_cut(t->prose[lang], t->nprose[lang], name, &s[lang], ld->err);
    free(name);
  }
  ok = ok && same_sections(s, t->name, ld->err) && join_steps(l, s, t->name, ld->err) &&
       check_expressions(s, t->name, ld->err);
  if (ok) {
    join_notes(l, s);
    ok = check_not_visible(ld, json_root(ld->doc), l);
  }
  for (int lang = 0; lang < LANGS; lang++)
    sections_free(&s[lang]);
  return ok;
}

struct lesson *lesson_parse(const struct lesson_texts *t, struct err *err) {
  char *name = alloc_printf("%s/lesson.json", t->name);
  json_doc *doc = json_parse(t->json, t->njson, name, LOAD_MAX_BYTES, err);
  free(name);
  if (!doc)
    return NULL;
  struct load ld = {doc, err};
  struct lesson *l = alloc_zero(1, sizeof *l);
  const cJSON *root = json_root(doc);
  const char *slash = strrchr(t->name, '/');
  l->doc = doc;
  l->dir = alloc_str(slash ? slash + 1 : t->name);
  if (!load_head(&ld, root, l) || !load_items(&ld, root, l) || !load_experiments(&ld, root, l) ||
      !load_steps(&ld, root, l) || !join_prose(&ld, t, l)) {
    lesson_free(l);
    return NULL;
  }
  return l;
}

struct lesson *lesson_load(const char *dir, struct err *err) {
  static const char *const file[] = {"lesson.json", "en.md", "zh.md"};
  enum { FILES = 3 };
  char *text[FILES] = {NULL};
  size_t n[FILES] = {0};
  struct lesson *l = NULL;
  size_t len = strlen(dir);
  while (len > 1 && dir[len - 1] == '/')
    len--;
  char *name = alloc_strn(dir, len);
  bool ok = true;
  for (int i = 0; i < FILES && ok; i++) {
    char *path = alloc_printf("%s/%s", name, file[i]);
    text[i] = paths_read(path, LOAD_MAX_BYTES, &n[i], err);
    ok = text[i] != NULL;
    if (!ok)
      err_prefix(err, "%s:1", path); /* line 1, so that an editor opens the right file */
    free(path);
  }
  if (ok) {
    struct lesson_texts t = {name, text[0], {text[1], text[2]}, n[0], {n[1], n[2]}};
    l = lesson_parse(&t, err);
  }
  for (int i = 0; i < FILES; i++)
    free(text[i]);
  free(name);
  return l;
}

void lesson_free(struct lesson *l) {
  if (!l)
    return;
  free(l->id);
  free(l->dir);
  load_text2_free(&l->title);
  load_strings_free(l->covers, l->ncovers);
  load_strings_free(l->sources, l->nsources);
  for (int i = 0; i < l->nsteps; i++)
    load_steps_done(&l->steps[i]);
  free(l->steps);
  for (int i = 0; i < l->nnotes; i++) {
    free(l->notes[i].id);
    load_text2_free(&l->notes[i].title);
    for (int lang = 0; lang < LANGS; lang++)
      free(l->notes[i].prose[lang]);
  }
  free(l->notes);
  for (int i = 0; i < l->nexperiments; i++)
    load_experiments_done(&l->experiments[i]);
  free(l->experiments);
  for (int i = 0; i < l->nitems; i++)
    load_items_done(&l->items[i]);
  free(l->items);
  json_free(l->doc);
  free(l);
}

const struct item *lesson_item(const struct lesson *l, const char *id) {
  for (int i = 0; i < l->nitems; i++)
    if (l->items[i].id && strcmp(l->items[i].id, id) == 0)
      return &l->items[i];
  return NULL;
}

const struct experiment *lesson_experiment(const struct lesson *l, const char *id) {
  for (int i = 0; i < l->nexperiments; i++)
    if (l->experiments[i].id && strcmp(l->experiments[i].id, id) == 0)
      return &l->experiments[i];
  return NULL;
}

const struct text2 *lesson_ask(const struct experiment *e, int place) {
  const struct text2 *own = &e->side[place].ask;
  return own->in[LANG_EN] ? own : &e->ask;
}

const char *lesson_quantity(const struct experiment *e, int place) {
  return e->side[place].quantity ? e->side[place].quantity : e->quantity;
}

const char *lesson_unit(const struct experiment *e, int place) {
  return e->side[place].unit ? e->side[place].unit : e->unit;
}

void lesson_prediction_key(const struct experiment *e, int place, const char *step,
                           char key[LESSON_KEY]) {
  static const char *const suffix[EXP_PLACES] = {"@cuda", "@cpu", "@xray"};
  bool own = e->side[place].ask.in[LANG_EN] != NULL;
  snprintf(key, LESSON_KEY, "%.64s%s", step, own ? suffix[place] : "");
}

const char *lesson_count_name(int i) {
  static const char *const names[] = {"gld_requests",
                                      "gld_sectors",
                                      "gld_wavefronts",
                                      "gst_requests",
                                      "gst_sectors",
                                      "gst_wavefronts",
                                      "lds_requests",
                                      "lds_wavefronts",
                                      "lds_conflicts",
                                      "sts_requests",
                                      "sts_wavefronts",
                                      "sts_conflicts",
                                      "ffma",
                                      "fadd",
                                      "fmul",
                                      "other_flop",
                                      "warp_instructions",
                                      "barriers",
                                      "divergent_branches",
                                      "flop",
                                      "occupancy",
                                      "registers"};
  return i >= 0 && i < (int)(sizeof names / sizeof *names) ? names[i] : NULL;
}

const struct note *lesson_note(const struct lesson *l, const char *id) {
  for (int i = 0; i < l->nnotes; i++)
    if (strcmp(l->notes[i].id, id) == 0)
      return &l->notes[i];
  return NULL;
}

int lesson_step(const struct lesson *l, const char *id) {
  for (int i = 0; i < l->nsteps; i++)
    if (l->steps[i].id && strcmp(l->steps[i].id, id) == 0)
      return i;
  char *end;
  long number = strtol(id, &end, 10);
  bool digits = *id && strspn(id, "0123456789") == strlen(id);
  return digits && number >= 1 && number <= l->nsteps ? (int)number - 1 : -1;
}

bool lesson_section(const struct lesson *l, const char *id, enum lang lang, const char **title,
                    const char **prose) {
  int i = lesson_step(l, id);
  const struct note *note = lesson_note(l, id);
  if (i < 0 && !note)
    return false;
  if (title)
    *title = note ? note->title.in[lang] : l->steps[i].title.in[lang];
  if (prose)
    *prose = note ? note->prose[lang] : l->steps[i].prose[lang];
  return true;
}
