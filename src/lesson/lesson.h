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
  struct text2 title;  /* from the heading of its prose: `## id Title` */
  char *prose[LANGS];  /* Markdown with {{...}}, "" if none */
  char *figure;        /* FIGURE: name; data in figure_data */
  const cJSON *figure_data;
  char *kernel;        /* SIM, CODE */
  int64_t M, N, K;     /* SIM; also the step's sizes for prose (0 if none) */
  struct expr_vars params; /* SIM: parameters by name */
  int at;              /* SIM: step of the walk to open at */
  char **marks;        /* CODE: names of lines to mark */
  int nmarks;
  char *experiment;    /* PREDICT, RUN */
  char *item;          /* ITEM */
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
};

struct experiment {
  char *id;
  struct text2 ask; /* the question of the prediction: "How much faster is tiled than naive?" */
  struct exp_side side[EXP_PLACES];
  char *sweep_var; /* NULL if no sweep */
  double *sweep;
  int nsweep;
  char *quantity, *unit; /* expression over AS.gflops AS.ms AS.gbs AS.ratio AS.share */
  char *band_low[EXP_PLACES], *band_high[EXP_PLACES]; /* expressions */
  struct {
    char *cond, *step;
  } *not_visible;
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
    double *values;
    char **labels; /* for draws of named rows; NULL for plain numbers */
    int n;
  } *draw;
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

struct lesson {
  char *id, *dir; /* "tiling", "06-tiling" */
  int order, minutes;
  struct text2 title;
  char **covers, **sources;
  int ncovers, nsources;
  struct step *steps;
  int nsteps;
  struct experiment *experiments;
  int nexperiments;
  struct item *items;
  int nitems;
  json_doc *doc; /* keeps figure_data alive */
};

/* Loads one directory. Strict: ids unique and well-formed, both languages complete, every reference
 * resolves, every expression parses. NULL with "file:line: what". Free with lesson_free. */
struct lesson *lesson_load(const char *dir, struct err *err);
void lesson_free(struct lesson *l);
const struct item *lesson_item(const struct lesson *l, const char *id);
const struct experiment *lesson_experiment(const struct lesson *l, const char *id);
int lesson_step(const struct lesson *l, const char *id); /* index, or -1; a number from 1 also counts */

/* The course: the nineteen ids in their order, each with its lesson if it is there. */
enum { COURSE_LESSONS = 19 };
struct course {
  struct course_entry {
    char dir[32], id[24];
    struct lesson *lesson; /* NULL: not written yet, or damaged */
    char *broken;          /* the sentence with file and line, or NULL */
    struct text2 title;    /* known even where the lesson is not written */
    int minutes;
  } entry[COURSE_LESSONS];
};

/* Loads all lessons below the data directory's lessons/ (or embedded). One damaged lesson does not harm
 * the others. Cannot fail. */
struct course *course_load(void);
void course_free(struct course *c);
const struct course_entry *course_find(const struct course *c, const char *id); /* NULL if unknown */

/* The authors' check of a lessons directory or of one lesson: appends "file:line: what" lines for
 * every fault (same ids in both languages; every key recomputed for every draw; no malrule within twice
 * the tolerance of the key unless dropped for that draw; experiments with band and not_visible; step,
 * kernel and item references; numbers in prose typed by hand beside an expression). Returns the number of
 * faults; `checked` gets a summary line. */
int lesson_check(const char *path, const catalog *c, struct str *faults, struct str *checked);

#endif
