#include "app/xray_source.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

/* A column exists where a line has something to show in it. */
enum column { GLOBAL, SECTORS, SHARED, WAVES, CONFLICTS, FLOP, COLUMNS };
static const int widths[COLUMNS] = {7, 5, 7, 5, 6, 5};

enum { MARK = 2, NUMBER = 4, GAP = 2, LEAST_TEXT = 20, HOT_PARTS = 4 };

struct table {
  struct xray_page *p;
  const struct xray_result *r;
  bool has[COLUMNS];
  double waves, flop; /* of the launch */
  int text, indent;   /* columns of the source; of its common indentation */
  bool known;         /* the source is, at least a line of it */
};

static double global_requests(const struct xray_counts *c) {
  return c->gld_requests + c->gst_requests;
}

static double shared_requests(const struct xray_counts *c) {
  return c->lds_requests + c->sts_requests;
}

static double waves(const struct xray_counts *c) {
  return c->gld_wavefronts + c->gst_wavefronts + c->lds_wavefronts + c->sts_wavefronts;
}

static double flop(const struct xray_counts *c) {
  return 2 * c->ffma + c->fadd + c->fmul + c->other_flop;
}

/* A line as it is shown: no control characters, no mark of a lesson ("//@ load_a"). */
static char *clean_line(const char *text) {
  char *clean = utf8_clean(text, strlen(text)), *mark = strstr(clean, "//@");
  size_t n = mark ? (size_t)(mark - clean) : strlen(clean);
  while (n && clean[n - 1] == ' ')
    n--;
  clean[n] = '\0';
  return clean;
}

char *xray_source_line(const struct xray_result *r, const char *file, int line) {
  for (int i = 0; i < r->nlines; i++)
    if (r->lines[i].line == line && (!*file || strcmp(r->lines[i].file, file) == 0) &&
        r->lines[i].text[0])
      return clean_line(r->lines[i].text);
  return NULL;
}

void xray_source_quote(struct xray_page *p, const struct xray_result *r, const char *file, int line,
                       const char *mark, enum xray_ink ink) {
  char *text = xray_source_line(r, file, line), number[16];
  if (!text)
    return;
  snprintf(number, sizeof number, "%*d  ", NUMBER, line);
  char *fits = xray_page_clip(p, text, p->width - MARK - (int)strlen(number));
  xray_page_left(p, ink, mark, MARK);
  xray_page_ink(p, INK_DIM, number);
  xray_page_ink(p, ink, fits);
  str_addc(&p->out, '\n');
  free(fits);
  free(text);
}

static void measure(struct table *t) {
  t->waves = waves(&t->r->counts);
  t->flop = flop(&t->r->counts);
  t->indent = 1000;
  for (int i = 0; i < t->r->nlines; i++) {
    const struct xray_counts *c = &t->r->lines[i].counts;
    t->has[GLOBAL] = t->has[GLOBAL] || global_requests(c) > 0;
    t->has[SHARED] = t->has[SHARED] || shared_requests(c) > 0;
    t->has[CONFLICTS] = t->has[CONFLICTS] || c->lds_conflicts + c->sts_conflicts > 0;
    t->has[FLOP] = t->has[FLOP] || flop(c) > 0;
    char *text = clean_line(t->r->lines[i].text);
    int lead = (int)strspn(text, " ");
    t->known = t->known || text[lead];
    t->indent = text[lead] && lead < t->indent ? lead : t->indent;
    free(text);
  }
  t->has[SECTORS] = t->has[GLOBAL];
  t->has[WAVES] = t->has[SHARED];
  t->text = t->p->width - MARK - NUMBER - GAP;
  for (int c = 0; c < COLUMNS; c++)
    t->text -= t->has[c] ? widths[c] : 0;
  t->text = t->text < LEAST_TEXT ? LEAST_TEXT : t->text;
}

