#include "ui/svg.h"

#include "base/str.h"
#include "base/utf8.h"
#include <string.h>

/* A cell in pixels, as DejaVu Sans Mono has it at 14 px, and the space around the whole. */
static const double cell_w = 8.43, cell_h = 18, base = 13.4, pad = 14, font = 14, wide_font = 15;

static const char *const role_class[ROLE_COUNT] = {
    [ROLE_TEXT] = "text",     [ROLE_DIM] = "dim",           [ROLE_TITLE] = "title",
    [ROLE_FOCUS] = "focus",   [ROLE_NOW] = "now",           [ROLE_DONE] = "done",
    [ROLE_TODO] = "todo",     [ROLE_WRONG] = "wrong",       [ROLE_KEY] = "key",
    [ROLE_NUMBER] = "number", [ROLE_RECORDED] = "recorded", [ROLE_A] = "a",
    [ROLE_B] = "b",           [ROLE_ACC] = "acc",           [ROLE_CODE] = "code",
    [ROLE_ROOF] = "roof",
};

struct svg {
  struct str out;
  const canvas *cv;
  const struct theme *theme;
};

static double px(int x) { return pad + x * cell_w; }
static double py(int y) { return pad + y * cell_h; }

static unsigned marks_of(const struct svg *s, const struct cell *c) {
  return c->mark | s->theme->style[c->role].mark;
}

/* ---- shapes: what a font would draw with gaps or shifted */

/* The four arms of a box character: bits left 1, right 2, up 4, down 8; heavy and double as light,
 * but for the heavy horizontals. */
