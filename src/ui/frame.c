#include "ui/frame.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "bench/result.h"
#include "bench/xray_result.h"
#include "lesson/lesson.h"
#include "ui/canvas.h"
#include "ui/strings.h"
#include "ui/svg.h"
#include "ui/theme.h"
#include "ui/ui.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLS = 1000, MAX_ROWS = 1000, LEAST_COLS = 40, LEAST_ROWS = 10, MOST_SHOWN = 40 };

static const char usage[] =
    "usage: mmtutor frame VIEW[:STEP] [options]\n"
    "  VIEW              home, help, lesson/ID, sim/KERNEL (STEP: an id or a number)\n"
    "  --size CxR        columns and rows, default 80x24\n"
    "  --lang en|zh|auto language\n"
    "  --theme NAME      dark, light, contrast or mono\n"
    "  --pane PANE       text, sim or live, where only one has room\n"
    "  --live FILE       show this result (from mmtutor run --json, or xray --json) in the\n"
    "                    live pane\n"
    "  --ascii           only ASCII glyphs\n"
    "  --svg             write an SVG instead of text\n"
    "  --check           print what is clipped instead; without --size at every size\n";

struct options {
  const char *view, *pane, *live;
  int cols, rows;
  bool sized, ascii, svg, check;
  enum lang lang;
  bool lang_set;
  const struct theme *theme;
};

static int bad(const char *what, const char *value) {
  struct err err;
  err_set(&err, "%s '%.80s'. See mmtutor frame --help.", what, value);
  fprintf(stderr, "mmtutor frame: %s\n", err.text);
  return 2;
}

static bool parse_size(const char *s, struct options *o) {
  int cols, rows, end = 0;
  if (sscanf(s, "%dx%d%n", &cols, &rows, &end) != 2 || s[end] != '\0')
    return false;
  if (cols < 1 || rows < 1 || cols > MAX_COLS || rows > MAX_ROWS)
    return false;
  o->cols = cols;
  o->rows = rows;
  return o->sized = true;
}

static bool is_one_of(const char *s, const char *a, const char *b, const char *c) {
  return strcmp(s, a) == 0 || strcmp(s, b) == 0 || strcmp(s, c) == 0;
}

/* One option; 0 or the exit code. */
static int take_option(int c, const char *arg, struct options *o) {
  switch (c) {
  case 's':
    return parse_size(arg, o) ? 0 : bad("a size is COLUMNSxROWS, 1x1 to 1000x1000, not", arg);
  case 'l':
    if (!is_one_of(arg, "en", "zh", "auto"))
      return bad("a language is en, zh or auto, not", arg);
    o->lang = strings_lang(arg);
    o->lang_set = strcmp(arg, "auto") != 0;
    return 0;
  case 't':
    o->theme = theme_find(arg);
    return o->theme ? 0 : bad("a theme is dark, light, contrast or mono, not", arg);
  case 'p':
    o->pane = arg;
    return is_one_of(arg, "text", "sim", "live") ? 0 : bad("a pane is text, sim or live, not", arg);
  case 'v':
    o->live = arg;
    return 0;
  case 'a':
    o->ascii = true;
    return 0;
  case 'g':
    o->svg = true;
    return 0;
  case 'c':
    o->check = true;
    return 0;
  default:
    return 2;
  }
}

static const struct option long_options[] = {
    {"size", required_argument, 0, 's'},  {"lang", required_argument, 0, 'l'},
    {"theme", required_argument, 0, 't'}, {"pane", required_argument, 0, 'p'},
    {"live", required_argument, 0, 'v'},  {"ascii", no_argument, 0, 'a'},
    {"svg", no_argument, 0, 'g'},         {"check", no_argument, 0, 'c'},
    {"help", no_argument, 0, 'h'},        {0, 0, 0, 0},
};

