#include "app/plain.h"

#include "app/language.h"
#include "app/options.h"
#include "app/plain_run.h"
#include "app/session.h"
#include "app/step_text.h"
#include "base/alloc.h"
#include "base/units.h"
#include "base/utf8.h"
#include "lesson/progress.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "mmtutor --plain [lesson ID]: the tutor as lines of text, for screen readers\n"
    "\n"
    "  --lang en|zh|auto    language\n"
    "  --ascii              signs outside ASCII get an ASCII form\n"
    "  --worker COMMAND     measure elsewhere: \"ssh gpubox mmtutor worker\"\n"
    "\n"
    "A line in, a few lines out. The end of the input ends the tutor.\n";

struct tutor {
  struct step_text text;
  struct paper paper;
  struct values *values;
  catalog *kernels;
  struct course *course;
  progress *progress;
  client *client;
  int step;
  bool has_draw, over;
  bool knows_gpu;          /* the worker has been asked */
  struct answer_draw draw; /* of the item on show */
  int hint;
};

static void say(struct tutor *t, enum saying s, const char *a, const char *b, const char *c) {
  step_text_say(&t->text, s, a, b, c);
}

static const struct step *step_now(const struct tutor *t) {
  return &t->text.lesson->steps[t->step];
}

/* ---- showing */

static void say_keys(struct tutor *t) {
  const struct step *s = step_now(t);
  enum saying keys = SAY_KEYS;
  char last[2] = "";
  if (s->kind == STEP_PREDICT)
    keys = SAY_KEYS_PREDICT;
  else if (s->kind == STEP_RUN)
    keys = SAY_KEYS_RUN;
  else if (t->has_draw && t->draw.item->kind == ITEM_NUMERIC)
    keys = SAY_KEYS_NUMBER;
  else if (t->has_draw && t->draw.item->kind == ITEM_ORDER)
    keys = SAY_KEYS_ORDER;
  else if (t->has_draw)
    keys = SAY_KEYS_CHOICE;
  if (t->has_draw)
    last[0] = (char)('a' + t->draw.noptions - 1);
  paper_gap(&t->paper);
  say(t, keys, last, NULL, NULL);
}

static void drop_draw(struct tutor *t) {
  if (t->has_draw)
    answer_done(&t->draw);
  t->has_draw = false;
  t->hint = 0;
}

/* What is asked and run hangs on it. */
static void look_for_gpu(struct tutor *t) {
  if (!t->knows_gpu)
    t->text.no_gpu = !plain_run_gpu(t->client);
  t->knows_gpu = true;
}

static void show_step(struct tutor *t) {
  const struct lesson *l = t->text.lesson;
  const struct step *s = step_now(t);
  drop_draw(t);
  if (s->kind == STEP_PREDICT || s->kind == STEP_RUN)
    look_for_gpu(t);
  step_text_put(&t->text, t->step);
  if (s->kind == STEP_ITEM) {
    const struct item *item = lesson_item(l, s->item);
    uint64_t seed = (uint64_t)time(NULL) + (uint64_t)progress_answers(t->progress, item->id);
    answer_draw(&t->draw, item, seed);
    t->has_draw = true;
    step_text_item(&t->text, &t->draw);
  }
  progress_set_at(t->progress, l->id, s->id);
  if (s->kind != STEP_ITEM && s->kind != STEP_PREDICT && s->kind != STEP_RUN)
    progress_step_done(t->progress, l->id, s->id);
  say_keys(t);
}

