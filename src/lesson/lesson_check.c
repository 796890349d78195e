#include "lesson/lesson_check.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "lesson/answer.h"
#include "lesson/fillin.h"
#include "lesson/misconception.h"
#include "lesson/numeral.h"
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DRAWS = 512, DRAW_SEED = 1 };

struct check {
  const catalog *kernels;
  struct str *out;
  const struct lesson *l;
  const char *path; /* of the lesson's directory */
  int faults, lessons, items, draws;
};

/* ---- faults */

static void fault_at(struct check *c, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void fault_at(struct check *c, const char *file, int line, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  char *place = alloc_printf("%s/%s:%d: %s", c->path, file, line, text);
  char *clean = utf8_clean(place, strlen(place)); /* names come from the file */
  str_addf(c->out, "%s\n", clean);
  free(clean);
  free(place);
  c->faults++;
}

/* The node at list[index] of the lesson's JSON. */
static const cJSON *node_at(const struct check *c, const char *list, int index) {
  const cJSON *a = json_get(json_root(c->l->doc), list);
  const cJSON *n = a ? a->child : NULL;
  while (n && index-- > 0)
    n = n->next;
  return n;
}

static int line_of(const struct check *c, const cJSON *node) {
  return node ? json_line(c->l->doc, node) : 1;
}

#define FAULT(c, node, ...) fault_at(c, "lesson.json", line_of(c, node), __VA_ARGS__)

/* ---- members that nobody reads are mostly typing errors */

static void only_known(struct check *c, const cJSON *obj, const char *known) {
  for (const cJSON *m = cJSON_IsObject(obj) ? obj->child : NULL; m; m = m->next) {
    char *word = alloc_printf(" %s ", m->string);
    if (!strstr(known, word))
      FAULT(c, m, "unknown member \"%s\"", m->string);
    free(word);
  }
}

static void only_known_in(struct check *c, const cJSON *list, const char *known) {
  for (const cJSON *n = cJSON_IsArray(list) ? list->child : NULL; n; n = n->next)
    only_known(c, n, known);
}

static void check_members(struct check *c) {
  static const char *const places[] = {"cuda", "cpu", "xray"};
  const cJSON *root = json_root(c->l->doc), *list, *n;
  only_known(c, root, " schema id order minutes title covers sources steps experiments items ");
  only_known_in(c, json_get(root, "steps"),
                " id kind M N K params at kernel marks figure data experiment item ");
  list = json_get(root, "experiments");
  only_known_in(c, list, " id ask cuda cpu xray sweep quantity unit band not_visible ");
  for (n = list ? list->child : NULL; n; n = n->next) {
    only_known(c, json_get(n, "sweep"), " var values ");
    only_known_in(c, json_get(n, "not_visible"), " if text ");
    for (int p = 0; p < EXP_PLACES; p++) {
      only_known(c, json_get(n, places[p]), " runs band ask quantity unit ");
      only_known_in(c, json_get(json_get(n, places[p]), "runs"), " as kernel M N K params ");
    }
  }
  list = json_get(root, "items");
  only_known_in(c, list,
                " id kind tags stem draw unit key tol accept mal options shuffle steps "
                "hints solution why ");
  for (n = list ? list->child : NULL; n; n = n->next) {
    only_known_in(c, json_get(n, "accept"), " key note tag ");
    only_known_in(c, json_get(n, "mal"), " key tag say ");
    only_known_in(c, json_get(n, "options"), " text right tag say ");
  }
}

/* ---- items */

struct item_check {
  struct check *c;
  const struct item *item;
  const cJSON *node;
  int dropped[64]; /* draws in which each malrule met the key */
  int draws;
  bool key_told, near_told, text_told;
};

static char *draw_name(const struct answer_draw *d) {
  struct str s = {0};
  for (int i = 0; i < d->item->ndraw; i++) {
    const struct item_draw *draw = &d->item->draw[i];
    if (draw->labels)
      str_addf(&s, "%s%s=%s", i ? " " : "", draw->name, draw->labels[d->pick[i]]);
    else
      str_addf(&s, "%s%s=%.15g", i ? " " : "", draw->name, draw->values[d->pick[i]]);
  }
  return str_take(&s);
}

static void check_mals(struct item_check *ic, const struct answer_draw *d, const char *name) {
  const struct item *item = ic->item;
  for (int i = 0; i < item->nmal; i++) {
    double wrong, reach = answer_tolerance(d, d->key, 1);
    if (!answer_value(d, item->mal[i].key, &wrong) || fabs(wrong - d->key) <= reach) {
      ic->dropped[i]++;
      continue;
    }
    if (fabs(wrong - d->key) <= answer_tolerance(d, d->key, 2) && !ic->near_told) {
      FAULT(ic->c, ic->node,
            "item \"%s\": the malrule %s lies within twice the tolerance of the "
            "key at %s",
            item->id, item->mal[i].key, name);
      ic->near_told = true;
    }
  }
}

/* A key that the grader itself refuses would mark everybody wrong. */
static void check_key(struct item_check *ic, const struct answer_draw *d, const char *name) {
  struct answer_graded g;
  char typed[64];
  const char *unit = ic->item->unit;
  double value = NAN;
  struct expr_vars vars = d->vars;
  struct err err = {""};
  bool known = expr_eval(ic->item->key, expr_vars_lookup, &vars, &value, &err);
  if (!known && !ic->key_told) {
    FAULT(ic->c, ic->node, "item \"%s\": the key has no value at %s: %s", ic->item->id, name,
          err.text);
    ic->key_told = true;
  }
  if (!known)
    return;
  snprintf(typed, sizeof typed, "%.12e%s%s", value, *unit ? " " : "", unit);
  answer_numeric(d, typed, LANG_EN, &g);
  if (g.verdict != ANSWER_RIGHT && !ic->key_told) {
    FAULT(ic->c, ic->node, "item \"%s\": its own key %s is not graded right at %s: %s",
          ic->item->id, typed, name, g.say);
    ic->key_told = true;
  }
  answer_graded_done(&g);
  check_mals(ic, d, name);
}

static void check_text(struct item_check *ic, const struct answer_draw *d, const struct text2 *t,
                       const char *what) {
  for (int lang = 0; lang < LANGS; lang++) {
    struct err err = {""};
    if (ic->text_told || !t->in[lang] || fillin_check(d, t->in[lang], &err))
      continue;
    FAULT(ic->c, ic->node, "item \"%s\", %s: %s", ic->item->id, what, err.text);
    ic->text_told = true;
  }
}

static void check_texts(struct item_check *ic, const struct answer_draw *d) {
  const struct item *item = ic->item;
  check_text(ic, d, &item->stem, "stem");
  check_text(ic, d, &item->solution, "solution");
  check_text(ic, d, &item->why, "why");
  for (int i = 0; i < item->nhints; i++)
    check_text(ic, d, &item->hints[i], "hints");
  for (int i = 0; i < item->noptions; i++) {
    check_text(ic, d, &item->options[i].text, "options");
    check_text(ic, d, &item->options[i].say, "say of an option");
  }
  for (int i = 0; i < item->nmal; i++)
    check_text(ic, d, &item->mal[i].say, "say of a malrule");
  for (int i = 0; i < item->naccept; i++)
    check_text(ic, d, &item->accept[i].say, "note");
  for (int i = 0; i < item->norder; i++)
    check_text(ic, d, &item->order_steps[i], "steps");
}

static void check_draw(struct item_check *ic, const int *pick) {
  struct answer_draw d;
  answer_draw_at(&d, ic->item, DRAW_SEED, pick);
  char *name = draw_name(&d);
  if (ic->item->kind == ITEM_NUMERIC)
    check_key(ic, &d, name);
  check_texts(ic, &d);
  free(name);
  answer_done(&d);
  ic->draws++;
}

/* All draws where they are few, else a fixed sample of them. */
static void each_draw(struct item_check *ic) {
  const struct item *item = ic->item;
  int pick[ANSWER_DRAWS] = {0};
  double all = 1;
  for (int i = 0; i < item->ndraw; i++)
    all *= item->draw[i].n;
  struct rand r;
  rand_seed(&r, DRAW_SEED);
  for (int k = 0; k < MAX_DRAWS && k < all; k++) {
    int rest = k;
    for (int i = 0; i < item->ndraw; i++) {
      int n = item->draw[i].n;
      pick[i] = all > MAX_DRAWS ? (int)rand_below(&r, (uint64_t)n) : rest % n;
      rest /= n;
    }
    check_draw(ic, pick);
  }
}

static void check_item(struct check *c, int index) {
  const struct item *item = &c->l->items[index];
  struct item_check ic = {.c = c, .item = item, .node = node_at(c, "items", index)};
  if (item->kind == ITEM_NUMERIC && !item->solution.in[LANG_EN])
    FAULT(c, ic.node, "item \"%s\" has no \"solution\"", item->id);
  if (item->kind != ITEM_NUMERIC && !item->why.in[LANG_EN] && !item->solution.in[LANG_EN])
    FAULT(c, ic.node, "item \"%s\" has neither \"why\" nor \"solution\"", item->id);
  for (int i = 0; i < item->ntags; i++)
    if (!misconception_text(item->tags[i], LANG_EN))
      FAULT(c, ic.node, "item \"%s\": the tag \"%s\" is not in assets/misconceptions.json",
            item->id, item->tags[i]);
  each_draw(&ic);
  for (int i = 0; i < item->nmal; i++)
    if (ic.dropped[i] == ic.draws && !ic.key_told)
      FAULT(c, ic.node, "item \"%s\": the malrule %s meets the key, or has no value, in every draw",
            item->id, item->mal[i].key);
  c->items++;
  c->draws += ic.draws;
}

/* ---- experiments */

/* Gives every name a value that an experiment may use: AS.field of its runs and the sweep variable.
 */
struct exp_names {
  const struct exp_side *side;
  const char *sweep;
  bool counts; /* of the x-ray, which knows no time */
};

static const char *field_name(const struct exp_names *names, int i) {
  static const char *const times[] = {"gflops", "ms", "gbs", "ratio", "share", NULL};
  return names->counts ? lesson_count_name(i) : times[i];
}

static bool exp_lookup(void *ctx, const char *name, double *value) {
  const struct exp_names *names = ctx;
  *value = 1.5; /* any value but 0 and 1, which hide divisions and powers */
  if (names->sweep && strcmp(name, names->sweep) == 0)
    return true;
  for (int i = 0; i < names->side->nruns; i++) {
    size_t n = strlen(names->side->runs[i].as);
    if (strncmp(name, names->side->runs[i].as, n) != 0 || name[n] != '.')
      continue;
    for (int f = 0; field_name(names, f); f++)
      if (strcmp(name + n + 1, field_name(names, f)) == 0)
        return true;
  }
  return false;
}

static void check_expr(struct check *c, const cJSON *node, const char *what, const char *text,
                       struct exp_names *names) {
  struct err err = {""};
  double value;
  if (!expr_eval(text, exp_lookup, names, &value, &err))
    FAULT(c, node, "%s %s: %s", what, text, err.text);
}

static void check_kernel(struct check *c, const cJSON *node, const char *id) {
  struct err err = {""};
  if (!c->kernels || catalog_find(c->kernels, id))
    return;
  catalog_unknown(c->kernels, id, &err);
  FAULT(c, node, "%s", err.text);
}

/* A number over the sweep variable, at one value of it; 0 where it is absent. */
static double size_at(const char *text, const char *var, double at) {
  struct expr_vars vars = {0};
  double value = 0;
  if (var)
    expr_vars_set(&vars, var, at);
  if (!text)
    value = var && strcmp(var, "n") == 0 ? at : 0;
  else if (!expr_eval(text, expr_vars_lookup, &vars, &value, NULL))
    value = 0;
  expr_vars_free(&vars);
  return value;
}

static void check_run(struct check *c, const cJSON *node, const struct experiment *e,
                      const struct exp_run *run) {
  check_kernel(c, node, run->kernel);
  const struct kernel *k = c->kernels ? catalog_find(c->kernels, run->kernel) : NULL;
  if (!k)
    return;
  for (int i = 0; i < (e->sweep_var ? e->nsweep : 1); i++) {
    double at = e->sweep_var ? e->sweep[i] : 0, size[3];
    const char *texts[3] = {run->M, run->N, run->K}, *vars[3] = {"M", "N", "K"};
    for (int j = 0; j < 3; j++) {
      bool swept = e->sweep_var && strcmp(e->sweep_var, vars[j]) == 0;
      size[j] = swept ? at : size_at(texts[j], e->sweep_var, at);
    }
    if (!(size[0] >= 1 && size[1] >= 1 && size[2] >= 1 && size[0] * size[1] * size[2] < 1e18)) {
      FAULT(c, node, "run \"%s\": M, N and K have no value", run->as);
      return;
    }
    struct kernel_size s =
        kernel_size_default(k, (int64_t)size[0], (int64_t)size[1], (int64_t)size[2]);
    struct err err = {""};
    bool ok = true;
    for (int p = 0; p < run->params.n && ok; p++)
      ok = kernel_set_param(k, &s, run->params.v[p].name, run->params.v[p].value, &err);
    bool param = e->sweep_var && strcmp(e->sweep_var, "n") != 0 && strlen(e->sweep_var) > 0 &&
                 strcmp(e->sweep_var, "M") != 0 && strcmp(e->sweep_var, "N") != 0 &&
                 strcmp(e->sweep_var, "K") != 0;
    if (ok && param && k->nparams)
      ok = kernel_set_param(k, &s, e->sweep_var, at, &err);
    if (!ok || !kernel_accepts(k, &s, &err)) {
      FAULT(c, node, "run \"%s\": %s", run->as, err.text);
      return;
    }
  }
}

/* The x-ray executes CUDA kernels. */
static void check_target(struct check *c, const cJSON *node, const struct exp_run *run, int place) {
  const struct kernel *k = c->kernels ? catalog_find(c->kernels, run->kernel) : NULL;
  if (k && place == EXP_XRAY && k->target != KERNEL_CUDA)
    FAULT(c, node, "run \"%s\": the x-ray runs CUDA kernels, and %s is none", run->as, k->id);
}

static void check_experiment(struct check *c, int index) {
  const struct experiment *e = &c->l->experiments[index];
  const cJSON *node = node_at(c, "experiments", index);
  if (!e->nnot_visible)
    FAULT(c, node, "experiment \"%s\" has no \"not_visible\"", e->id);
  for (int p = 0; p < EXP_PLACES; p++) {
    static const char *const places[] = {"cuda", "cpu", "xray"};
    struct exp_names names = {&e->side[p], e->sweep_var, p == EXP_XRAY};
    const cJSON *side = json_get(node, places[p]), *run;
    if (!e->side[p].nruns)
      continue;
    if (!e->band_low[p]) {
      FAULT(c, side, "experiment \"%s\", %s: no \"band\"", e->id, places[p]);
    } else {
      check_expr(c, side, "band", e->band_low[p], &names);
      check_expr(c, side, "band", e->band_high[p], &names);
    }
    check_expr(c, side, "quantity", lesson_quantity(e, p), &names);
    if (e->side[p].quantity && e->ask.in[LANG_EN] && !e->side[p].ask.in[LANG_EN])
      FAULT(c, side, "experiment \"%s\", %s: a \"quantity\" of its own needs an \"ask\"", e->id,
            places[p]);
    for (int i = 0; i < e->nnot_visible && !e->side[p].quantity; i++)
      check_expr(c, side, "the \"if\"", e->not_visible[i].cond, &names);
    run = json_get(side, "runs");
    run = run ? run->child : NULL;
    for (int i = 0; i < e->side[p].nruns && run; i++, run = run->next) {
      check_run(c, run, e, &e->side[p].runs[i]);
      check_target(c, run, &e->side[p].runs[i], p);
    }
  }
}

/* ---- steps and prose */

static bool has_mark(const struct kernel *k, const char *name) {
  struct kernel_mark *marks;
  int n;
  bool found = false;
  char *text = kernel_shown(k, &marks, &n);
  for (int i = 0; i < n; i++) {
    found = found || strcmp(marks[i].name, name) == 0;
    free(marks[i].name);
  }
  free(marks);
  free(text);
  return found;
}

static void check_steps(struct check *c) {
  for (int i = 0; i < c->l->nsteps; i++) {
    const struct step *s = &c->l->steps[i];
    const cJSON *node = node_at(c, "steps", i);
    if (!s->kernel)
      continue;
    check_kernel(c, node, s->kernel);
    const struct kernel *k = c->kernels ? catalog_find(c->kernels, s->kernel) : NULL;
    for (int m = 0; m < s->nmarks && k; m++)
      if (!has_mark(k, s->marks[m]))
        FAULT(c, node, "step \"%s\": %s has no line marked \"%s\"", s->id, s->kernel, s->marks[m]);
  }
}

/* True if a number with the unit of a measured quantity begins at p; *len gets its bytes. */
static bool typed_quantity(const char *p, size_t *len) {
  static const char *const units[] = {"GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "ms", "us"};
  size_t n = strspn(p, "0123456789.,");
  if (!isdigit((unsigned char)*p))
    return false;
  const char *u = p + n + (p[n] == ' ');
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    size_t m = strlen(units[i]);
    if (strncmp(u, units[i], m) == 0 && !isalnum((unsigned char)u[m])) {
      *len = (size_t)(u - p) + m;
      return true;
    }
  }
  return false;
}

/* A number typed beside a computed one goes stale as soon as the computed one changes. */
static void check_typed(struct check *c, const char *file, int at, const char *id,
                        const char *text) {
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n', at++) {
    size_t n = strcspn(line, "\n"), len = 0;
    char *copy = alloc_strn(line, n);
    const char *number = numeral_find(copy, &len);
    for (const char *p = copy; number && *p;) {
      size_t used = 1;
      if (p == number) {
        used = len;
        number = numeral_find(p + used, &len);
        number = number ? number : copy + n;
      } else if (typed_quantity(p, &used)) {
        fault_at(c, file, at,
                 "section \"%s\": \"%.*s\" is typed by hand beside an expression; "
                 "write it as {{...}} too",
                 id, (int)used, p);
      } else {
        used += strspn(p + 1, "0123456789.,") * (size_t)(isdigit((unsigned char)*p) != 0);
      }
      p += used;
    }
    free(copy);
  }
}

