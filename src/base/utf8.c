#include "base/utf8.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#define REPLACEMENT "\xEF\xBF\xBD"

/* ---- decoding */

int utf8_decode(const char *s, size_t n, size_t *len) {
  utf8proc_int32_t cp = -1;
  if (n == 0) {
    *len = 0;
    return -1;
  }
  utf8proc_ssize_t got =
      utf8proc_iterate((const utf8proc_uint8_t *)s, n < 4 ? (utf8proc_ssize_t)n : 4, &cp);
  *len = got > 0 ? (size_t)got : 1;
  return got > 0 ? cp : -1;
}

bool utf8_valid(const char *s, size_t n, size_t *bad) {
  for (size_t i = 0, len; i < n; i += len) {
    len = 1;
    if ((unsigned char)s[i] < 0x80)
      continue;
    if (utf8_decode(s + i, n - i, &len) < 0) {
      if (bad)
        *bad = i;
      return false;
    }
  }
  return true;
}

/* ---- columns */

/* Bytes that may be read at s: up to end, or up to the NUL where end is NULL. */
static size_t readable(const char *s, const char *end) {
  return end ? (size_t)(end - s) : strnlen(s, 4);
}

static int columns(int cp) {
  if (cp < 0)
    return 1;
  return utf8proc_charwidth(cp);
}

/* One grapheme cluster; end as in readable(). Its columns are the sum over its code points, at most
 * 2: right for combining marks (0), flags (1 + 1), syllables of jamo and joined emoji (2). */
static size_t cluster(const char *s, const char *end, int *width) {
  size_t avail = readable(s, end), n;
  if (avail == 0 || (!end && !*s)) {
    *width = 0;
    return 0;
  }
  int cp = utf8_decode(s, avail, &n), sum = columns(cp);
  utf8proc_int32_t state = 0;
  while (cp >= 0) {
    size_t more, left = readable(s + n, end);
    if (left == 0 || (cp < 0x80 && (unsigned char)s[n] < 0x80 && cp != '\r'))
      break;
    int next = utf8_decode(s + n, left, &more);
    if (next < 0 || utf8proc_grapheme_break_stateful(cp, next, &state))
      break;
    sum += columns(next);
    n += more;
    cp = next;
  }
  *width = sum > 2 ? 2 : sum;
  return n;
}

size_t utf8_grapheme(const char *s, int *width) {
  int w;
  size_t n = cluster(s, NULL, &w);
  if (width)
    *width = w;
  return n;
}

int utf8_width(const char *s) {
  int sum = 0, w;
  for (size_t n; (n = cluster(s, NULL, &w)) > 0; s += n)
    sum += w;
  return sum;
}

int utf8_width_n(const char *s, size_t n) {
  int sum = 0, w;
  const char *end = s + n;
  while (s < end) {
    s += cluster(s, end, &w);
    sum += w;
  }
  return sum;
}

size_t utf8_clip(const char *s, int cols, int *used) {
  size_t at = 0;
  int sum = 0, w;
  if (cols > 0)
    for (size_t n; (n = cluster(s + at, NULL, &w)) > 0 && sum + w <= cols; at += n)
      sum += w;
  if (used)
    *used = sum;
  return at;
}

/* ---- cleaning */

static bool is_clean(int cp) {
  if (cp < 0x20 || cp == 0x7F)
    return false;
  if (cp < 0x7F || cp == 0x200C || cp == 0x200D) /* joiners belong to scripts and emoji */
    return true;
  switch (utf8proc_category(cp)) {
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF: /* bidi controls, invisible marks */
  case UTF8PROC_CATEGORY_CN: /* unassigned: no terminal agrees on its width */
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  default:
    return true;
  }
}

char *utf8_clean(const char *s, size_t n) {
  struct str out = {0};
  size_t measured = 0; /* bytes of out that are counted in column */
  int column = 0;
  size_t i = n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  for (size_t len; i < n; i += len) {
    int cp = utf8_decode(s + i, n - i, &len);
    if (cp == '\r' || cp == '\n') {
      str_addc(&out, '\n');
      if (cp == '\r' && i + 1 < n && s[i + 1] == '\n')
        len = 2;
      column = 0;
      measured = out.len;
    } else if (cp == '\t') {
      if (out.data)
        column += utf8_width_n(out.data + measured, out.len - measured);
      int spaces = 4 - column % 4;
      str_addn(&out, "    ", (size_t)spaces);
      column += spaces;
      measured = out.len;
    } else if (is_clean(cp))
      str_addn(&out, s + i, len);
    else
      str_add(&out, REPLACEMENT);
  }
  return str_take(&out);
}

