#include "base/units.h"

#include "base/alloc.h"
#include "base/expr.h"
#include "base/str.h"
#include "base/unit_text.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_text = 512 };

static const char *const names[UNIT_CLASSES] = {"",       "FLOP", "FLOP/s", "B", "B/s",
                                                "FLOP/B", "s",    "Hz",     "%"};

const char *units_name(enum unit_class c) { return names[c]; }

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool units_class(const char *unit, enum unit_class *out) {
  struct unit_text u;
  if (!unit_text_read(unit, &u))
    return false;
  *out = u.class;
  return true;
}

/* ---- reading: what was typed, in ASCII */

static int superscript(int cp) {
  return cp == 0xB9                                       ? '1'
         : cp == 0xB2                                     ? '2'
         : cp == 0xB3                                     ? '3'
         : cp == 0x2070 || (cp >= 0x2074 && cp <= 0x2079) ? '0' + cp - 0x2070
         : cp == 0x207B                                   ? '-'
                                                          : 0;
}

/* The ASCII character that stands for cp, or 0. */
static int plain(int cp) {
  if (cp >= 0xFF01 && cp <= 0xFF5E) /* full-width forms */
    return cp - 0xFEE0;
  switch (cp) {
  case '\t':
  case 0xA0:
  case 0x2009:
  case 0x202F:
  case 0x3000:
    return ' ';
  case 0xB5:
  case 0x3BC:
    return 'u';
  case 0xB7:
  case 0xD7:
  case 0x2219:
  case 0x22C5:
    return '*';
  case 0xF7:
  case 0x2044:
  case 0x2215:
    return '/';
  case 0x2013:
  case 0x2212:
  case 0x30FC:
    return '-';
  case 0x3002: /* the full stop of a Chinese keyboard */
    return '.';
  default:
    return cp >= 0x20 && cp < 0x7F ? cp : 0;
  }
}

static bool fail_char(const char *s, size_t len, struct err *err) {
  char *shown = utf8_clean(s, len);
  err_set(err, "The character %s cannot be read here; use digits 0-9, + - * / ^ ( ) and a unit.",
          *shown && *shown != '\n' ? shown : "(line break)");
  free(shown);
  return false;
}

/* Text in ASCII; "**" and raised digits become ^. NULL with err. */
static char *to_ascii(const char *text, struct err *err) {
  struct str out = {0};
  bool raised = false;
  str_add(&out, "");
  for (size_t len; *text; text += len) {
    int cp = utf8_decode(text, strnlen(text, 4), &len), up = superscript(cp), c = plain(cp);
    if (!up && !c) {
      fail_char(text, len, err);
      str_free(&out);
      return NULL;
    }
    if (up && !raised)
      str_addc(&out, '^');
    raised = up != 0;
    if (c == '*' && out.len && out.data[out.len - 1] == '*')
      out.data[out.len - 1] = '^';
    else
      str_addc(&out, (char)(up ? up : c));
  }
  return str_take(&out);
}

/* ---- reading: separators inside numbers */

/* Whether sep and three digits, and then no fourth, stand at s. */
static bool is_group(const char *s, char sep) {
  return s[0] == sep && is_digit(s[1]) && is_digit(s[2]) && is_digit(s[3]) && !is_digit(s[4]);
}

/* Bytes of a number in groups of three at s (1,024 or 1 024), or 0. */
static size_t grouped(const char *s) {
  size_t n = 0;
  while (is_digit(s[n]))
    n++;
  if (n == 0 || n > 3 || s[0] == '0' || !(s[n] == ',' || s[n] == ' '))
    return 0;
  char sep = s[n];
  size_t groups = 0;
  for (; is_group(s + n, sep); n += 4)
    groups++;
  /* 1,024,5 is something else */
  return groups && !(s[n] == ',' && is_digit(s[n + 1])) ? n : 0;
}

/* Spaces around the e of 1.37 e 11. Bytes up to the exponent's digits, or 0. */
static size_t spaced_exponent(const char *s) {
  size_t n = strspn(s, " ");
  if (s[n] != 'e' && s[n] != 'E')
    return 0;
  n++;
  n += strspn(s + n, " ");
  size_t sign = s[n] == '+' || s[n] == '-';
  return is_digit(s[n + sign]) ? n : 0;
}

/* An x between numbers is a multiplication sign, but 0x10 is hexadecimal. */
static bool is_times(const char *start, const char *at) {
  if (*at != 'x' && *at != 'X')
    return false;
  const char *next = at + 1 + strspn(at + 1, " ");
  if (!is_digit(*next) && *next != '(' && *next != '.')
    return false;
  const char *last = at;
  while (last > start && last[-1] == ' ')
    last--;
  if (last == start || !(is_digit(last[-1]) || last[-1] == '.' || last[-1] == ')'))
    return false;
  bool zero =
      at > start && at[-1] == '0' && (at - 1 == start || (!is_digit(at[-2]) && at[-2] != '.'));
  return !zero;
}