static bool note_used(const struct lesson *l, const char *id) {
  for (int i = 0; i < l->nexperiments; i++)
    for (int j = 0; j < l->experiments[i].nnot_visible; j++)
      if (strcmp(l->experiments[i].not_visible[j].step, id) == 0)
        return true;
  return false;
}

static void check_prose(struct check *c) {
  static const char *const file[LANGS] = {"en.md", "zh.md"};
  for (int lang = 0; lang < LANGS; lang++) {
    for (int i = 0; i < c->l->nsteps; i++)
      check_typed(c, file[lang], c->l->steps[i].line[lang], c->l->steps[i].id,
                  c->l->steps[i].prose[lang]);
    for (int i = 0; i < c->l->nnotes; i++)
      check_typed(c, file[lang], c->l->notes[i].line[lang], c->l->notes[i].id,
                  c->l->notes[i].prose[lang]);
  }
  for (int i = 0; i < c->l->nnotes; i++)
    if (!note_used(c->l, c->l->notes[i].id))
      fault_at(c, "en.md", c->l->notes[i].line[LANG_EN],
               "section \"%s\" is no step, and no \"not_visible\" names it", c->l->notes[i].id);
}

/* ---- one lesson, all lessons */

static void check_place(struct check *c) {
  const char *want = course_dir(c->l->id);
  const cJSON *root = json_root(c->l->doc);
  if (!want)
    FAULT(c, json_get(root, "id"), "the course has no lesson \"%s\"", c->l->id);
  else if (strcmp(want, c->l->dir) != 0)
    FAULT(c, json_get(root, "id"), "lesson \"%s\" belongs into the directory %s", c->l->id, want);
  else if (c->l->order != atoi(want))
    FAULT(c, json_get(root, "order"), "\"order\" is %d, the directory says %d", c->l->order,
          atoi(want));
  if (!c->l->minutes)
    FAULT(c, root, "\"minutes\" is missing");
  if (!c->l->nsources)
    FAULT(c, root, "\"sources\" is missing or empty");
}

