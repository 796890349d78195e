/* Lessons: structure, items and experiments from lesson.json, prose from en.md and zh.md
 * (docs/contracts.md 3). Pure data: nothing here runs, draws or saves. */
#ifndef MM_LESSON_LESSON_H
#define MM_LESSON_LESSON_H

#include "base/expr.h"
#include "base/json.h"
#include "base/str.h"
#include "kernels/catalog.h"

enum lang { LANG_EN, LANG_ZH, LANGS };

/* A short text in both languages. */
struct text2 {
  char *in[LANGS];
};

enum step_kind {
  STEP_TEXT,
  STEP_FIGURE,
  STEP_SIM,
  STEP_CODE,
  STEP_PREDICT,
  STEP_RUN,
  STEP_ITEM,
  STEP_INTERVIEW,
  STEP_SUMMARY
};

struct step {
  char *id;
  enum step_kind kind;
  struct text2 title; /* from the heading of its prose: `## id Title` */
  char *prose[LANGS]; /* Markdown with {{...}}, "" if none */
  int line[LANGS];    /* of the prose in en.md and zh.md; 0 if none */
  char *figure;       /* FIGURE: name; data in figure_data */
  const cJSON *figure_data;
  char *kernel;            /* SIM, CODE */
  int64_t M, N, K;         /* SIM; also the step's sizes for prose (0 if none) */
  struct expr_vars params; /* SIM: parameters by name */
  int at;                  /* SIM: step of the walk to open at */
  char **marks;            /* CODE: names of lines to mark */
  int nmarks;
  char *experiment; /* PREDICT, RUN */
  char *item;       /* ITEM */
};

enum { EXP_CUDA, EXP_CPU, EXP_XRAY, EXP_PLACES };

struct exp_run {
  char *as, *kernel;
  char *M, *N, *K; /* expressions over the sweep variable, or numbers */
  struct expr_vars params;
};

struct exp_side { /* what is run in one place: cuda, cpu or xray */
  struct exp_run *runs;
  int nruns;
  struct text2 ask;      /* its own question, quantity and unit; NULLs: the experiment's */
  char *quantity, *unit; /* the x-ray's quantity is over AS.gld_sectors and the other counts */
};

struct experiment {
  char *id;
  struct text2 ask; /* the question of the prediction: "How much faster is tiled than naive?" */
  struct exp_side side[EXP_PLACES];
  char *sweep_var; /* NULL if no sweep */
  double *sweep;
  int nsweep;
  char *quantity, *unit; /* expression over AS.gflops AS.ms AS.gbs AS.ratio AS.share */
  char *band_low[EXP_PLACES],
      *band_high[EXP_PLACES]; /* expressions; NULL where the place is absent */
  struct {
    char *cond, *step;
  } * not_visible;
  int nnot_visible;
};

enum item_kind { ITEM_CHOICE, ITEM_NUMERIC, ITEM_ORDER, ITEM_FILL, ITEM_BUG, ITEM_READ };

struct item_option { /* choice */
  struct text2 text, say;
  bool right;
  char *tag;
};

struct item_mal { /* a wrong way and what to say of it */
  char *key, *tag;
  struct text2 say;
};

struct item {
  char *id;
  enum item_kind kind;
  char **tags;
  int ntags;
  struct text2 stem; /* may hold {name} and {{expr|unit}} */
  struct item_draw {
    char name[32];
    double *values;         /* of rows: 0, 1, 2 ... */
    char **labels;          /* for draws of named rows; NULL for plain numbers */
    struct expr_vars *rows; /* of rows: the variables each gives; NULL for plain numbers */
    int n;
  } * draw;
  int ndraw;
  char *unit, *key, *tol; /* numeric: tol "2%", "abs2", "exact" */
  struct item_mal *accept, *mal;
  int naccept, nmal;
  struct item_option *options;
  int noptions;
  bool shuffle;
  struct text2 *order_steps; /* order: in the right order */
  int norder;
  struct text2 hints[3];
  int nhints;
  struct text2 solution, why;
};

/* A section of the prose that is no step: shown where an experiment's not_visible names it. */
struct note {
  char *id;
  struct text2 title;
  char *prose[LANGS];
  int line[LANGS];
};

struct lesson {
  char *id, *dir; /* "tiling", "06-tiling" */
  int order, minutes;
  struct text2 title;
  char **covers, **sources;
  int ncovers, nsources;
  struct step *steps;
  int nsteps;
  struct note *notes;
  int nnotes;
  struct experiment *experiments;
  int nexperiments;
  struct item *items;
  int nitems;
  json_doc *doc; /* keeps figure_data alive */
};

/* Loads one directory. Strict: ids unique and well-formed, both languages complete, every reference
 * resolves, every expression parses. NULL with "file:line: what". Free with lesson_free. */
struct lesson *lesson_load(const char *dir, struct err *err);

/* The same from texts; name ("lessons/06-tiling") stands in messages, and its last part is `dir`.
 */
struct lesson_texts {
  const char *name, *json, *prose[LANGS];
  size_t njson, nprose[LANGS];
};
struct lesson *lesson_parse(const struct lesson_texts *t, struct err *err);
void lesson_free(struct lesson *l);
const struct item *lesson_item(const struct lesson *l, const char *id);
const struct experiment *lesson_experiment(const struct lesson *l, const char *id);
const struct note *lesson_note(const struct lesson *l, const char *id);
int lesson_step(const struct lesson *l,
                const char *id); /* index, or -1; a number from 1 also counts */

/* What an experiment asks in a place (EXP_CUDA ...), and what answers it: the place's own, else the
 * experiment's. */
const struct text2 *lesson_ask(const struct experiment *e, int place);
const char *lesson_quantity(const struct experiment *e, int place);
const char *lesson_unit(const struct experiment *e, int place);

/* The name under which the prediction of a step is kept: the step's, or, where the place asks a
 * question of its own, another. */
enum { LESSON_KEY = 96 };
void lesson_prediction_key(const struct experiment *e, int place, const char *step,
                           char key[LESSON_KEY]);

/* Names of what the x-ray counts, as a quantity has them behind the dot; NULL behind the last. */
const char *lesson_count_name(int i);

/* Title and prose of the section of that id, a step or a note; false if there is none. */
bool lesson_section(const struct lesson *l, const char *id, enum lang lang, const char **title,
                    const char **prose);

/* The course and the authors' check build on this header and are part of it. */
#include "lesson/course.h"
#include "lesson/lesson_check.h"

#endif