/* ---- the head */
static void head_word(struct table *t, enum column c, enum xray_word w) {
  char *text = xray_page_say(t->p, w, NULL, NULL);
  if (t->has[c])
    xray_page_right(t->p, INK_DIM, text, widths[c]);
  free(text);
}

static void put_head(struct table *t, const char *file) {
  struct xray_page *p = t->p;
  char *global = xray_page_say(p, XW_GLOBAL, NULL, NULL);
  char *shared = xray_page_say(p, XW_SHARED_MEMORY, NULL, NULL);
  int left = MARK + NUMBER + GAP + t->text;
  xray_page_pad(p, left);
  if (t->has[GLOBAL])
    xray_page_right(p, INK_DIM, global, widths[GLOBAL]);
  if (t->has[SHARED])
    xray_page_right(p, INK_DIM, shared, (t->has[GLOBAL] ? widths[SECTORS] : 0) + widths[SHARED]);
  str_addc(&p->out, '\n');
  char *name = xray_page_clip(p, file, t->text);
  xray_page_pad(p, MARK + NUMBER + GAP);
  xray_page_left(p, INK_DIM, name, t->text);
  head_word(t, GLOBAL, XW_COL_REQUESTS);
  head_word(t, SECTORS, XW_COL_SECTORS);
  head_word(t, SHARED, XW_COL_REQUESTS);
  head_word(t, WAVES, XW_COL_WAVES);
  head_word(t, CONFLICTS, XW_COL_CONFLICTS);
  head_word(t, FLOP, t->r->counts.other_flop > 0 ? XW_COL_FLOP : XW_COL_FMA);
  str_addc(&p->out, '\n');
  free(name);
  free(global);
  free(shared);
}

/* ---- the lines */
static bool is_wrong(const struct table *t, const struct xray_result_line *l) {
  for (int i = 0; i < t->r->nproblems; i++)
    if (t->r->problems[i].line == l->line &&
        (!t->r->problems[i].file[0] || strcmp(t->r->problems[i].file, l->file) == 0))
      return true;
  return false;
}

static bool is_hot(const struct table *t, const struct xray_result_line *l) {
  return t->waves > 0 && waves(&l->counts) * HOT_PARTS >= t->waves;
}

/* The text of a cell; "" where the line has nothing of it. The caller frees. */
static char *cell(const struct table *t, const struct xray_counts *c, enum column column) {
  double conflicts = c->lds_conflicts + c->sts_conflicts;
  double share = t->flop > 0 ? flop(c) / t->flop : 0;
  switch (column) {
  case GLOBAL:
    return global_requests(c) > 0 ? xray_page_short(global_requests(c)) : alloc_str("");
  case SECTORS:
    return xray_page_ratio(c->gld_sectors + c->gst_sectors, global_requests(c));
  case SHARED:
    return shared_requests(c) > 0 ? xray_page_short(shared_requests(c)) : alloc_str("");
  case WAVES:
    return xray_page_ratio(c->lds_wavefronts + c->sts_wavefronts, shared_requests(c));
  case CONFLICTS:
    return conflicts > 0 ? xray_page_short(conflicts) : alloc_str("");
  default:
    return share == 0      ? alloc_str("")
           : share < 0.005 ? alloc_str("<1%")
                           : alloc_printf("%.0f%%", share * 100);
  }
}

/* Blanks behind the last thing of a line are not written. */
static void put_cells(struct table *t, const struct xray_counts *c, enum xray_ink ink, int owed) {
  for (int i = 0; i < COLUMNS; i++) {
    if (!t->has[i])
      continue;
    char *text = cell(t, c, (enum column)i);
    owed += widths[i];
    if (*text) {
      xray_page_right(t->p, ink, text, owed);
      owed = 0;
    }
    free(text);
  }
}

/* The text of a line in the columns it has: a comment at its end goes before code is cut. The
 * caller frees. */