static void show_menu(struct tutor *t) {
  enum lang lang = t->text.lang;
  drop_draw(t);
  t->text.lesson = NULL;
  paper_gap(&t->paper);
  say(t, SAY_MENU, NULL, NULL, NULL);
  for (int i = 0; i < COURSE_LESSONS; i++) {
    const struct course_entry *e = &t->course->entry[i];
    char *state, *marker = alloc_printf("%2d. ", i + 1);
    if (e->lesson) {
      char *done = alloc_printf("%d", progress_steps_done(t->progress, e->lesson));
      char *all = alloc_printf("%d", e->lesson->nsteps);
      state = sayings_fill(SAY_DONE, lang, done, all, NULL);
      free(done);
      free(all);
    } else {
      state = sayings_fill(e->broken ? SAY_BROKEN : SAY_NOT_WRITTEN, lang, e->broken, NULL, NULL);
    }
    char *line = alloc_printf("%s - %s", e->title.in[lang], state);
    paper_text(&t->paper, 0, marker, line);
    free(line);
    free(state);
    free(marker);
  }
  say(t, SAY_MENU_ASK, NULL, NULL, NULL);
}

/* Opens a lesson where it was left, or at a step. */
static void open_lesson(struct tutor *t, const char *id, const char *step) {
  const struct course_entry *e = course_find(t->course, id);
  if (!e) {
    say(t, SAY_UNKNOWN, id, NULL, NULL);
  } else if (!e->lesson) {
    say(t, e->broken ? SAY_BROKEN : SAY_NOT_WRITTEN, e->broken, NULL, NULL);
  } else {
    const char *at = step ? step : progress_at(t->progress, e->id);
    int index = at ? lesson_step(e->lesson, at) : 0;
    t->text.lesson = e->lesson;
    t->step = index < 0 ? 0 : index;
    show_step(t);
  }
}

/* ---- answers */

static void graded(struct tutor *t, const char *typed, const struct answer_graded *g) {
  bool right = g->verdict == ANSWER_RIGHT || g->verdict == ANSWER_RIGHT_NOTE;
  if (g->verdict == ANSWER_UNREAD) {
    paper_text(&t->paper, 0, "", g->say);
    return;
  }
  struct progress_answer a = {.seed = t->draw.seed, .right = right};
  char *clean = utf8_clean(typed, strlen(typed));
  clean[utf8_clip(clean, (int)sizeof a.text / 4 - 1, NULL)] = '\0';
  snprintf(a.text, sizeof a.text, "%s", clean);
  snprintf(a.tag, sizeof a.tag, "%s", g->tag);
  free(clean);
  progress_answer(t->progress, t->draw.item->id, &a);
  if (!right) {
    say(t, SAY_WRONG, g->say, NULL, NULL);
    return;
  }
  progress_step_done(t->progress, t->text.lesson->id, step_now(t)->id);
  say(t, SAY_RIGHT, g->verdict == ANSWER_RIGHT_NOTE ? g->say : "", NULL, NULL);
  step_text_answer(&t->text, &t->draw);
}

/* The letters as a permutation of all shown positions; false otherwise. */
static bool read_order(const char *line, int n, int perm[8]) {
  unsigned seen = 0;
  int k = 0;
  for (; *line; line++) {
    if (*line == ' ' || *line == ',')
      continue;
    int i = (*line | 32) - 'a';
    if (i < 0 || i >= n || k == n || (seen & (1u << i)))
      return false;
    seen |= 1u << i;
    perm[k++] = i;
  }
  return k == n;
}

static void answer(struct tutor *t, const char *line) {
  struct answer_graded g;
  enum item_kind kind = t->draw.item->kind;
  int perm[8];
  if (kind == ITEM_ORDER && !read_order(line, t->draw.noptions, perm)) {
    say(t, SAY_UNKNOWN, line, NULL, NULL);
    say_keys(t);
    return;
  }
  if (kind == ITEM_ORDER)
    answer_order(&t->draw, perm, t->text.lang, &g);
  else if (kind == ITEM_NUMERIC)
    answer_numeric(&t->draw, line, t->text.lang, &g);
  else
    answer_choice(&t->draw, line[1] ? -1 : (line[0] | 32) - 'a', t->text.lang, &g);
  graded(t, line, &g);
  answer_graded_done(&g);
}

