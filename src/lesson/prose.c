#include "lesson/prose.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "lesson/numeral.h"
#include <math.h>
#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `|` inside {{...}} would cut a table cell and `*` would start emphasis, so each expression goes
 * through the Markdown parser as one private character, MARK_BASE + its index. */
enum {
  MAX_BYTES = 1 << 20,
  MAX_BLOCKS = 10000,
  MAX_MARKS = 65000,
  MARK_BASE = 0xF0000,
  MARK_BYTES = 4,
  MAX_LISTS = 16
};

struct mark {
  const char *text; /* with the braces */
  size_t len;
};

struct build {
  struct prose *out;
  const struct prose_source *src;
  struct mark *marks;
  int nmarks, cap;
  struct prose_block *cur; /* NULL between blocks */
  struct str text;         /* of the run that is being put together */
  enum prose_style style;
  int strong, emph, code, quote, lists, row, cell;
  unsigned next[MAX_LISTS]; /* number of the next item; 0 in a bullet list */
  bool soft, wide;          /* a soft line end is due; the last character was wide */
};

/* ---- numbers */

struct pick {
  const struct prose_source *src;
};

/* Names of the recorded card first, and the learner's own only for the step's plain names, so that
 * one value never mixes two machines. */
static bool lookup_recorded(void *ctx, const char *name, double *value) {
  const struct prose_source *src = ((struct pick *)ctx)->src;
  if (src->recorded && src->recorded(src->recorded_ctx, name, value))
    return true;
  return !strchr(name, '.') && src->lookup && src->lookup(src->ctx, name, value);
}

static void evaluate(const struct prose_source *src, const struct numeral *num,
                     struct prose_run *run) {
  struct pick pick = {src};
  run->style = PROSE_NUMBER;
  run->formula = alloc_str(num->expr);
  if (expr_eval(num->expr, src->lookup, src->ctx, &run->value, NULL)) {
    run->text = numeral_format(num, run->value);
    run->filled = expr_filled(num->expr, src->lookup, src->ctx);
  } else if (src->recorded && expr_eval(num->expr, lookup_recorded, &pick, &run->value, NULL)) {
    char *plain = numeral_format(num, run->value);
    run->style = PROSE_RECORDED;
    run->text = alloc_printf("%s %s", plain, src->recorded_tag ? src->recorded_tag : "");
    run->filled = expr_filled(num->expr, lookup_recorded, &pick);
    free(plain);
  } else {
    run->value = NAN;
    run->text = alloc_str("-");
    run->filled = alloc_str(num->expr);
  }
}

/* ---- runs and blocks */

static struct prose_run *add_run(struct build *b, enum prose_style style) {
  struct prose_block *block = b->cur;
  if ((block->nruns & (block->nruns - 1)) == 0)
    block->runs =
        alloc_grow(block->runs, block->nruns ? (size_t)block->nruns * 2 : 1, sizeof *block->runs);
  struct prose_run *run = &block->runs[block->nruns++];
  *run = (struct prose_run){.style = style, .value = NAN};
  return run;
}

static void flush(struct build *b) {
  if (!b->cur || !b->text.len)
    return;
  struct prose_run *run = add_run(b, b->style);
  run->text = utf8_clean(b->text.data, b->text.len);
  str_clear(&b->text);
}

static void close_block(struct build *b) {
  flush(b);
  str_clear(&b->text);
  b->soft = b->wide = false;
  if (!b->cur)
    return;
  if (!b->cur->nruns && b->cur->kind != PROSE_BULLET)
    b->out->nblocks--;
  b->cur = NULL;
}

static bool open_block(struct build *b, enum prose_block_kind kind, int level) {
  close_block(b);
  if (b->out->nblocks == MAX_BLOCKS)
    return false;
  if (b->out->nblocks == b->cap) {
    b->cap = b->cap ? 2 * b->cap : 16;
    b->out->blocks = alloc_grow(b->out->blocks, (size_t)b->cap, sizeof *b->out->blocks);
  }
  b->cur = &b->out->blocks[b->out->nblocks++];
  *b->cur = (struct prose_block){.kind = kind, .level = level};
  return true;
}