struct calls {
  int depth;
  bool is_call[64]; /* of each open parenthesis */
};

static void track(struct calls *calls, const char *start, const char *at) {
  if (*at == '(' && calls->depth < 64)
    calls->is_call[calls->depth++] = at > start && (is_letter(at[-1]) || is_digit(at[-1]));
  else if (*at == ')' && calls->depth > 0)
    calls->depth--;
}

/* Numbers without separators. NULL with err for a decimal comma. */
static char *join_numbers(const char *s, struct err *err) {
  struct str out = {0};
  struct calls calls = {0};
  str_add(&out, "");
  for (const char *at = s; *at;) {
    bool in_call = calls.depth > 0 && calls.is_call[calls.depth - 1];
    char before = out.len ? out.data[out.len - 1] : ' ';
    size_t n = is_digit(before) || before == '.' || is_letter(before) ? 0 : grouped(at);
    if (n && !(in_call && at[strcspn(at, ", ")] == ',')) {
      for (size_t i = 0; i < n; i++)
        if (is_digit(at[i]))
          str_addc(&out, at[i]);
      at += n;
      continue;
    }
    if (*at == ',' && !in_call) {
      err_set(err, "The decimal sign is a point here: write 1.5 and not 1,5.");
      str_free(&out);
      return NULL;
    }
    n = is_digit(before) || before == '.' ? spaced_exponent(at) : 0;
    if (n) {
      str_addc(&out, 'e');
      at += n;
      if (*at == '+' || *at == '-')
        str_addc(&out, *at++);
      continue;
    }
    track(&calls, s, at);
    str_addc(&out, is_times(s, at) ? '*' : *at);
    at++;
  }
  return str_take(&out);
}

/* ---- reading: the number and its unit */

/* A place where a unit may begin: a letter or % right behind a number or a parenthesis. */
static bool may_begin(const char *s, size_t i) {
  if (!is_letter(s[i]) && s[i] != '%')
    return false;
  while (i > 0 && s[i - 1] == ' ')
    i--;
  return i > 0 && (is_digit(s[i - 1]) || s[i - 1] == '.' || s[i - 1] == ')');
}

static bool fail_text(const char *s, struct err *err) {
  return err_set(err,
                 "\"%s\" cannot be read; type a number such as 137e9, 137G or 2*4096^3, and its "
                 "unit.",
                 s);
}

static bool fail_unit(const char *unit, struct err *err) {
  struct unit_text u;
  char *capital = alloc_str(unit);
  for (char *c = capital; *c; c++)
    if (*c == 'b')
      *c = 'B';
  bool bits = strcmp(capital, unit) != 0 && unit_text_read(capital, &u);
  free(capital);
  if (bits)
    return err_set(err, "A small b means bit: write B for bytes in \"%s\".", unit);
  return err_set(err,
                 "The unit \"%s\" is not known; write FLOP, FLOP/s, B, B/s, FLOP/B, s, Hz or %%, "
                 "once and at the end.",
                 unit);
}

/* Cuts the unit off s. False with err if what stands at the end is none. */
static bool cut_unit(char *s, struct unit_text *out, struct err *err) {
  *out = (struct unit_text){.class = UNIT_NONE, .factor = 1};
  size_t n = strlen(s);
  for (size_t i = 1; i < n; i++)
    if (may_begin(s, i) && unit_text_read(s + i, out) &&
        !(out->class == UNIT_NONE && out->prefixed)) {
      s[i] = '\0'; /* a prefix alone belongs to its number: 19.5T/1.555T */
      return true;
    }
  for (size_t i = 1; i < n; i++)
    if (may_begin(s, i) && is_letter(s[i]) && !strpbrk(s + i, "0123456789()") &&
        !(unit_text_read(s + i, out) && out->class == UNIT_NONE))
      return fail_unit(s + i, err);
  *out = (struct unit_text){.class = UNIT_NONE, .factor = 1};
  return true;
}

/* Where the operand that ends at n begins: a number, a parenthesis with its function, a power. */
static size_t operand_start(const char *s, size_t n) {
  size_t i = n;
  if (i > 0 && s[i - 1] == ')') {
    int open = 0;
    do {
      i--;
      open += (s[i] == ')') - (s[i] == '(');
    } while (open > 0 && i > 0);
  }
  while (i > 0 && (is_digit(s[i - 1]) || is_letter(s[i - 1]) || s[i - 1] == '.' ||
                   (i > 1 && (s[i - 1] == '-' || s[i - 1] == '+') && is_digit(s[i]) &&
                    (s[i - 2] == 'e' || s[i - 2] == 'E'))))
    i--;
  size_t base = i;
  while (base > 0 && (s[base - 1] == ' ' || s[base - 1] == '-' || s[base - 1] == '+'))
    base--;
  if (base == 0 || s[base - 1] != '^')
    return i;
  base--;
  while (base > 0 && s[base - 1] == ' ')
    base--;
  return operand_start(s, base);
}