static void hint(struct tutor *t) {
  const struct item *item = t->draw.item;
  if (t->hint >= item->nhints) {
    say(t, SAY_NO_MORE_HINTS, NULL, NULL, NULL);
    return;
  }
  char *text = answer_text(&t->draw, &item->hints[t->hint], t->text.lang);
  char number[16];
  snprintf(number, sizeof number, "%d", ++t->hint);
  say(t, SAY_HINT, number, text, NULL);
  free(text);
}

/* A typed quantity in the unit of the experiment, as its runs will give it. */
static double in_unit(const struct units_value *v, const char *unit) {
  struct units_value one;
  char *text = alloc_printf("1 %s", unit);
  bool bare = v->unit == UNIT_NONE && !v->prefixed;
  bool scaled = *unit && !bare && units_parse(text, &one, NULL) && one.value > 0;
  free(text);
  return scaled ? v->value / one.value : v->value;
}

static void predict(struct tutor *t, const char *line) {
  const struct step *s = step_now(t);
  const struct experiment *e = lesson_experiment(t->text.lesson, s->experiment);
  struct units_value v = {.value = NAN};
  struct err err = {""};
  bool idea = strcmp(line, "?") != 0;
  if (idea && !units_parse(line, &v, &err)) {
    step_text_sentence(&t->text, err.text);
    return;
  }
  int place = step_text_place(&t->text, e);
  char key[LESSON_KEY];
  lesson_prediction_key(e, place, s->id, key);
  progress_predict(t->progress, t->text.lesson->id, key, in_unit(&v, lesson_unit(e, place)));
  progress_step_done(t->progress, t->text.lesson->id, s->id);
  say(t, idea ? SAY_PREDICTED : SAY_NO_IDEA, line, NULL, NULL);
}

static void run(struct tutor *t) {
  const struct step *s = step_now(t);
  struct plain_run r = {&t->text, t->client, lesson_experiment(t->text.lesson, s->experiment), NAN};
  const char *id = t->text.lesson->id;
  char key[LESSON_KEY];
  for (int i = 0; i < t->text.lesson->nsteps; i++) {
    const struct step *p = &t->text.lesson->steps[i];
    if (p->kind != STEP_PREDICT || strcmp(p->experiment, s->experiment) != 0)
      continue;
    lesson_prediction_key(r.experiment, step_text_place(&t->text, r.experiment), p->id, key);
    if (!progress_prediction(t->progress, id, key, &r.prediction)) {
      say(t, SAY_FIRST_PREDICT, NULL, NULL, NULL);
      return;
    }
  }
  if (plain_run(&r))
    progress_step_done(t->progress, id, s->id);
  t->over = t->over || session_stopped();
}

/* ---- lines */

static void move(struct tutor *t, int by) {
  int to = t->step + by;
  if (to < 0 || to >= t->text.lesson->nsteps) {
    say(t, to < 0 ? SAY_FIRST_STEP : SAY_LAST_STEP, NULL, NULL, NULL);
    return;
  }
  t->step = to;
  show_step(t);
}

static void lesson_line(struct tutor *t, const char *line) {
  enum step_kind kind = step_now(t)->kind;
  char one = line[0] && !line[1] ? line[0] : '\0';
  if (one == 'n')
    move(t, 1);
  else if (one == 'p')
    move(t, -1);
  else if (one == 'm')
    show_menu(t);
  else if (one == 'h' && t->has_draw)
    hint(t);
  else if (one == 'r' && kind == STEP_RUN)
    run(t);
  else if (*line && t->has_draw)
    answer(t, line);
  else if (*line && kind == STEP_PREDICT)
    predict(t, line);
  else {
    if (*line)
      say(t, SAY_UNKNOWN, line, NULL, NULL);
    say_keys(t);
  }
}

static void take_line(struct tutor *t, const char *line) {
  if (strcmp(line, "q") == 0 || strcmp(line, "Q") == 0)
    t->over = true;
  else if (t->text.lesson)
    lesson_line(t, line);
  else if (*line)
    open_lesson(t, line, NULL);
  else
    say(t, SAY_MENU_ASK, NULL, NULL, NULL);
}