/* ---- ASCII forms */

struct form {
  int cp;
  const char *cell; /* one column */
  const char *text; /* in running text; NULL: as cell */
};

/* Sorted by code point. */
static const struct form forms[] = {
    {0x00A0, " ", NULL},     {0x00A7, "S", "sec. "},    {0x00A9, "c", "(c)"},
    {0x00AB, "\"", NULL},    {0x00AC, "!", NULL},       {0x00AE, "R", "(R)"},
    {0x00B0, "o", "deg"},    {0x00B1, "+", "+-"},       {0x00B2, "2", "^2"},
    {0x00B3, "3", "^3"},     {0x00B5, "u", NULL},       {0x00B7, ".", "*"},
    {0x00B9, "1", "^1"},     {0x00BB, "\"", NULL},      {0x00BC, "?", "1/4"},
    {0x00BD, "?", "1/2"},    {0x00BE, "?", "3/4"},      {0x00D7, "x", NULL},
    {0x00DF, "s", "ss"},     {0x00F7, "/", NULL},       {0x0393, "G", "Gamma"},
    {0x0394, "D", "Delta"},  {0x0398, "O", "Theta"},    {0x039B, "L", "Lambda"},
    {0x03A0, "P", "Pi"},     {0x03A3, "S", "Sum"},      {0x03A6, "F", "Phi"},
    {0x03A9, "O", "Omega"},  {0x03B1, "a", "alpha"},    {0x03B2, "b", "beta"},
    {0x03B3, "g", "gamma"},  {0x03B4, "d", "delta"},    {0x03B5, "e", "eps"},
    {0x03B7, "n", "eta"},    {0x03B8, "o", "theta"},    {0x03BA, "k", "kappa"},
    {0x03BB, "l", "lambda"}, {0x03BC, "u", NULL},       {0x03C0, "p", "pi"},
    {0x03C1, "r", "rho"},    {0x03C3, "s", "sigma"},    {0x03C4, "t", "tau"},
    {0x03C6, "f", "phi"},    {0x03C9, "w", "omega"},    {0x2010, "-", NULL},
    {0x2011, "-", NULL},     {0x2012, "-", NULL},       {0x2013, "-", NULL},
    {0x2014, "-", "--"},     {0x2015, "-", "--"},       {0x2016, "|", "||"},
    {0x2018, "'", NULL},     {0x2019, "'", NULL},       {0x201A, ",", NULL},
    {0x201C, "\"", NULL},    {0x201D, "\"", NULL},      {0x201E, "\"", NULL},
    {0x2020, "+", NULL},     {0x2022, "*", NULL},       {0x2023, ">", NULL},
    {0x2026, ".", "..."},    {0x202F, " ", NULL},       {0x2030, "%", "per mille"},
    {0x2032, "'", NULL},     {0x2033, "\"", NULL},      {0x2039, "<", NULL},
    {0x203A, ">", NULL},     {0x2070, "0", "^0"},       {0x2074, "4", "^4"},
    {0x2075, "5", "^5"},     {0x2076, "6", "^6"},       {0x2077, "7", "^7"},
    {0x2078, "8", "^8"},     {0x2079, "9", "^9"},       {0x207A, "+", "^+"},
    {0x207B, "-", "^-"},     {0x207F, "n", "^n"},       {0x2080, "0", "_0"},
    {0x2081, "1", "_1"},     {0x2082, "2", "_2"},       {0x2083, "3", "_3"},
    {0x2084, "4", "_4"},     {0x2085, "5", "_5"},       {0x2086, "6", "_6"},
    {0x2087, "7", "_7"},     {0x2088, "8", "_8"},       {0x2089, "9", "_9"},
    {0x20AC, "E", "EUR"},    {0x2122, "T", "(TM)"},     {0x2190, "<", "<-"},
    {0x2191, "^", NULL},     {0x2192, ">", "->"},       {0x2193, "v", NULL},
    {0x2194, "-", "<->"},    {0x2195, "|", NULL},       {0x2196, "\\", NULL},
    {0x2197, "/", NULL},     {0x2198, "\\", NULL},      {0x2199, "/", NULL},
    {0x21A9, "<", "<-"},     {0x21AA, ">", "->"},       {0x21B5, "<", "Enter"},
    {0x21BA, "o", NULL},     {0x21BB, "o", NULL},       {0x21D0, "<", "<="},
    {0x21D2, ">", "=>"},     {0x21D4, "=", "<=>"},      {0x21E5, ">", "Tab"},
    {0x21E7, "^", "Shift"},  {0x2200, "A", "for all "}, {0x2202, "d", NULL},
    {0x2203, "E", "some "},  {0x2206, "D", "Delta"},    {0x2208, "e", " in "},
    {0x220F, "P", "prod"},   {0x2211, "S", "sum"},      {0x2212, "-", NULL},
    {0x2215, "/", NULL},     {0x2217, "*", NULL},       {0x2219, ".", NULL},
    {0x221A, "V", "sqrt"},   {0x221D, "~", NULL},       {0x221E, "I", "inf"},
    {0x2225, "|", "||"},     {0x2227, "&", "&&"},       {0x2228, "|", "||"},
    {0x222B, "S", NULL},     {0x223C, "~", NULL},       {0x2248, "~", NULL},
    {0x2260, "!", "!="},     {0x2261, "=", "=="},       {0x2264, "<", "<="},
    {0x2265, ">", ">="},     {0x226A, "<", "<<"},       {0x226B, ">", ">>"},
    {0x2295, "+", "(+)"},    {0x22C5, ".", NULL},       {0x22EE, ":", NULL},
    {0x22EF, ".", "..."},    {0x2308, "[", "ceil("},    {0x2309, "]", ")"},
    {0x230A, "[", "floor("}, {0x230B, "]", ")"},        {0x2387, "A", "Alt"},
    {0x23B5, "_", NULL},     {0x23CE, "<", "Enter"},    {0x23F5, ">", NULL},
    {0x23F8, "=", NULL},     {0x2423, "_", NULL},       {0x25A0, "#", NULL},
    {0x25A1, ".", NULL},     {0x25AA, "#", NULL},       {0x25AB, ".", NULL},
    {0x25AC, "=", NULL},     {0x25AE, "#", NULL},       {0x25AF, ".", NULL},
    {0x25B2, "^", NULL},     {0x25B3, "^", NULL},       {0x25B4, "^", NULL},
    {0x25B5, "^", NULL},     {0x25B6, ">", NULL},       {0x25B7, ">", NULL},
    {0x25B8, ">", NULL},     {0x25B9, ">", NULL},       {0x25BA, ">", NULL},
    {0x25BC, "v", NULL},     {0x25BD, "v", NULL},       {0x25BE, "v", NULL},
    {0x25BF, "v", NULL},     {0x25C0, "<", NULL},       {0x25C1, "<", NULL},
    {0x25C2, "<", NULL},     {0x25C3, "<", NULL},       {0x25C4, "<", NULL},
    {0x25C6, "*", NULL},     {0x25C7, "o", NULL},       {0x25C9, "@", NULL},
    {0x25CB, "o", NULL},     {0x25CC, "o", NULL},       {0x25CE, "@", NULL},
    {0x25CF, "*", NULL},     {0x25E6, "o", NULL},       {0x25EF, "o", NULL},
    {0x25FB, ".", NULL},     {0x25FC, "#", NULL},       {0x2605, "*", NULL},
    {0x2606, "*", NULL},     {0x2610, ".", "[ ]"},      {0x2611, "v", "[v]"},
    {0x2612, "x", "[x]"},    {0x26A0, "!", NULL},       {0x2713, "v", NULL},
    {0x2714, "v", NULL},     {0x2715, "x", NULL},       {0x2717, "x", NULL},
    {0x2718, "x", NULL},     {0x276E, "<", NULL},       {0x276F, ">", NULL},
    {0x279C, ">", "->"},     {0x27E8, "<", NULL},       {0x27E9, ">", NULL},
    {0x27F5, "<", "<-"},     {0x27F6, ">", "->"},       {0x2A2F, "x", NULL},
    {0x2B06, "^", NULL},     {0x2B07, "v", NULL},       {0xFFFD, "?", NULL},
};