/* Multiplies the operand at the end of out; the two stay together: 1/2k is 1/2000. */
static void scale_operand(struct str *out, double factor) {
  while (out->len && out->data[out->len - 1] == ' ')
    out->data[--out->len] = '\0';
  size_t start = operand_start(out->data, out->len);
  char *operand = alloc_str(out->data + start);
  out->len = start;
  str_addf(out, "(%s*%.0f)", operand, factor);
  free(operand);
}

/* Prefixes inside an expression (19.5T/1.555T) become factors. False for other names. */
static bool expand(const char *s, struct str *out, bool *prefixed) {
  str_add(out, "");
  for (size_t i = 0, n; s[i]; i += n) {
    n = 0;
    while (is_letter(s[i + n]) || (n && is_digit(s[i + n])))
      n++;
    if (n == 0) {
      str_addc(out, s[i]);
      n = 1;
      continue;
    }
    char *word = alloc_strn(s + i, n);
    struct unit_text u;
    bool exponent =
        (s[i] == 'e' || s[i] == 'E') && i > 0 && (is_digit(s[i - 1]) || s[i - 1] == '.');
    bool number = may_begin(s, i);
    bool prefix = number && !exponent && unit_text_simple(word, &u) && u.class == UNIT_NONE;
    if (prefix)
      scale_operand(out, u.factor);
    else
      str_add(out, word);
    free(word);
    *prefixed = *prefixed || prefix;
    if (!prefix && !exponent && (number || s[i + n] != '('))
      return false;
  }
  return true;
}

/* 0.137 T is 137000000000.00002 in doubles: the neighbour with 15 digits is what was meant. */
static double settle(double value) {
  char text[64];
  if (value == floor(value) && fabs(value) <= 0x1p53)
    return value + 0.0; /* no -0 */
  snprintf(text, sizeof text, "%.15g", value);
  double near = strtod(text, NULL);
  return fabs(near - value) <= 4 * 0x1p-53 * fabs(value) ? near : value;
}

static bool is_hex(const char *s) {
  for (const char *x = strpbrk(s, "xX"); x; x = strpbrk(x + 1, "xX"))
    if (x > s && x[-1] == '0' && (x - 1 == s || (!is_digit(x[-2]) && x[-2] != '.')) && x[1] &&
        x[1] != ' ')
      return true;
  return false;
}

static bool evaluate(const char *s, const struct unit_text *unit, struct units_value *out,
                     struct err *err) {
  struct str text = {0};
  bool prefixed = unit->prefixed;
  double value = 0;
  bool ok = expand(s, &text, &prefixed) || fail_text(s, err);
  if (ok && !expr_eval(text.data, NULL, NULL, &value, err)) {
    err_prefix(err, "\"%s\" cannot be read as a number", s);
    ok = false;
  }
  str_free(&text);
  value *= unit->factor;
  if (ok && !isfinite(value))
    ok = err_set(err, "\"%s\" is too large a number.", s);
  if (ok)
    *out = (struct units_value){settle(value), unit->class, prefixed};
  return ok;
}

static void trim(char *s) {
  size_t from = strspn(s, " "), n = strlen(s);
  while (n > from && s[n - 1] == ' ')
    n--;
  memmove(s, s + from, n - from);
  s[n - from] = '\0';
}

bool units_parse(const char *text, struct units_value *out, struct err *err) {
  if (strnlen(text, max_text + 1) > max_text)
    return err_set(err, "The text is longer than %d characters; type one number.", max_text);
  char *ascii = to_ascii(text, err);
  if (!ascii)
    return false;
  trim(ascii);
  struct unit_text unit;
  char *s = NULL;
  bool ok = *ascii || err_set(err, "Nothing was typed; type a number such as 137e9 or 137 GFLOP.");
  if (ok && is_hex(ascii))
    ok = err_set(err, "\"%s\" cannot be read; write 16 and not 0x10.", ascii);
  ok = ok && (s = join_numbers(ascii, err)) != NULL && cut_unit(s, &unit, err);
  if (ok) {
    trim(s);
    ok = evaluate(s, &unit, out, err);
  }
  free(s);
  free(ascii);
  return ok;
}

/* ---- writing */

/* The power of ten of |value| once it is rounded to that many digits. */
static int exponent_of(double value, int digits) {
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits - 1, value);
  const char *e = strchr(text, 'e');
  return e ? atoi(e + 1) : 0;
}