static int box_arms(int c) {
  static const struct {
    int from, to, arms;
  } ranges[] = {
      {0x2500, 0x2501, 3},  {0x2502, 0x2503, 12}, {0x2504, 0x2505, 3},  {0x2506, 0x2507, 12},
      {0x2508, 0x2509, 3},  {0x250A, 0x250B, 12}, {0x250C, 0x250F, 10}, {0x2510, 0x2513, 9},
      {0x2514, 0x2517, 6},  {0x2518, 0x251B, 5},  {0x251C, 0x2523, 14}, {0x2524, 0x252B, 13},
      {0x252C, 0x2533, 11}, {0x2534, 0x253B, 7},  {0x253C, 0x254B, 15}, {0x2550, 0x2550, 3},
      {0x2551, 0x2551, 12}, {0x2574, 0x2574, 1},  {0x2575, 0x2575, 4},  {0x2576, 0x2576, 2},
      {0x2577, 0x2577, 8},  {0x2578, 0x2578, 1},  {0x257A, 0x257A, 2},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (c >= ranges[i].from && c <= ranges[i].to)
      return ranges[i].arms;
  return 0;
}

static void rect_of(struct svg *s, const char *class, double x, double y, double w, double h,
                    double opacity) {
  str_addf(&s->out, "<rect class=\"f-%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
           class, x, y, w, h);
  if (opacity < 1)
    str_addf(&s->out, " opacity=\"%.2f\"", opacity);
  str_add(&s->out, "/>\n");
}

static double line_width(int c) { return c == 0x2501 || c == 0x2578 || c == 0x257A ? 4 : 1; }

static void draw_box(struct svg *s, const char *class, int x, int y, int w, int c) {
  int arms = box_arms(c);
  double thick = line_width(c);
  double left = px(x), top = py(y), mid_x = left + cell_w / 2, mid_y = top + cell_h / 2;
  double x0 = arms & 1 ? left : mid_x - 0.5;
  double x1 = (arms & 2 ? px(x + 1) : mid_x + 0.5) + (w - 1) * cell_w;
  if (arms & 3)
    rect_of(s, class, x0, mid_y - thick / 2, x1 - x0, thick, 1);
  double y0 = arms & 4 ? top : mid_y - 0.5, y1 = arms & 8 ? py(y + 1) : mid_y + 0.5;
  if (arms & 12)
    rect_of(s, class, mid_x - 0.5, y0, 1, y1 - y0, 1);
}

/* Blocks U+2580..U+2595: eighths from below, from the left, halves and the three shades. */
static void draw_block(struct svg *s, const char *class, int x, int y, int w, int c) {
  double left = px(x), top = py(y), width = cell_w * w;
  if (c == 0x2580)
    rect_of(s, class, left, top, width, cell_h / 2, 1);
  else if (c <= 0x2588)
    rect_of(s, class, left, top + cell_h * (0x2588 - c) / 8, width, cell_h * (c - 0x2580) / 8, 1);
  else if (c <= 0x258F)
    rect_of(s, class, left, top, cell_w * (0x2590 - c) / 8, cell_h, 1);
  else if (c == 0x2590)
    rect_of(s, class, left + cell_w / 2, top, cell_w / 2, cell_h, 1);
  else if (c <= 0x2593)
    rect_of(s, class, left, top, width, cell_h, 0.25 + 0.25 * (c - 0x2591));
}

static void draw_braille(struct svg *s, const char *class, int x, int y, int c) {
  static const int column[8] = {0, 0, 0, 1, 1, 1, 0, 1}, row[8] = {0, 1, 2, 0, 1, 2, 3, 3};
  for (int i = 0; i < 8; i++)
    if (c >> i & 1)
      str_addf(&s->out, "<circle class=\"f-%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"1.25\"/>\n", class,
               px(x) + cell_w * (0.25 + 0.5 * column[i]), py(y) + cell_h * (0.125 + 0.25 * row[i]));
}

static int code_of(const struct cell *c) {
  size_t len;
  return c->glyph[0] ? utf8_decode(c->glyph, strlen(c->glyph), &len) : 0;
}

static bool is_shape(int c) {
  return box_arms(c) || (c >= 0x2580 && c <= 0x2593) || (c >= 0x2800 && c <= 0x28FF);
}

/* ---- runs of cells that look the same */

static bool same_look(const struct svg *s, const struct cell *a, const struct cell *b) {
  return a->role == b->role && marks_of(s, a) == marks_of(s, b);
}

static void add_escaped(struct str *out, const char *text) {
  for (; *text; text++)
    if (*text == '&')
      str_add(out, "&amp;");
    else if (*text == '<')
      str_add(out, "&lt;");
    else if (*text == '>')
      str_add(out, "&gt;");
    else
      str_addc(out, *text);
}

static const char *fill_class(const struct svg *s, const struct cell *c) {
  return marks_of(s, c) & MARK_REVERSE ? "ground" : role_class[c->role];
}

static void open_text(struct svg *s, const struct cell *first, const char *more, double x, double y,
                      double length) {
  unsigned mark = marks_of(s, first);
  str_addf(&s->out, "<text class=\"f-%s%s%s%s\" x=\"%.2f\" y=\"%.2f\" textLength=\"%.2f\">",
           fill_class(s, first), mark & MARK_BOLD ? " bold" : "",
           mark & MARK_UNDERLINE ? " under" : "", more, x, y, length);
}

/* A wide character stands alone, in the middle of its two cells: its font has another width. */
static int draw_wide(struct svg *s, int x, int y) {
  const struct cell *c = canvas_at(s->cv, x, y);
  open_text(s, c, " wide", px(x) + cell_w - wide_font / 2, py(y) + base, wide_font);
  add_escaped(&s->out, c->glyph);
  str_add(&s->out, "</text>\n");
  return x + 2;
}

/* A run of narrow text that looks the same throughout; it begins and ends with no space. */
static int draw_run(struct svg *s, int x, int y) {
  const struct cell *first = canvas_at(s->cv, x, y), *c;
  int last = x;
  for (int end = x; (c = canvas_at(s->cv, end, y)) && same_look(s, first, c); end++) {
    if (c->width != 1 || is_shape(code_of(c)))
      break;
    /* Two spaces end a run: the next word then has its own x. */
    if (strcmp(c->glyph, " ") != 0)
      last = end + 1;
    else if (end > last)
      break;
  }
  open_text(s, first, "", px(x), py(y) + base, (last - x) * cell_w);
  for (int i = x; i < last; i++)
    add_escaped(&s->out, canvas_at(s->cv, i, y)->glyph);
  str_add(&s->out, "</text>\n");
  return last;
}

/* One shape; neighbours of the same line or block are joined so that no seam shows. Returns the
 * next x. */
static int draw_shape(struct svg *s, int x, int y) {
  const struct cell *first = canvas_at(s->cv, x, y), *c;
  int code = code_of(first), n = 1, arms = box_arms(code);
  bool joins =
      arms == 3 || (code >= 0x2580 && code <= 0x2588) || (code >= 0x2591 && code <= 0x2593);
  while (joins && (c = canvas_at(s->cv, x + n, y)) && same_look(s, first, c) && code_of(c) == code)
    n++;
  const char *class = fill_class(s, first);
  if (arms)
    draw_box(s, class, x, y, n, code);
  else if (code < 0x2800)
    draw_block(s, class, x, y, n, code);
  else
    draw_braille(s, class, x, y, code - 0x2800);
  return x + n;
}

static void draw_backgrounds(struct svg *s, int y) {
  for (int x = 0; x < canvas_cols(s->cv);) {
    const struct cell *first = canvas_at(s->cv, x, y), *c;
    int n = 1;
    while ((c = canvas_at(s->cv, x + n, y)) && same_look(s, first, c))
      n++;
    if (marks_of(s, first) & MARK_REVERSE)
      rect_of(s, role_class[first->role], px(x), py(y), n * cell_w, cell_h, 1);
    x += n;
  }
}

static void draw_row(struct svg *s, int y) {
  draw_backgrounds(s, y);
  for (int x = 0; x < canvas_cols(s->cv);) {
    const struct cell *c = canvas_at(s->cv, x, y);
    if (c->width == 0 || strcmp(c->glyph, " ") == 0)
      x++;
    else if (is_shape(code_of(c)))
      x = draw_shape(s, x, y);
    else
      x = c->width == 2 ? draw_wide(s, x, y) : draw_run(s, x, y);
  }
}

static void add_style(struct svg *s) {
  str_addf(
      &s->out,
      "<style>\n"
      "text { font: %gpx \"DejaVu Sans Mono\", \"Noto Sans Mono CJK SC\", \"Noto Sans CJK SC\", "
      "monospace; white-space: pre; }\n"
      "rect { shape-rendering: crispEdges; }\n.wide { font-size: %gpx; }\n"
      ".bold { font-weight: bold; }\n.under { text-decoration: underline; }\n"
      ".ground-back, .f-ground { fill: #%06X; }\n",
      font, wide_font, s->theme->background);
  for (int r = 0; r < ROLE_COUNT; r++)
    str_addf(&s->out, ".f-%s { fill: #%06X; }\n", role_class[r], s->theme->style[r].rgb);
  str_add(&s->out, "</style>\n");
}

char *svg_of(const canvas *cv, const struct theme *theme) {
  struct svg s = {.cv = cv, .theme = theme};
  double w = 2 * pad + canvas_cols(cv) * cell_w, h = 2 * pad + canvas_rows(cv) * cell_h;
  str_addf(&s.out,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
           "viewBox=\"0 0 %.2f %.2f\">\n",
           w, h, w, h);
  add_style(&s);
  str_addf(&s.out, "<rect class=\"ground-back\" width=\"%.2f\" height=\"%.2f\" rx=\"6\"/>\n", w, h);
  for (int y = 0; y < canvas_rows(cv); y++)
    draw_row(&s, y);
  str_add(&s.out, "</svg>\n");
  return str_take(&s.out);
}