/* U+2500 - U+257F and U+2580 - U+259F, a character each. */
static const char boxes[] = "--||--||--||++++++++++++++++++++++++++++++++++++++++++++++++++++"
                            "++++++++++++--||=|+++++++++++++++++++++++++++++++/\\X-|-|-|-|-|-"
                            "|";
static const char blocks[] = "\"_.:-=+*#*+==::.=.:%-|..'#:##':#";

/* Every printable ASCII character as a string of its own, two bytes each. */
static const char singles[] =
    " \0!\0\"\0#\0$\0%\0&\0'\0(\0)\0*\0+\0,\0-\0.\0/\0"
    "0\0"
    "1\0"
    "2\0"
    "3\0"
    "4\0"
    "5\0"
    "6\0"
    "7\0"
    "8\0"
    "9\0:\0;\0<\0=\0>\0?\0@\0A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0O\0"
    "P\0Q\0R\0S\0T\0U\0V\0W\0X\0Y\0Z\0[\0\\\0]\0^\0_\0`\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0"
    "m\0n\0o\0p\0q\0r\0s\0t\0u\0v\0w\0x\0y\0z\0{\0|\0}\0~";

static const char *single(int c) { return c < 32 || c > 126 ? "?" : singles + 2 * (c - 32); }

static const char *braille(int dots) {
  int n = __builtin_popcount((unsigned)dots);
  return n == 0 ? " " : n <= 2 ? "." : n <= 5 ? ":" : "#";
}

