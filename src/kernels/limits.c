#include "kernels/limits.h"

#include "base/alloc.h"
#include "base/str.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double grid_max[3] = {2147483647, 65535, 65535};
static const double block_max[3] = {1024, 1024, 64};
enum { BLOCK_THREADS = 1024 };

/* A requirement cut at its one comparison. */
struct comparison {
  char *left, *right;
  char op[3];
};

static char *trimmed(const char *s, size_t n) {
  while (n && isspace((unsigned char)*s))
    s++, n--;
  while (n && isspace((unsigned char)s[n - 1]))
    n--;
  return alloc_strn(s, n);
}

/* False where the text is no single comparison ("M%4==0 && N%4==0"). */
static bool compare_split(const char *text, struct comparison *out) {
  static const char *const ops[] = {"<=", ">=", "==", "!=", "<", ">"};
  const char *found = NULL;
  int depth = 0, which = -1;
  for (const char *at = text; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth != 0)
      continue;
    if (strchr("&|?!", *at) && at[1] != '=')
      return false;
    for (int i = 0; i < 6; i++) {
      if (strncmp(at, ops[i], strlen(ops[i])) != 0)
        continue;
      if (found)
        return false;
      found = at, which = i;
      at += strlen(ops[i]) - 1;
      break;
    }
  }
  if (!found)
    return false;
  out->left = trimmed(text, (size_t)(found - text));
  strcpy(out->op, ops[which]);
  const char *right = found + strlen(out->op);
  out->right = trimmed(right, strlen(right));
  return true;
}

/* "N%4" -> "N" and 4; false if text has another form. */
static bool multiple_split(const char *text, char **what, double *of, struct kernel_scope *scope) {
  const char *percent = strrchr(text, '%');
  if (!percent || strchr(text, '%') != percent || strchr(percent, ')'))
    return false;
  if (!expr_eval(percent + 1, kernel_lookup, scope, of, NULL) || *of < 1)
    return false;
  *what = trimmed(text, (size_t)(percent - text));
  return true;
}

static const char *reason(double limit) {
  if (limit > 2147483000 && limit <= 2147483647)
    return " (it indexes with int)";
  if (limit == 65535)
    return " (CUDA's limit for a grid in y and z)";
  return "";
}

static bool say_multiple(const struct kernel *k, const char *what, double of,
                         struct kernel_scope *scope, struct err *err) {
  double value;
  if (!expr_eval(what, kernel_lookup, scope, &value, err))
    return false;
  double below = floor(value / of) * of, above = below + of;
  if (below < 1)
    return err_set(err, "%s needs %s to be a multiple of %.17g; %.17g is not. Take %.17g", k->id,
                   what, of, value, above);
  return err_set(err, "%s needs %s to be a multiple of %.17g; %.17g is not. Take %.17g or %.17g",
                 k->id, what, of, value, below, above);
}

static bool say_comparison(const struct kernel *k, const struct comparison *c,
                           struct kernel_scope *scope, struct err *err) {
  double left, right;
  if (!expr_eval(c->left, kernel_lookup, scope, &left, err) ||
      !expr_eval(c->right, kernel_lookup, scope, &right, err))
    return false;
  char *filled = expr_filled(c->left, kernel_lookup, scope);
  char *number = alloc_printf("%.17g", left);
  bool plain = !strcmp(filled, number);
  bool least = c->op[0] == '<';
  err_set(err, "%s needs %s %s %s%s; %s%s%s.%s", k->id, c->left, c->op, c->right,
          least ? reason(right) : "", filled, plain ? "" : " = ", plain ? " is not" : number,
          least ? " Take smaller sizes" : "");
  free(filled);
  free(number);
  return false;
}

bool limits_sentence(const struct kernel *k, const char *requirement, struct kernel_scope *scope,
                     struct err *err) {
  struct comparison c;
  if (!compare_split(requirement, &c)) {
    char *filled = expr_filled(requirement, kernel_lookup, scope);
    err_set(err, "%s needs %s; here that is %s, which does not hold", k->id, requirement, filled);
    free(filled);
    return false;
  }
  char *what = NULL;
  double of;
  if (!strcmp(c.op, "==") && !strcmp(c.right, "0") && multiple_split(c.left, &what, &of, scope))
    say_multiple(k, what, of, scope, err);
  else
    say_comparison(k, &c, scope, err);
  free(what);
  free(c.left);
  free(c.right);
  return false;
}

/* ---- geometry */

static bool one(const char *text, const char *what, char axis, double max,
                struct kernel_scope *scope, int64_t *out, struct err *err) {
  const char *id = scope->k->id;
  double value;
  if (!expr_eval(text, kernel_lookup, scope, &value, err))
    return err_prefix(err, "%s, %s.%c", id, what, axis);
  if (value != floor(value) || value < 1)
    return err_set(err, "%s: %s.%c = %s is %.17g, and it must be a whole number from 1", id, what,
                   axis, text, value);
  if (value > max)
    return err_set(err, "%s: %s.%c = %s is %.17g, and CUDA's limit is %.17g. Take smaller sizes",
                   id, what, axis, text, value, max);
  *out = (int64_t)value;
  return true;
}

bool limits_geometry(const struct kernel_launch *launch, struct kernel_scope *scope,
                     struct kernel_geometry *out, struct err *err) {
  const char *id = scope->k->id;
  for (int i = 0; i < 3; i++)
    if (!one(launch->grid[i], "grid", "xyz"[i], grid_max[i], scope, &out -> grid[i], err) ||
        !one(launch->block[i], "block", "xyz"[i], block_max[i], scope, &out -> block[i], err))
      return false;
  int64_t threads = out->block[0] * out->block[1] * out->block[2];
  if (threads > BLOCK_THREADS)
    return err_set(err,
                   "%s: a block of %lld threads, and CUDA's limit is %d. Take smaller "
                   "parameters",
                   id, (long long)threads, BLOCK_THREADS);
  double smem;
  if (!expr_eval(launch->smem, kernel_lookup, scope, &smem, err))
    return err_prefix(err, "%s, smem", id);
  if (smem != floor(smem) || smem < 0 || smem > 2147483647)
    return err_set(err, "%s: smem = %s is %.17g, and it must be a whole number of bytes", id,
                   launch->smem, smem);
  out->smem = (int64_t)smem;
  return true;
}
