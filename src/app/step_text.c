#include "app/step_text.h"

#include "base/alloc.h"
#include "base/sentences.h"
#include "base/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void step_text_say(const struct step_text *t, enum saying s, const char *a, const char *b,
                   const char *c) {
  char *text = sayings_fill(s, t->lang, a, b, c);
  paper_text(t->paper, 0, "", text);
  free(text);
}

void step_text_sentence(const struct step_text *t, const char *english) {
  char *text = sentences_in(english, t->lang == LANG_ZH);
  paper_text(t->paper, 0, "", text);
  free(text);
}

void step_text_failed(const struct step_text *t, const char *english) {
  char *text = sentences_in(english, t->lang == LANG_ZH);
  step_text_say(t, SAY_RUN_FAILED, text, NULL, NULL);
  free(text);
}

static void put_markdown(const struct step_text *t, const char *markdown) {
  struct prose_source source = values_source(t->values);
  struct prose *prose = prose_render(markdown, &source);
  paper_prose(t->paper, prose);
  prose_free(prose);
}

void step_text_section(const struct step_text *t, const char *id) {
  const char *prose;
  if (lesson_section(t->lesson, id, t->lang, NULL, &prose))
    put_markdown(t, prose);
}

char *step_text_size(const struct kernel *k, const struct kernel_size *size) {
  struct str s = {0};
  str_addf(&s, "M = %lld, N = %lld, K = %lld", (long long)size->M, (long long)size->N,
           (long long)size->K);
  for (int i = 0; i < k->nparams; i++)
    str_addf(&s, ", %s = %.15g", k->params[i].name, size->param[i]);
  return str_take(&s);
}

/* ---- what a step shows besides its prose */

static void put_sim(const struct step_text *t, const struct step *s) {
  char *command = alloc_printf("mmtutor frame sim/%s:%d", s->kernel, s->at);
  struct str size = {0};
  str_addf(&size, "M = %lld, N = %lld, K = %lld", (long long)s->M, (long long)s->N,
           (long long)s->K);
  for (int i = 0; i < s->params.n; i++)
    str_addf(&size, ", %s = %.15g", s->params.v[i].name, s->params.v[i].value);
  step_text_say(t, SAY_SIM, s->kernel, size.data, NULL);
  step_text_say(t, SAY_SIM_SHOW, command, NULL, NULL);
  str_free(&size);
  free(command);
}

static bool is_marked(const struct step *s, const struct kernel_mark *marks, int nmarks, int line) {
  for (int i = 0; i < nmarks; i++)
    for (int j = 0; j < s->nmarks && marks[i].line == line; j++)
      if (strcmp(marks[i].name, s->marks[j]) == 0)
        return true;
  return false;
}

static void put_listing(const struct step_text *t, const struct step *s, const struct kernel *k) {
  struct kernel_mark *marks;
  int nmarks, line = 1;
  char *code = kernel_shown(k, &marks, &nmarks);
  for (const char *p = code; *p; line++) {
    size_t n = strcspn(p, "\n");
    char *one = alloc_printf("%s%.*s", is_marked(s, marks, nmarks, line) ? "> " : "  ", (int)n, p);
    paper_lines(t->paper, 2, n ? one : "\n");
    free(one);
    p += n + (p[n] == '\n');
  }
  for (int i = 0; i < nmarks; i++)
    free(marks[i].name);
  free(marks);
  free(code);
}

static void put_code(const struct step_text *t, const struct step *s) {
  const struct kernel *k = catalog_find(t->values->kernels, s->kernel);
  if (!k) {
    step_text_say(t, SAY_NO_KERNEL, s->kernel, NULL, NULL);
    return;
  }
  step_text_say(t, SAY_CODE, s->kernel, NULL, NULL);
  if (s->nmarks)
    step_text_say(t, SAY_CODE_MARKED, NULL, NULL, NULL);
  paper_gap(t->paper);
  put_listing(t, s, k);
}

int step_text_place(const struct step_text *t, const struct experiment *e) {
  static const int order[2][EXP_PLACES] = {{EXP_CUDA, EXP_CPU, EXP_XRAY},
                                           {EXP_XRAY, EXP_CPU, EXP_CUDA}};
  const int *place = order[t->no_gpu];
  while (!e->side[*place].nruns)
    place++;
  return *place;
}

static void put_runs(const struct step_text *t, const struct experiment *e) {
  const struct exp_side *side = &e->side[step_text_place(t, e)];
  for (int i = 0; i < side->nruns; i++) {
    const struct exp_run *run = &side->runs[i];
    const struct kernel *k = catalog_find(t->values->kernels, run->kernel);
    struct kernel_size size;
    double at = e->sweep_var ? e->sweep[0] : NAN;
    struct err err = {""};
    if (!k || !values_run_size(t->values, e, run, at, &size, &err)) {
      step_text_failed(t, k ? err.text : run->kernel);
      continue;
    }
    struct str text = {0};
    char *numbers = step_text_size(k, &size);
    str_add(&text, numbers);
    for (int j = 0; j < e->nsweep; j++) {
      if (j == 0)
        str_addf(&text, "; %s = ", e->sweep_var);
      str_addf(&text, "%s%.15g", j ? ", " : "", e->sweep[j]);
    }
    free(numbers);
    step_text_say(t, SAY_RUN, run->as, run->kernel, text.data);
    str_free(&text);
  }
}

