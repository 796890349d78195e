#include "base/unit_text.h"

#include "base/alloc.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A unit without prefix: its class, or -1. "FLOPS" is a rate, "FLOPs" and "flops" are amounts. */
static int bare_class(const char *s) {
  size_t n = strlen(s);
  if (strcasecmp(s, "flops") == 0)
    return s[n - 1] == 'S' ? UNIT_FLOPS : UNIT_FLOP;
  if (strcasecmp(s, "flop") == 0)
    return UNIT_FLOP;
  if (strcmp(s, "B") == 0 || strcasecmp(s, "byte") == 0 || strcasecmp(s, "bytes") == 0)
    return UNIT_BYTE;
  if (strcmp(s, "Bps") == 0)
    return UNIT_BYTES;
  if (strcmp(s, "s") == 0 || strcasecmp(s, "sec") == 0 || strcasecmp(s, "second") == 0 ||
      strcasecmp(s, "seconds") == 0)
    return UNIT_SECOND;
  if (strcasecmp(s, "hz") == 0)
    return UNIT_HERTZ;
  return -1;
}

static double prefix_factor(char c) {
  switch (c) {
  case 'k':
  case 'K':
    return 1e3;
  case 'M':
    return 1e6;
  case 'G':
  case 'g':
    return 1e9;
  case 'T':
  case 't':
    return 1e12;
  case 'P':
    return 1e15;
  case 'E':
    return 1e18;
  default:
    return 0;
  }
}

/* Small prefixes belong to seconds alone: nobody counts milli-bytes, and mB is a slip for MB. */
static double small_factor(char c) {
  return c == 'm' ? 1e-3 : c == 'u' ? 1e-6 : c == 'n' ? 1e-9 : c == 'p' ? 1e-12 : 0;
}

static double binary_factor(const char *s) {
  static const char letters[] = "KMGTP";
  const char *at = *s ? strchr(letters, *s == 'k' ? 'K' : *s) : NULL;
  return at && s[1] == 'i' ? ldexp(1, 10 * (int)(at - letters + 1)) : 0;
}

bool unit_text_simple(const char *s, struct unit_text *out) {
  int class = bare_class(s);
  *out = (struct unit_text){.class = class < 0 ? UNIT_NONE : (enum unit_class) class, .factor = 1};
  if (class >= 0)
    return true;
  out->prefixed = true;
  out->factor = binary_factor(s);
  if (out->factor > 0) {
    out->binary = true;
    s += 2;
  } else {
    class = *s ? bare_class(s + 1) : -1;
    out->factor = class == UNIT_SECOND ? small_factor(*s) : prefix_factor(*s);
    s++;
  }
  if (out->factor <= 0)
    return false;
  if (*s == '\0')
    return s[-1] != 'g' && s[-1] != 't' && s[-1] != 'E';
  class = bare_class(s);
  if (class < 0 || (class == UNIT_SECOND && out->binary))
    return false;
  out->class = (enum unit_class) class;
  return true;
}

static bool quotient(const char *s, size_t at, struct unit_text *out) {
  struct unit_text over, under;
  char *left = alloc_strn(s, at);
  bool ok = unit_text_simple(left, &over) && unit_text_simple(s + at + 1, &under);
  free(left);
  if (!ok)
    return false;
  *out = over;
  out->prefixed = over.prefixed || under.prefixed;
  out->factor = over.factor / under.factor;
  if (over.class == UNIT_FLOP && under.class == UNIT_SECOND)
    out->class = UNIT_FLOPS;
  else if (over.class == UNIT_BYTE && under.class == UNIT_SECOND)
    out->class = UNIT_BYTES;
  else if (over.class == UNIT_FLOP && under.class == UNIT_BYTE)
    out->class = UNIT_INTENSITY;
  else
    return false;
  return true;
}

/* Spaces do not count, "per" is a slash. */
static char *squeeze(const char *s) {
  struct str out = {0};
  str_add(&out, "");
  for (; *s; s++)
    if (strncmp(s, " per ", 5) == 0) {
      str_addc(&out, '/');
      s += 4;
    } else if (strncmp(s, "\xC2\xB5", 2) == 0 || strncmp(s, "\xCE\xBC", 2) == 0) {
      str_addc(&out, 'u');
      s++;
    } else if (*s != ' ')
      str_addc(&out, *s);
  return str_take(&out);
}

bool unit_text_read(const char *text, struct unit_text *out) {
  char *s = squeeze(text);
  const char *slash = strchr(s, '/');
  bool ok = true;
  *out = (struct unit_text){.class = UNIT_NONE, .factor = 1};
  if (strcmp(s, "%") == 0 || strcasecmp(s, "percent") == 0)
    out->class = UNIT_PERCENT;
  else if (*s && strcmp(s, "x") != 0) /* "2.5x" is a ratio */
    ok = slash ? quotient(s, (size_t)(slash - s), out) : unit_text_simple(s, out);
  free(s);
  return ok;
}