static int form_order(const void *key, const void *entry) {
  int cp = *(const int *)key, other = ((const struct form *)entry)->cp;
  return (cp > other) - (cp < other);
}

/* A letter without its marks (é), or a compatibility form (ﬁ, K): its first character if ASCII. */
static int plain_letter(int cp) {
  utf8proc_int32_t parts[32];
  int boundary = 0;
  const int options = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  utf8proc_ssize_t n = utf8proc_decompose_char(cp, parts, 32, options, &boundary);
  return n > 0 && parts[0] < 0x80 ? (int)parts[0] : '?';
}

static struct form form_of(int cp) {
  if (cp >= 0x2500 && cp < 0x2580)
    return (struct form){cp, single(boxes[cp - 0x2500]), NULL};
  if (cp >= 0x2580 && cp < 0x25A0)
    return (struct form){cp, single(blocks[cp - 0x2580]), NULL};
  if (cp >= 0x2800 && cp < 0x2900)
    return (struct form){cp, braille(cp - 0x2800), NULL};
  const struct form *found =
      bsearch(&cp, forms, sizeof forms / sizeof *forms, sizeof *forms, form_order);
  if (found)
    return *found;
  return (struct form){cp, cp < 0 ? "?" : single(cp < 0x80 ? cp : plain_letter(cp)), NULL};
}

const char *utf8_ascii_cell(const char *grapheme, int width) {
  if (width == 2 || ((unsigned char)grapheme[0] < 0x80 && grapheme[0] && !grapheme[1]))
    return grapheme;
  if (width == 0 || !grapheme[0])
    return "";
  size_t n;
  return form_of(utf8_decode(grapheme, strnlen(grapheme, 4), &n)).cell;
}

/* Exponents and indices of several digits get one sign only: 10^11 and not 10^1^1. */
static bool is_script(const struct form *f) {
  return f->text && (f->text[0] == '^' || f->text[0] == '_') && f->text[1] == f->cell[0];
}

char *utf8_ascii(const char *s) {
  struct str out = {0};
  int width;
  char script = 0; /* '^' or '_' if the last one was raised or lowered */
  for (size_t n; (n = utf8_grapheme(s, &width)) > 0; s += n) {
    size_t len;
    if ((n == 1 && (unsigned char)*s < 0x80) || width == 2) {
      str_addn(&out, s, n);
      script = 0;
      continue;
    }
    if (width == 0)
      continue;
    struct form f = form_of(utf8_decode(s, n, &len));
    bool again = is_script(&f) && script == f.text[0];
    str_add(&out, f.text && !again ? f.text : f.cell);
    script = is_script(&f) ? f.text[0] : 0;
  }
  return str_take(&out);
}

/* ---- wrapping */