/* Reads the command line. -1: go on; else the exit code. */
static int parse(int argc, char **argv, struct options *o) {
  opterr = 0;
  optind = 0;
  for (int c; (c = getopt_long(argc, argv, ":", long_options, NULL)) != -1;) {
    if (c == 'h') {
      fputs(usage, stdout);
      return 0;
    }
    if (c == ':')
      return bad("a value is missing behind", argv[optind - 1]);
    if (c == '?')
      return bad("unknown option", argv[optind - 1]);
    int rc = take_option(c, optarg, o);
    if (rc)
      return rc;
  }
  if (optind < argc)
    o->view = argv[optind++];
  if (optind < argc)
    return bad("one view at a time, not also", argv[optind]);
  if (!o->view && !o->check)
    return bad("a view is missing behind", "frame");
  if (o->svg && o->check)
    return bad("--check draws nothing, so it does not go with", "--svg");
  return -1;
}

static int fault(const struct err *err) {
  fprintf(stderr, "mmtutor frame: %s\n", err->text);
  return 1;
}

static ui *open_ui(const struct options *o, enum lang lang) {
  struct ui_options u = {
      .lang = lang, .theme = o->theme, .ascii = o->ascii, .worker = false, .memory_only = true};
  return ui_new(&u);
}

static bool is_xray(const cJSON *obj) {
  return cJSON_IsNumber(json_get(obj, xray_result_count_name(0)));
}

/* One result of --live: what a device measured, or what the x-ray counted. */
static bool show_one(ui *u, const cJSON *obj, struct err *err) {
  if (is_xray(obj)) {
    struct xray_result x;
    bool ok = xray_result_from_json(obj, &x, err);
    if (ok)
      ui_show_xray(u, &x);
    xray_result_done(&x);
    return ok;
  }
  struct result r;
  result_init(&r);
  bool ok = result_from_json(obj, &r, err);
  if (ok)
    ui_show_result(u, &r);
  result_done(&r);
  return ok;
}

/* The result of --live: the object itself, or the first of "runs"; of the x-ray all of them, which
 * stand beside each other. */
static bool show_live(ui *u, const char *path, struct err *err) {
  json_doc *doc = json_load(path, 0, err);
  if (!doc)
    return false;
  const cJSON *obj = json_root(doc), *runs = json_get(obj, "runs");
  const cJSON *first = cJSON_IsArray(runs) && runs->child ? runs->child : obj;
  bool ok = show_one(u, first, err);
  for (const cJSON *one = first->next; one && ok && is_xray(first); one = one->next)
    ok = show_one(u, one, err);
  if (!ok)
    err_prefix(err, "%s", path);
  json_free(doc);
  return ok;
}

/* ---- checking */

struct checker {
  const struct options *o;
  ui *u;
  canvas *cv;
  enum lang lang;
  int frames, faults;
};

static void say_fault(struct checker *k, const char *view, const char *pane, const char *what,
                      const char *text) {
  if (k->faults++ < MOST_SHOWN)
    printf("%s%s%s %dx%d %s: %s%s\n", view, *pane ? " pane " : "", pane, canvas_cols(k->cv),
           canvas_rows(k->cv), k->lang == LANG_ZH ? "zh" : "en", what, text);
}

static void check_frame(struct checker *k, const char *view, const char *pane, int cols, int rows) {
  struct err err;
  if (*pane)
    ui_show_pane(k->u, pane);
  canvas_resize(k->cv, cols, rows);
  canvas_set_ascii(k->cv, ui_ascii(k->u));
  ui_draw(k->u, k->cv);
  k->frames++;
  if (!canvas_check(k->cv, &err))
    say_fault(k, view, pane, err.text, "");
  if (cols < LEAST_COLS || rows < LEAST_ROWS)
    return;
  for (int i = 0; i < canvas_clipped(k->cv); i++)
    say_fault(k, view, pane, "clipped: ", canvas_clipped_text(k->cv, i));
}

