#include "app/read.h"

#include "app/language.h"
#include "app/options.h"
#include "app/step_text.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "mmtutor read ID[:STEP] [options]: a lesson as plain text\n"
    "\n"
    "  ID                   like tiling, 06-tiling or 6; --list shows them\n"
    "  --lang en|zh|auto    language (auto: by the locale)\n"
    "  --width N            columns, 40 to 1000 (80)\n"
    "  --answers            with the answers of the questions\n"
    "  --ascii              signs outside ASCII get an ASCII form\n"
    "  --list               the lessons\n"
    "\n"
    "Numbers that this machine has not measured come from the recorded card and say so.\n"
    "Exit codes: 0 ok, 1 the lesson is not there, 2 usage.\n";

enum {
  READ_SEED = 1
}; /* the numbers of the questions stay the same, so that pages can be compared */

struct args {
  enum lang lang;
  double width;
  bool answers, ascii, list, help;
  const char *id;
};

enum { OPT_LANG = 256, OPT_WIDTH, OPT_ANSWERS, OPT_ASCII, OPT_LIST, OPT_IGNORED };

static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                        {"lang", required_argument, NULL, OPT_LANG},
                                        {"width", required_argument, NULL, OPT_WIDTH},
                                        {"answers", no_argument, NULL, OPT_ANSWERS},
                                        {"ascii", no_argument, NULL, OPT_ASCII},
                                        {"list", no_argument, NULL, OPT_LIST},
                                        {"plain", no_argument, NULL, OPT_IGNORED},
                                        {"no-color", no_argument, NULL, OPT_IGNORED},
                                        {NULL, 0, NULL, 0}};

/* 0, or 2 after the sentence was printed. */
static int read_args(int argc, char **argv, struct args *a) {
  struct err err = {""};
  int c;
  *a = (struct args){.width = 80};
  language_pick(NULL, &a->lang);
  opterr = 0;
  optind = 0;
  while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    if (c == 'h')
      a->help = true;
    else if (c == OPT_ANSWERS)
      a->answers = true;
    else if (c == OPT_ASCII)
      a->ascii = true;
    else if (c == OPT_LIST)
      a->list = true;
    else if (c == OPT_LANG && !language_pick(optarg, &a->lang))
      return options_fail("read", 2, "--lang is en, zh or auto.");
    else if (c == OPT_WIDTH && !options_whole("--width", optarg, 40, 1000, &a->width, &err))
      return options_fail("read", 2, err.text);
    else if (c == '?' || c == ':')
      return options_wrong("read", argv, c);
  }
  if (a->help || a->list)
    return 0;
  if (optind + 1 != argc)
    return options_fail("read", 2,
                        "name one lesson, like `mmtutor read tiling`; --list shows all.");
  a->id = argv[optind];
  return 0;
}

static void put_item(const struct step_text *t, const struct step *s, bool answers) {
  struct answer_draw d;
  answer_draw(&d, lesson_item(t->lesson, s->item), READ_SEED);
  step_text_item(t, &d);
  if (answers) {
    paper_gap(t->paper);
    step_text_answer(t, &d);
  }
  answer_done(&d);
}

static void put_head(const struct step_text *t, const struct course_entry *e) {
  char *minutes = alloc_printf("%d", e->minutes);
  paper_title(t->paper, e->title.in[t->lang], '=');
  if (e->minutes)
    step_text_say(t, SAY_MINUTES, minutes, NULL, NULL);
  free(minutes);
}

/* Says where the marked numbers come from, if there are any. */
static void put_origin(const struct step_text *t) {
  const struct values *v = t->values;
  if (!v->rec || !t->paper->out.data || !strstr(t->paper->out.data, v->tag))
    return;
  char *day = alloc_printf("%.10s", recorded_date(v->rec));
  paper_gap(t->paper);
  step_text_say(t, SAY_RECORDED, v->tag, recorded_card(v->rec), day);
  free(day);
}

static void put_lesson(const struct args *a, const struct course_entry *e, int only) {
  struct paper paper = {.width = (int)a->width, .ascii = a->ascii};
  struct values *values = alloc_zero(1, sizeof *values);
  catalog *kernels = catalog_new();
  values_open(values, kernels);
  struct step_text t = {&paper, values, e->lesson, a->lang, false};
  if (only < 0)
    put_head(&t, e);
  for (int i = 0; i < e->lesson->nsteps; i++) {
    const struct step *s = &e->lesson->steps[i];
    if (only >= 0 && only != i)
      continue;
    step_text_put(&t, i);
    if (s->kind == STEP_ITEM)
      put_item(&t, s, a->answers);
  }
  put_origin(&t);
  paper_print(&paper, stdout);
  str_free(&paper.out);
  values_close(values);
  catalog_free(kernels);
  free(values);
}

static int list(const struct args *a, const struct course *c) {
  struct paper paper = {.width = (int)a->width, .ascii = a->ascii};
  for (int i = 0; i < COURSE_LESSONS; i++) {
    const struct course_entry *e = &c->entry[i];
    char *line = alloc_printf("%2d %-16s %s", i + 1, e->id, e->title.in[a->lang]);
    char *note = e->lesson ? alloc_str("")
                           : sayings_fill(e->broken ? SAY_BROKEN : SAY_NOT_WRITTEN, a->lang,
                                          e->broken, NULL, NULL);
    char *both = alloc_printf("%s%s%s", line, *note ? "  - " : "", note);
    paper_lines(&paper, 0, both);
    free(both);
    free(note);
    free(line);
  }
  paper_print(&paper, stdout);
  str_free(&paper.out);
  return 0;
}

static int read_one(const struct args *a, const struct course *c) {
  char *id = utf8_clean(a->id, strlen(a->id)), *colon = strchr(id, ':'), *sentence = NULL;
  int only = -1;
  if (colon)
    *colon = '\0';
  const struct course_entry *e = course_find(c, id);
  if (!e)
    sentence = alloc_printf("there is no lesson '%.40s'. `mmtutor read --list` shows them.", id);
  else if (e->broken)
    sentence = alloc_printf("the lesson is damaged: %s", e->broken);
  else if (!e->lesson)
    sentence = alloc_printf("the lesson %s is not written yet. `mmtutor read --list` shows which "
                            "are.",
                            e->id);
  else if (colon && (only = lesson_step(e->lesson, colon + 1)) < 0)
    sentence = alloc_printf("the lesson %s has no step '%.40s'; it has 1 to %d.", e->id, colon + 1,
                            e->lesson->nsteps);
  int code = sentence ? options_fail("read", 1, sentence) : 0;
  if (!sentence)
    put_lesson(a, e, only);
  free(sentence);
  free(id);
  return code;
}

int read_main(int argc, char **argv) {
  struct args a;
  int code = read_args(argc, argv, &a);
  if (code)
    return code;
  if (a.help)
    return fputs(help, stdout) < 0;
  struct course *c = course_load();
  code = a.list ? list(&a, c) : read_one(&a, c);
  course_free(c);
  return code;
}