static char *fitting(const struct table *t, char *text, int cols) {
  char *comment = NULL;
  for (char *at = strstr(text, " //"); at; at = strstr(at + 1, " //"))
    comment = comment ? comment : at;
  if (comment && utf8_width(text) > cols) {
    while (comment > text && comment[-1] == ' ')
      comment--;
    *comment = '\0';
  }
  return xray_page_clip(t->p, text, cols);
}

static bool has_cells(const struct table *t, const struct xray_counts *c) {
  return global_requests(c) + shared_requests(c) + (t->has[FLOP] ? flop(c) : 0) > 0;
}

static void put_line(struct table *t, const struct xray_result_line *l) {
  struct xray_page *p = t->p;
  bool wrong = is_wrong(t, l), hot = is_hot(t, l), cells = has_cells(t, &l->counts);
  enum xray_ink ink = wrong ? INK_BAD : hot ? INK_HOT : INK_PLAIN;
  char *clean = clean_line(l->text);
  int lead = (int)strspn(clean, " ");
  char *text = fitting(t, clean + (lead < t->indent ? lead : t->indent),
                       cells ? t->text : p->width - MARK - NUMBER - GAP);
  char number[16];
  xray_page_left(p, ink, wrong ? xray_page_mark(p, true) : "", 1);
  xray_page_left(p, ink, hot ? xray_page_mark(p, false) : "", 1);
  snprintf(number, sizeof number, "%*d", NUMBER, l->line);
  xray_page_ink(p, INK_DIM, number);
  xray_page_pad(p, *text || cells ? GAP : 0);
  xray_page_ink(p, ink, text);
  if (cells)
    put_cells(t, &l->counts, ink, t->text - utf8_width(text));
  str_addc(&p->out, '\n');
  free(text);
  free(clean);
}

static void put_legend(struct table *t) {
  static const enum xray_word parts[] = {XW_LEGEND_REQUESTS, XW_LEGEND_SECTORS, XW_LEGEND_WAVES,
                                         XW_LEGEND_CONFLICTS};
  const bool shown[] = {t->has[GLOBAL] || t->has[SHARED], t->has[SECTORS], t->has[WAVES],
                        t->has[CONFLICTS]};
  struct str s = {0};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    char *text = xray_page_say(t->p, parts[i], NULL, NULL);
    str_add(&s, shown[i] ? text : "");
    free(text);
  }
  char *hot = xray_page_say(t->p, XW_LEGEND_HOT, xray_page_mark(t->p, false), NULL);
  bool any = false;
  for (int i = 0; i < t->r->nlines; i++)
    any = any || is_hot(t, &t->r->lines[i]);
  if (s.len)
    xray_page_text(t->p, MARK, INK_DIM, s.data);
  if (any)
    xray_page_text(t->p, MARK, INK_DIM, hot);
  free(hot);
  str_free(&s);
}

void xray_source_put(struct xray_page *p, const struct xray_result *r) {
  struct table t = {.p = p, .r = r};
  if (r->nlines == 0) {
    char *none = xray_page_say(p, XW_NO_LINES, NULL, NULL);
    xray_page_text(p, 0, INK_DIM, none);
    free(none);
    return;
  }
  measure(&t);
  const struct xray_result_line *before = NULL;
  for (int i = 0; i < r->nlines; i++) {
    const struct xray_result_line *l = &r->lines[i];
    if (!t.known && !has_cells(&t, &l->counts) && !is_wrong(&t, l))
      continue;
    bool other = !before || strcmp(before->file, l->file) != 0;
    if (before && (other || (t.known && before->line + 1 < l->line))) {
      xray_page_pad(p, other ? 0 : MARK + NUMBER - 1);
      xray_page_ink(p, INK_DIM, other ? "" : p->glyphs ? "⋮" : ":");
      str_addc(&p->out, '\n');
    }
    if (other)
      put_head(&t, l->file);
    put_line(&t, l);
    before = l;
  }
  put_legend(&t);
}