static void add_number(struct build *b, const struct mark *m) {
  struct numeral num;
  flush(b);
  if (numeral_parse(m->text + 2, m->len - 4, &num, NULL)) {
    struct prose_run *run = add_run(b, PROSE_NUMBER);
    evaluate(b->src, &num, run);
    free(num.expr);
  } else {
    struct prose_run *run = add_run(b, PROSE_NUMBER);
    run->text = alloc_str("-");
    run->filled = alloc_strn(m->text, m->len); /* as written: there is no formula */
  }
  b->wide = false;
}

static enum prose_style style_now(const struct build *b) {
  if (b->code)
    return PROSE_INLINE_CODE;
  return b->strong ? PROSE_STRONG : b->emph ? PROSE_EMPH : PROSE_PLAIN;
}

/* Between two Han characters a line end of the source is no space. */
static void end_soft_break(struct build *b, const char *s, size_t n) {
  if (!b->soft)
    return;
  size_t first;
  b->soft = false;
  utf8_decode(s, n, &first);
  if (!(b->wide && utf8_width_n(s, first) == 2))
    str_addc(&b->text, ' ');
}

static void put_plain(struct build *b, const char *s, size_t n) {
  if (!n)
    return;
  enum prose_style style = style_now(b);
  if (style != b->style)
    flush(b);
  b->style = style;
  end_soft_break(b, s, n);
  str_addn(&b->text, s, n);
  size_t last = n - 1;
  while (last > 0 && ((unsigned char)s[last] & 0xC0) == 0x80)
    last--;
  b->wide = utf8_width_n(s + last, n - last) == 2;
}

/* The index of the mark that s begins with, or -1. */
static int mark_at(const struct build *b, const char *s, size_t n) {
  size_t len;
  if (n < MARK_BYTES || (unsigned char)*s != 0xF3)
    return -1;
  int cp = utf8_decode(s, n, &len);
  return cp >= MARK_BASE && cp < MARK_BASE + b->nmarks ? cp - MARK_BASE : -1;
}

static bool verbatim(const struct build *b) { return b->code || b->cur->kind == PROSE_CODE; }

static bool put(struct build *b, const char *s, size_t n) {
  if (!b->cur && !open_block(b, b->quote ? PROSE_QUOTE : PROSE_PARAGRAPH, b->lists))
    return false;
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    int m = mark_at(b, s + i, n - i);
    if (m < 0)
      continue;
    put_plain(b, s + from, i - from);
    from = i + MARK_BYTES;
    i += MARK_BYTES - 1;
    if (verbatim(b)) {
      put_plain(b, b->marks[m].text, b->marks[m].len);
    } else {
      end_soft_break(b, "0", 1);
      add_number(b, &b->marks[m]);
    }
  }
  put_plain(b, s + from, n - from);
  return true;
}

/* ---- callbacks of the Markdown parser; another value than 0 ends the parsing */

static bool enter_item(struct build *b) {
  int depth = b->lists < MAX_LISTS ? b->lists : MAX_LISTS;
  if (!open_block(b, PROSE_BULLET, b->lists))
    return false;
  unsigned *next = &b->next[depth > 0 ? depth - 1 : 0];
  if (*next)
    snprintf(b->cur->marker, sizeof b->cur->marker, "%u.", (*next)++ % 100000);
  else
    snprintf(b->cur->marker, sizeof b->cur->marker, "-");
  return true;
}

static void enter_list(struct build *b, unsigned first) {
  close_block(b);
  if (b->lists < MAX_LISTS)
    b->next[b->lists] = first;
  b->lists++;
}

static bool enter_code(struct build *b, const MD_BLOCK_CODE_DETAIL *d) {
  bool math = d->lang.size == 4 && memcmp(d->lang.text, "math", 4) == 0;
  return open_block(b, math ? PROSE_FORMULA : PROSE_CODE, b->lists);
}

static bool enter_paragraph(struct build *b) {
  if (b->cur && b->cur->kind == PROSE_BULLET && !b->cur->nruns && !b->text.len)
    return true;
  return open_block(b, b->quote ? PROSE_QUOTE : PROSE_PARAGRAPH, b->lists);
}