static void check_panes(struct checker *k, const char *view, int cols, int rows) {
  static const char *const panes[] = {"text", "sim", "live"};
  bool lesson = strncmp(view, "lesson/", 7) == 0;
  if (k->o->pane || !lesson || cols >= 150) {
    check_frame(k, view, k->o->pane ? k->o->pane : "", cols, rows);
    return;
  }
  for (int i = 0; i < 3; i++)
    check_frame(k, view, panes[i], cols, rows);
}

/* One view at the tiny sizes, at the usual ones, and at widths and heights in steps of `step` that
 * begin elsewhere for every view, so that all views together see every size. */
static void check_view(struct checker *k, const char *view, int phase, int step) {
  static const int fixed[][2] = {{1, 1},    {2, 2},    {10, 5},   {20, 4},  {39, 10}, {40, 9},
                                 {200, 3},  {3, 70},   {40, 10},  {60, 20}, {80, 24}, {100, 30},
                                 {120, 40}, {150, 36}, {200, 60}, {250, 70}};
  struct err err;
  if (!ui_open(k->u, view, &err)) {
    say_fault(k, view, "", err.text, "");
    return;
  }
  if (k->o->live && !show_live(k->u, k->o->live, &err))
    say_fault(k, view, "", err.text, "");
  if (k->o->sized) {
    check_panes(k, view, k->o->cols, k->o->rows);
    return;
  }
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    check_panes(k, view, fixed[i][0], fixed[i][1]);
  for (int cols = LEAST_COLS + phase % step, i = phase; cols <= 250; cols += step, i++)
    check_panes(k, view, cols, LEAST_ROWS + (i * 7 + phase) % 61);
}

static void check_all(struct checker *k) {
  struct course *course = course_load();
  int phase = 0;
  check_view(k, "home", phase++, 1);
  check_view(k, "help", phase++, 1);
  for (int i = 0; i < COURSE_LESSONS; i++) {
    const struct lesson *l = course->entry[i].lesson;
    for (int s = 0; l && s < l->nsteps; s++) {
      char *view = alloc_printf("lesson/%s:%s", l->id, l->steps[s].id);
      check_view(k, view, phase++, 17);
      free(view);
    }
  }
  course_free(course);
}

static int check(const struct options *o) {
  struct checker k = {.o = o, .cv = canvas_new(1, 1)};
  for (int lang = 0; lang < LANGS; lang++) {
    if (o->lang_set && o->lang != (enum lang)lang)
      continue;
    k.lang = (enum lang)lang;
    k.u = open_ui(o, k.lang);
    if (o->view)
      check_view(&k, o->view, 0, 1);
    else
      check_all(&k);
    ui_free(k.u);
  }
  canvas_free(k.cv);
  if (k.faults > MOST_SHOWN)
    printf("... and %d more\n", k.faults - MOST_SHOWN);
  printf("%d frames checked, %d faults\n", k.frames, k.faults);
  return k.faults ? 1 : 0;
}

/* ---- one frame */

static int put(char *text) {
  bool ok = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
  free(text);
  if (!ok)
    fprintf(stderr, "mmtutor frame: standard output: %s\n", strerror(errno));
  return ok ? 0 : 1;
}

static int show(const struct options *o) {
  struct err err;
  ui *u = open_ui(o, o->lang);
  bool ok = ui_open(u, o->view, &err) && (!o->live || show_live(u, o->live, &err));
  int rc;
  if (ok) {
    if (o->pane)
      ui_show_pane(u, o->pane);
    canvas *cv = canvas_new(o->cols, o->rows);
    canvas_set_ascii(cv, o->ascii);
    ui_draw(u, cv);
    rc = put(o->svg ? svg_of(cv, o->theme) : canvas_to_text(cv));
    canvas_free(cv);
  } else {
    rc = fault(&err);
  }
  ui_free(u);
  return rc;
}

int frame_main(int argc, char **argv) {
  struct options o = {.cols = 80, .rows = 24, .lang = strings_lang("auto"), .theme = theme_at(0)};
  int rc = parse(argc, argv, &o);
  if (rc >= 0)
    return rc;
  return o.check ? check(&o) : show(&o);
}