/* A place where a line may end: its text stops at end, the next line starts at next. */
struct place {
  bool set, rough; /* rough: against the rules for punctuation, for want of a better one */
  size_t end, next;
  int end_width, next_width; /* columns from the start of the line */
};

struct wrap {
  const char *s;
  int cols;
  struct utf8_line *lines;
  size_t n, cap;
  size_t start, end; /* of the open line: its first byte, behind its last one that is no space */
  int width, end_width;
  struct place natural, emergency;
  int last; /* the last code point that is no space */
  int last_width;
};

static bool is_one_of(int cp, const char *set) {
  char bytes[5] = {0};
  if (cp <= 0 || utf8proc_encode_char(cp, (utf8proc_uint8_t *)bytes) <= 0)
    return false;
  return strstr(set, bytes) != NULL;
}

static bool may_not_start(int cp) {
  return is_one_of(cp, ",.;:!?)]}%，。、；：？！）］｝》〉」』】〕〗％·…—～ー”’»");
}

static bool may_not_end(int cp) { return is_one_of(cp, "([{（［｛《〈「『【〔〖“‘«"); }

/* A space under a combining mark is a letter and no space, hence the length. */
static bool is_space(int cp, size_t len) {
  return ((cp == ' ' || cp == '\t') && len == 1) || (cp == 0x3000 && len == 3);
}

static void emit(struct wrap *w, size_t end, int width) {
  if (w->n == w->cap) {
    w->cap = w->cap ? w->cap * 2 : 8;
    w->lines = alloc_grow(w->lines, w->cap, sizeof *w->lines);
  }
  w->lines[w->n++] = (struct utf8_line){w->start, end - w->start, width};
}

static void open_line(struct wrap *w, size_t start) {
  w->start = w->end = start;
  w->width = w->end_width = 0;
  w->natural.set = w->emergency.set = false;
  w->last = 0;
  w->last_width = 0;
}

static void break_at(struct wrap *w, struct place p) {
  emit(w, p.end, p.end_width);
  w->start = p.next;
  w->width -= p.next_width;
  w->end_width = w->end > p.next ? w->end_width - p.next_width : 0;
  w->end = w->end > p.next ? w->end : p.next;
  if (w->emergency.set && w->emergency.next > p.next) {
    w->emergency.end_width -= p.next_width;
    w->emergency.next_width -= p.next_width;
  } else
    w->emergency.set = false;
  w->natural.set = false;
}

/* Notes the places before the cluster at `at`. */
static void note_places(struct wrap *w, size_t at, int cp, int width) {
  if (w->end == w->start)
    return;
  bool fits = !may_not_start(cp) && !may_not_end(w->last);
  struct place here = {true, !fits, w->end, at, w->end_width, w->width};
  if (fits && (at > w->end || width == 2 || w->last_width == 2))
    w->natural = here;
  if (fits || !w->emergency.set || w->emergency.rough)
    w->emergency = here;
}

static void add_cluster(struct wrap *w, size_t at, size_t len, int cp, int width) {
  if (is_space(cp, len)) {
    w->width += width;
    return;
  }
  note_places(w, at, cp, width);
  while (w->width + width > w->cols) {
    if (w->natural.set)
      break_at(w, w->natural);
    else if (w->emergency.set)
      break_at(w, w->emergency);
    else if (w->end > w->start) /* the better places lie before this line */
      break_at(w, (struct place){true, true, w->end, at, w->end_width, w->width});
    else if (w->start < at)
      open_line(w, at); /* an indentation wider than the line */
    else
      break;
  }
  w->width += width;
  w->end = at + len;
  w->end_width = w->width;
  w->last = cp;
  w->last_width = width;
}

size_t utf8_wrap(const char *s, int cols, struct utf8_line **lines) {
  struct wrap w = {.s = s, .cols = cols < 2 ? 2 : cols};
  size_t at = 0;
  int width;
  for (size_t n, len; (n = utf8_grapheme(s + at, &width)) > 0; at += n) {
    if (s[at] == '\n') {
      emit(&w, w.end, w.end_width);
      open_line(&w, at + n);
    } else
      add_cluster(&w, at, n, utf8_decode(s + at, n, &len), width);
  }
  emit(&w, w.end, w.end_width);
  *lines = w.lines;
  return w.n;
}