static void enter_cell(struct build *b) {
  flush(b);
  if (b->cell++ && b->cur)
    add_run(b, PROSE_CELL_END)->text = alloc_str("\t");
  b->soft = b->wide = false;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *ctx) {
  struct build *b = ctx;
  bool ok = true;
  switch (type) {
  case MD_BLOCK_QUOTE:
    close_block(b);
    b->quote++;
    break;
  case MD_BLOCK_UL:
    enter_list(b, 0);
    break;
  case MD_BLOCK_OL:
    enter_list(b, ((MD_BLOCK_OL_DETAIL *)detail)->start % 100000);
    break;
  case MD_BLOCK_LI:
    ok = enter_item(b);
    break;
  case MD_BLOCK_H:
    ok = open_block(b, PROSE_HEADING, (int)((MD_BLOCK_H_DETAIL *)detail)->level);
    break;
  case MD_BLOCK_CODE:
    ok = enter_code(b, detail);
    break;
  case MD_BLOCK_P:
    ok = enter_paragraph(b);
    break;
  case MD_BLOCK_TABLE:
    close_block(b);
    b->row = 0;
    break;
  case MD_BLOCK_TR:
    b->cell = 0;
    ok = open_block(b, PROSE_TABLE_ROW, b->row++);
    break;
  case MD_BLOCK_TH:
  case MD_BLOCK_TD:
    enter_cell(b);
    break;
  default:
    break;
  }
  return !ok;
}

/* The line end before a closing fence is not part of the code. */
static void trim_newlines(struct build *b) {
  while (b->text.len && b->text.data[b->text.len - 1] == '\n')
    b->text.data[--b->text.len] = '\0';
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *ctx) {
  struct build *b = ctx;
  (void)detail;
  switch (type) {
  case MD_BLOCK_QUOTE:
    close_block(b);
    b->quote--;
    break;
  case MD_BLOCK_UL:
  case MD_BLOCK_OL:
    close_block(b);
    b->lists--;
    break;
  case MD_BLOCK_CODE:
    trim_newlines(b);
    close_block(b);
    break;
  case MD_BLOCK_LI:
  case MD_BLOCK_H:
  case MD_BLOCK_TR:
    close_block(b);
    break;
  case MD_BLOCK_P: /* the next paragraph of a list item is a block of its own */
    close_block(b);
    break;
  default:
    break;
  }
  return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *ctx) {
  struct build *b = ctx;
  (void)detail;
  b->strong += type == MD_SPAN_STRONG;
  b->emph += type == MD_SPAN_EM;
  b->code += type == MD_SPAN_CODE;
  return 0;
}

/* An autolink's text is its target. */
static bool shown_already(const struct build *b, const MD_ATTRIBUTE *href) {
  return b->text.len >= href->size &&
         memcmp(b->text.data + b->text.len - href->size, href->text, href->size) == 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *ctx) {
  struct build *b = ctx;
  b->strong -= type == MD_SPAN_STRONG;
  b->emph -= type == MD_SPAN_EM;
  b->code -= type == MD_SPAN_CODE;
  const MD_SPAN_A_DETAIL *a = detail;
  if (type == MD_SPAN_A && a->href.size && !shown_already(b, &a->href))
    return !(put(b, " (", 2) && put(b, a->href.text, a->href.size) && put(b, ")", 1));
  return 0;
}

static size_t encode(unsigned long cp, char out[4]) {
  bool bad = cp < 0x20 || cp >= MARK_BASE || (cp >= 0xD800 && cp < 0xE000);
  cp = bad ? 0xFFFD : cp;
  if (cp < 0x80) {
    out[0] = (char)cp;
    return 1;
  }
  int tail = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
  out[0] = (char)(lead[tail] | (cp >> (6 * tail)));
  for (int i = tail; i > 0; i--, cp >>= 6)
    out[i] = (char)(0x80 | (cp & 0x3F));
  return (size_t)tail + 1;
}

static bool put_entity(struct build *b, const char *s, size_t n) {
  static const struct {
    const char *name, *text;
  } known[] = {{"&amp;", "&"},   {"&lt;", "<"},   {"&gt;", ">"},
               {"&quot;", "\""}, {"&nbsp;", " "}, {"&times;", "×"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i].name) == n && memcmp(known[i].name, s, n) == 0)
      return put(b, known[i].text, strlen(known[i].text));
  if (n < 4 || n > 10 || s[1] != '#')
    return put(b, s, n);
  char out[4];
  bool hex = s[2] == 'x' || s[2] == 'X';
  size_t len = encode(strtoul(s + (hex ? 3 : 2), NULL, hex ? 16 : 10), out);
  return put(b, out, len);
}