static void put_figure(const struct step_text *t, const struct step *s) {
  char *command = alloc_printf("mmtutor frame lesson/%s:%s", t->lesson->id, s->id);
  step_text_say(t, SAY_FIGURE, s->figure, command, NULL);
  free(command);
}

static void put_extra(const struct step_text *t, const struct step *s) {
  const struct experiment *e = s->experiment ? lesson_experiment(t->lesson, s->experiment) : NULL;
  switch (s->kind) {
  case STEP_SIM:
    paper_gap(t->paper);
    put_sim(t, s);
    break;
  case STEP_FIGURE:
    paper_gap(t->paper);
    put_figure(t, s);
    break;
  case STEP_CODE:
    paper_gap(t->paper);
    put_code(t, s);
    break;
  case STEP_PREDICT:
    paper_gap(t->paper);
    step_text_say(t, SAY_PREDICT, lesson_ask(e, step_text_place(t, e))->in[t->lang], NULL, NULL);
    break;
  case STEP_RUN:
    paper_gap(t->paper);
    put_runs(t, e);
    break;
  case STEP_TEXT:
  case STEP_ITEM:
  case STEP_INTERVIEW:
  case STEP_SUMMARY:
    break;
  }
}

void step_text_put(const struct step_text *t, int index) {
  const struct step *s = &t->lesson->steps[index];
  char *i = alloc_printf("%d", index + 1), *n = alloc_printf("%d", t->lesson->nsteps);
  const char *title = s->title.in[t->lang];
  char *head = sayings_fill(*title ? SAY_STEP : SAY_STEP_PLAIN, t->lang, i, n, title);
  paper_gap(t->paper);
  paper_title(t->paper, head, '-');
  free(head);
  free(i);
  free(n);
  t->values->lesson = t->lesson;
  t->values->step = s;
  put_markdown(t, s->prose[t->lang]);
  put_extra(t, s);
}

/* ---- items */

/* The texts of items are Markdown too: `code` and **strong**; their numbers are filled in already.
 */
static void put_item_text(const struct step_text *t, const char *marker, char *text) {
  struct prose *prose = prose_render(text, NULL);
  if (*marker && prose->nblocks == 1 && prose->blocks[0].kind == PROSE_PARAGRAPH) {
    struct str s = {0};
    for (int i = 0; i < prose->blocks[0].nruns; i++) {
      bool code = prose->blocks[0].runs[i].style == PROSE_INLINE_CODE;
      str_addf(&s, "%s%s%s", code ? "`" : "", prose->blocks[0].runs[i].text, code ? "`" : "");
    }
    paper_text(t->paper, 0, marker, s.data ? s.data : "");
    str_free(&s);
  } else if (*marker) {
    paper_text(t->paper, 0, marker, text);
  } else {
    paper_prose(t->paper, prose);
  }
  prose_free(prose);
  free(text);
}

void step_text_item(const struct step_text *t, const struct answer_draw *d) {
  const struct item *item = d->item;
  paper_gap(t->paper);
  put_item_text(t, "", answer_stem(d, t->lang));
  paper_gap(t->paper);
  if (item->kind == ITEM_ORDER)
    step_text_say(t, SAY_ORDER, NULL, NULL, NULL);
  for (int i = 0; i < d->noptions; i++) {
    const struct text2 *text = item->kind == ITEM_ORDER ? &item->order_steps[d->option[i]]
                                                        : &item->options[d->option[i]].text;
    char marker[] = {(char)('a' + i), ')', ' ', '\0'};
    put_item_text(t, marker, answer_text(d, text, t->lang));
  }
  if (item->kind == ITEM_NUMERIC && *item->unit)
    step_text_say(t, SAY_UNIT, item->unit, NULL, NULL);
}

static void put_if(const struct step_text *t, enum saying s, const struct answer_draw *d,
                   const struct text2 *text) {
  char *filled = answer_text(d, text, t->lang);
  if (*filled)
    step_text_say(t, s, filled, NULL, NULL);
  free(filled);
}

void step_text_answer(const struct step_text *t, const struct answer_draw *d) {
  char *right = answer_right(d, t->lang);
  step_text_say(t, SAY_ANSWER, right, NULL, NULL);
  free(right);
  put_if(t, SAY_SOLUTION, d, &d->item->solution);
  put_if(t, SAY_WHY, d, &d->item->why);
}
