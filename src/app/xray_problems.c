#include "app/xray_problems.h"

#include "app/xray_source.h"
#include "base/alloc.h"
#include "base/sentences.h"
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 };

int xray_problems_errors(const struct xray_result *r) {
  int n = 0;
  for (int i = 0; i < r->nproblems; i++)
    n += r->problems[i].error;
  return n;
}

static void put_title(struct xray_page *p, const struct xray_problem *q) {
  char *warning = xray_page_say(p, XW_WARNING, NULL, NULL);
  xray_page_left(p, INK_BAD, q->error ? xray_page_mark(p, true) : "!", INDENT);
  xray_page_ink(p, INK_BAD, xray_words_title(q->kind, p->lang));
  if (!q->error) {
    xray_page_pad(p, 1);
    xray_page_ink(p, INK_PLAIN, warning);
  }
  if (q->line > 0)
    str_addf(&p->out, "  %s:%d", q->file, q->line);
  str_addc(&p->out, '\n');
  free(warning);
}

static char *triple(const int64_t v[3]) {
  return alloc_printf("%lld, %lld, %lld", (long long)v[0], (long long)v[1], (long long)v[2]);
}

/* Where it was met first, and how often. */
static void put_where(struct xray_page *p, const struct xray_problem *q) {
  char *block = triple(q->block), *thread = triple(q->thread);
  char *times = xray_page_exact((double)q->times);
  char *at = xray_page_say(p, XW_AT, block, thread);
  char *met = xray_page_say(p, XW_TIMES, times, NULL);
  char *both = alloc_printf("%s%s%s", at,
                            q->times <= 1        ? ""
                            : p->lang == LANG_ZH ? "；"
                                                 : "; ",
                            q->times > 1 ? met : "");
  xray_page_text(p, INDENT, INK_DIM, both);
  free(both);
  free(met);
  free(at);
  free(times);
  free(thread);
  free(block);
}

/* The line of the other access of a race, as the sentence names it ("... at line 14 ..."); 0 if it
 * names none. */
static int other_line(const struct xray_problem *q) {
  const char *at = strstr(q->detail, " line ");
  bool race = q->kind == XRAY_RACE_SHARED || q->kind == XRAY_RACE_WARP ||
              q->kind == XRAY_RACE_GLOBAL || q->kind == XRAY_CP_ASYNC_UNWAITED;
  return race && at ? (int)strtol(at + strlen(" line "), NULL, 10) : 0;
}

static void put_problem(struct xray_page *p, const struct xray_result *r,
                        const struct xray_problem *q) {
  char *detail = sentences_in(q->detail, p->lang == LANG_ZH);
  int other = other_line(q);
  put_title(p, q);
  if (q->line > 0)
    xray_source_quote(p, r, q->file, q->line, xray_page_mark(p, true), INK_BAD);
  if (other > 0 && other != q->line)
    xray_source_quote(p, r, q->file, other, xray_page_mark(p, false), INK_BAD);
  xray_page_text(p, INDENT, INK_PLAIN, detail);
  xray_page_text(p, INDENT, INK_PLAIN, xray_words_advice(q->kind, p->lang));
  put_where(p, q);
  free(detail);
}

/* The worker warns with this where races were looked for in some blocks or in none. */
static bool looked_everywhere(const struct xray_result *r) {
  static const char some[] = "Races and unwritten reads were";
  for (int i = 0; i < r->head.nwarnings; i++)
    if (strncmp(r->head.warnings[i], some, sizeof some - 1) == 0)
      return false;
  return true;
}

void xray_problems_put(struct xray_page *p, const struct xray_result *r) {
  char n[16], *head;
  snprintf(n, sizeof n, "%d", r->nproblems);
  if (r->nproblems == 0) {
    head = xray_page_say(p, looked_everywhere(r) ? XW_NO_PROBLEM : XW_NO_PROBLEM_SEEN, NULL, NULL);
    xray_page_text(p, 0, INK_GOOD, head);
    free(head);
    return;
  }
  head = xray_page_say(p, r->nproblems == 1 ? XW_PROBLEM : XW_PROBLEMS, n, NULL);
  xray_page_text(p, 0, INK_BAD, head);
  free(head);
  for (int i = 0; i < r->nproblems; i++) {
    str_addc(&p->out, '\n');
    put_problem(p, r, &r->problems[i]);
  }
}