static int text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *ctx) {
  struct build *b = ctx;
  switch (type) {
  case MD_TEXT_NULLCHAR:
    return !put(b, "\xEF\xBF\xBD", 3);
  case MD_TEXT_BR:
    return !put(b, "\n", 1);
  case MD_TEXT_SOFTBR:
    b->soft = true;
    return 0;
  case MD_TEXT_ENTITY:
    return !put_entity(b, s, n);
  default:
    return !put(b, s, n);
  }
}

/* ---- the whole */

/* Copies clean text with every expression replaced by its mark. */
static char *mark_expressions(const char *clean, struct build *b) {
  struct str s = {0};
  int cap = 0;
  size_t len = 0;
  const char *p = clean, *next = numeral_find(p, &len);
  while (*p) {
    if (p == next && b->nmarks < MAX_MARKS) {
      char code[4];
      if (b->nmarks == cap) {
        cap = cap ? 2 * cap : 16;
        b->marks = alloc_grow(b->marks, (size_t)cap, sizeof *b->marks);
      }
      unsigned cp = (unsigned)(MARK_BASE + b->nmarks);
      code[0] = (char)0xF3;
      code[1] = (char)(0x80 | ((cp >> 12) & 0x3F));
      code[2] = (char)(0x80 | ((cp >> 6) & 0x3F));
      code[3] = (char)(0x80 | (cp & 0x3F));
      str_addn(&s, code, sizeof code);
      b->marks[b->nmarks++] = (struct mark){p, len};
      p += len;
      next = numeral_find(p, &len);
    } else if ((unsigned char)*p == 0xF3) { /* the text's own private characters */
      str_add(&s, "\xEF\xBF\xBD");
      p += MARK_BYTES;
    } else {
      str_addc(&s, *p++);
    }
  }
  return str_take(&s);
}

struct prose *prose_render(const char *markdown, const struct prose_source *src) {
  static const struct prose_source nothing = {0};
  static const MD_PARSER parser = {
      .abi_version = 0,
      .flags = MD_FLAG_TABLES | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS,
      .enter_block = enter_block,
      .leave_block = leave_block,
      .enter_span = enter_span,
      .leave_span = leave_span,
      .text = text,
  };
  size_t n = strlen(markdown);
  struct build b = {.out = alloc_zero(1, sizeof(struct prose)), .src = src ? src : &nothing};
  char *clean = utf8_clean(markdown, n < MAX_BYTES ? n : MAX_BYTES);
  char *marked = mark_expressions(clean, &b);
  md_parse(marked, (MD_SIZE)strlen(marked), &parser, &b);
  close_block(&b);
  str_free(&b.text);
  free(b.marks);
  free(marked);
  free(clean);
  return b.out;
}

void prose_free(struct prose *p) {
  if (!p)
    return;
  for (int i = 0; i < p->nblocks; i++) {
    for (int j = 0; j < p->blocks[i].nruns; j++) {
      free(p->blocks[i].runs[j].text);
      free(p->blocks[i].runs[j].formula);
      free(p->blocks[i].runs[j].filled);
    }
    free(p->blocks[i].runs);
  }
  free(p->blocks);
  free(p);
}

/* Renders, because what stands in code is literal: a number run without formula did not parse. */
bool prose_check(const char *markdown, struct err *err) {
  struct prose *p = prose_render(markdown, NULL);
  bool ok = true;
  for (int i = 0; i < p->nblocks && ok; i++)
    for (int j = 0; j < p->blocks[i].nruns && ok; j++) {
      const struct prose_run *run = &p->blocks[i].runs[j];
      struct numeral num;
      struct err why = {""};
      if (run->style != PROSE_NUMBER || run->formula)
        continue;
      numeral_parse(run->filled + 2, strlen(run->filled) - 4, &num, &why);
      ok = err_set(err, "%s: %s", run->filled, why.text);
    }
  prose_free(p);
  return ok;
}