static void add_fixed(struct str *out, double value, int digits, bool strip) {
  int exponent = exponent_of(value, digits);
  bool scientific = exponent > 14 || exponent < -6;
  int decimals = digits - 1 - (scientific ? 0 : exponent);
  str_addf(out, "%.*f", decimals > 0 ? decimals : 0,
           scientific ? value / pow(10, exponent) : value);
  for (char *c = out->data; *c; c++)
    if (*c == ',') /* a process that has set another locale */
      *c = '.';
  if (scientific) {
    str_addf(out, "e%d", exponent);
    return;
  }
  if (!strip || !strchr(out->data, '.'))
    return;
  while (out->data[out->len - 1] == '0')
    out->len--;
  if (out->data[out->len - 1] == '.')
    out->len--;
  out->data[out->len] = '\0';
}

struct prefix {
  double factor;
  const char *text;
};

static const struct prefix none[] = {{1, ""}, {0, NULL}};
static const struct prefix large[] = {{1, ""},     {1e3, "k"},  {1e6, "M"},  {1e9, "G"},
                                      {1e12, "T"}, {1e15, "P"}, {1e18, "E"}, {0, NULL}};
static const struct prefix plain_large[] = {{1, ""},     {1e6, "M"},  {1e9, "G"},
                                            {1e12, "T"}, {1e15, "P"}, {0, NULL}};
static const struct prefix small[] = {{1e-12, "p"}, {1e-9, "n"}, {1e-6, "\xC2\xB5"},
                                      {1e-3, "m"},  {1, ""},     {0, NULL}};
static const struct prefix binary[] = {{1, ""},        {0x1p10, "Ki"}, {0x1p20, "Mi"},
                                       {0x1p30, "Gi"}, {0x1p40, "Ti"}, {0x1p50, "Pi"},
                                       {0, NULL}};

static const struct prefix *prefixes_for(const struct unit_text *u, double value) {
  if (u->binary)
    return binary;
  switch (u->class) {
  case UNIT_NONE:
    return fabs(value) < 999.5e15 ? plain_large : none; /* "5 E" would be a bad number */
  case UNIT_SECOND:
    return small;
  case UNIT_INTENSITY:
  case UNIT_PERCENT:
    return none;
  default:
    return large;
  }
}

/* The first prefix under which the rounded number stays below the next one's factor. */
static const struct prefix *choose(const struct prefix *p, double value, int digits) {
  for (; p[1].text; p++) {
    int places = digits > 3 ? digits : 3;
    char text[64];
    snprintf(text, sizeof text, "%.*e", places - 1, fabs(value) / p->factor);
    double rounded = strtod(text, NULL);
    if (rounded < p[1].factor / p->factor * (1 - 1e-9))
      break;
  }
  return p;
}

char *units_format(double value, const char *unit, int digits) {
  if (!isfinite(value))
    return alloc_str("-");
  struct str out = {0};
  struct unit_text u;
  bool known = unit_text_read(unit, &u);
  if (!known || strcmp(unit, "x") == 0)
    u = (struct unit_text){.class = UNIT_NONE, .factor = 1};
  const char *name = u.class == UNIT_NONE && !u.prefixed ? unit : names[u.class];
  if (digits <= 0)
    digits = 3;
  if (digits > 15)
    digits = 15;
  value *= u.factor;
  const struct prefix *p = choose(prefixes_for(&u, value), value, digits);
  double shown = value / p->factor;
  bool count = u.class == UNIT_NONE || u.class == UNIT_FLOP || u.class == UNIT_BYTE ||
               u.class == UNIT_PERCENT;
  bool ratio = u.class == UNIT_NONE || u.class == UNIT_PERCENT;
  if (shown == 0)
    str_add(&out, "0");
  else if (count && p->factor == 1 && shown == floor(shown) && fabs(shown) < 1e15)
    str_addf(&out, "%.0f", shown);
  else
    add_fixed(&out, shown, digits, ratio && p->factor == 1);
  if (*p->text || *name)
    str_addf(&out, " %s%s%s", p->text, *p->text && !known && *name ? " " : "", name);
  return str_take(&out);
}

char *units_exact(double value) {
  if (!isfinite(value))
    return alloc_str("-");
  struct str plain_text = {0}, out = {0};
  if (fabs(value) < 1e21 && value == floor(value))
    str_addf(&plain_text, "%.0f", value == 0 ? 0.0 : value);
  else
    str_add_num(&plain_text, value);
  const char *s = plain_text.data;
  if (*s == '-')
    str_addc(&out, *s++);
  size_t whole = strspn(s, "0123456789");
  bool exponent = strchr(s, 'e') != NULL;
  for (size_t i = 0; i < whole; i++) {
    if (i && (whole - i) % 3 == 0 && !exponent)
      str_addc(&out, ',');
    str_addc(&out, s[i]);
  }
  str_add(&out, s + whole);
  str_free(&plain_text);
  return str_take(&out);
}