static void check_one(struct check *c, const char *path) {
  struct err err = {""};
  struct lesson *l = lesson_load(path, &err);
  c->lessons++;
  if (!l) {
    str_addf(c->out, "%s\n", err.text);
    c->faults++;
    return;
  }
  c->l = l;
  c->path = path;
  check_place(c);
  check_members(c);
  check_steps(c);
  for (int i = 0; i < l->nexperiments; i++)
    check_experiment(c, i);
  for (int i = 0; i < l->nitems; i++)
    check_item(c, i);
  check_prose(c);
  c->l = NULL;
  lesson_free(l);
}

static int is_lesson_dir(const struct dirent *e) {
  return isdigit((unsigned char)e->d_name[0]) && isdigit((unsigned char)e->d_name[1]) &&
         e->d_name[2] == '-';
}

static void check_all(struct check *c, const char *path) {
  struct dirent **names;
  int n = scandir(path, &names, is_lesson_dir, alphasort);
  for (int i = 0; i < n; i++) {
    char *one = alloc_printf("%s/%s", path, names[i]->d_name);
    check_one(c, one);
    free(one);
    free(names[i]);
  }
  if (n >= 0)
    free(names);
  if (n <= 0) {
    struct err err;
    err_set(&err, "%s:1: no lesson here; a lesson's directory is named like 06-tiling", path);
    str_addf(c->out, "%s\n", err.text);
    c->faults++;
  }
}

int lesson_check(const char *path, const catalog *c, struct str *faults, struct str *checked) {
  struct check check = {.kernels = c, .out = faults};
  struct stat st;
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/')
    n--;
  char *dir = alloc_strn(path, n), *json = alloc_printf("%s/lesson.json", dir);
  if (n > 12 && strcmp(dir + n - 12, "/lesson.json") == 0)
    dir[n - 12] = '\0';
  if (*misconception_complaint()) {
    str_addf(faults, "%s\n", misconception_complaint());
    check.faults++;
  }
  if (strcmp(dir, path) != 0 && strstr(path, "/lesson.json"))
    check_one(&check, dir);
  else if (lstat(json, &st) == 0)
    check_one(&check, dir);
  else
    check_all(&check, dir);
  str_addf(checked, "%d lesson%s, %d items, %d draws: %d fault%s", check.lessons,
           check.lessons == 1 ? "" : "s", check.items, check.draws, check.faults,
           check.faults == 1 ? "" : "s");
  free(dir);
  free(json);
  return check.faults;
}