static void print(struct tutor *t) {
  paper_print(&t->paper, stdout);
  fflush(stdout);
}

static void talk(struct tutor *t) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t n;
  print(t);
  while (!t->over && !session_stopped() && (n = getline(&line, &cap, stdin)) >= 0) {
    char *clean = utf8_clean(line, (size_t)n), *start = clean + strspn(clean, " \n");
    size_t len = strlen(start);
    while (len && (start[len - 1] == '\n' || start[len - 1] == ' '))
      start[--len] = '\0';
    take_line(t, start);
    print(t);
    free(clean);
  }
  free(line);
}

/* ---- start */

enum { OPT_LANG = 256, OPT_ASCII, OPT_WORKER, OPT_IGNORED };

static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                        {"lang", required_argument, NULL, OPT_LANG},
                                        {"ascii", no_argument, NULL, OPT_ASCII},
                                        {"worker", required_argument, NULL, OPT_WORKER},
                                        {"plain", no_argument, NULL, OPT_IGNORED},
                                        {"no-color", no_argument, NULL, OPT_IGNORED},
                                        {NULL, 0, NULL, 0}};

struct args {
  const char *lang, *worker;
  char *lesson, *step; /* into `view` */
  char *view;
  bool ascii, help;
};

static int read_args(int argc, char **argv, struct args *a) {
  enum lang lang;
  int c;
  opterr = 0;
  optind = 0;
  while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    if (c == 'h')
      a->help = true;
    else if (c == OPT_ASCII)
      a->ascii = true;
    else if (c == OPT_WORKER)
      a->worker = optarg;
    else if (c == OPT_LANG && !language_pick(a->lang = optarg, &lang))
      return options_fail("plain", 2, "--lang is en, zh or auto.");
    else if (c == '?' || c == ':')
      return options_wrong("plain", argv, c);
  }
  if (optind + 1 < argc)
    return options_fail("plain", 2, "name one lesson at most.");
  if (optind < argc) {
    a->view = utf8_clean(argv[optind], strlen(argv[optind]));
    a->lesson = strncmp(a->view, "lesson/", 7) == 0 ? a->view + 7 : a->view;
    a->step = strchr(a->lesson, ':');
    if (a->step)
      *a->step++ = '\0';
  }
  return 0;
}

static void start(struct tutor *t, const struct args *a) {
  struct err notice = {""};
  t->paper = (struct paper){.width = 80, .ascii = a->ascii};
  t->kernels = catalog_new();
  t->values = alloc_zero(1, sizeof *t->values);
  values_open(t->values, t->kernels);
  t->course = course_load();
  t->progress = progress_open(false, &notice);
  t->client = client_new(a->worker);
  t->text = (struct step_text){&t->paper, t->values, NULL, LANG_EN, false};
  char *kept = a->lang ? NULL : progress_get_setting(t->progress, "lang");
  if (!kept || !language_pick(kept, &t->text.lang))
    language_pick(a->lang, &t->text.lang);
  free(kept);
  if (*notice.text)
    step_text_sentence(&t->text, notice.text);
  session_signals();
}

static void end(struct tutor *t) {
  drop_draw(t);
  progress_close(t->progress);
  client_free(t->client);
  course_free(t->course);
  values_close(t->values);
  free(t->values);
  catalog_free(t->kernels);
  str_free(&t->paper.out);
}

int plain_main(int argc, char **argv) {
  struct args a = {0};
  struct tutor t = {0};
  int code = read_args(argc, argv, &a);
  if (code == 0 && a.help)
    fputs(help, stdout);
  if (code || a.help) {
    free(a.view);
    return code;
  }
  start(&t, &a);
  if (a.lesson && *a.lesson)
    open_lesson(&t, a.lesson, a.step);
  if (!t.text.lesson)
    show_menu(&t);
  talk(&t);
  end(&t);
  free(a.view);
  return 0;
}
