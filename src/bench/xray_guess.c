#include "bench/xray_guess.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* "d_A", "dA", "A_dev" -> "a"; lower case in any case. */
static void plain_name(const char *name, char out[64]) {
  static const char *const before[] = {"d_", "dev_", "device_", "g_", "p_", "ptr_", "mat_", "mat"};
  static const char *const behind[] = {"_d", "_dev", "_device", "_gpu", "_ptr", "_mat"};
  if (name[0] == 'd' && isupper((unsigned char)name[1]))
    name++;
  size_t n = 0;
  for (; name[n] && n < 63; n++)
    out[n] = (char)tolower((unsigned char)name[n]);
  out[n] = '\0';
  for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
    size_t k = strlen(before[i]);
    if (n > k && strncmp(out, before[i], k) == 0) {
      memmove(out, out + k, n - k + 1);
      n -= k;
      break;
    }
  }
  for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
    size_t k = strlen(behind[i]);
    if (n > k && strcmp(out + n - k, behind[i]) == 0) {
      out[n - k] = '\0';
      break;
    }
  }
}

static bool in(const char *word, const char *const *list) {
  for (; *list; list++)
    if (strcmp(word, *list) == 0)
      return true;
  return false;
}

struct pointers {
  int at[XRAY_PARAMS_MAX], n;
  const char *const *roles; /* in the usual order; the last is the output */
  int nroles;
};

static const char *const *roles_of(enum kernel_op op, int *n) {
  static const char *const three[] = {"A", "B", "C"}, *const two[] = {"A", "C"};
  bool binary = op == OP_GEMM || op == OP_GEMV || op == OP_ADD || op == OP_OTHER;
  *n = binary ? 3 : 2;
  return binary ? three : two;
}

static bool pointers_by_name(const struct xray_params *p, const struct pointers *s, bool vector,
                             const char **words) {
  int seen[3] = {0};
  for (int i = 0; i < s->n; i++) {
    char name[64];
    plain_name(p->all[s->at[i]].name, name);
    const char *role = NULL;
    for (int r = 0; r < s->nroles; r++) {
      bool alias =
          vector && ((r == 1 && strcmp(name, "x") == 0) || (r == 2 && strcmp(name, "y") == 0));
      if (alias || (name[0] == (char)tolower((unsigned char)*s->roles[r]) && !name[1])) {
        role = s->roles[r];
        seen[r]++;
      }
    }
    if (!role)
      return false;
    words[s->at[i]] = role;
  }
  for (int r = 0; r < s->nroles; r++)
    if (seen[r] != 1)
      return false;
  return true;
}

/* The inputs are const, and come in order; the output is not. */
static bool pointers_by_const(const struct xray_params *p, const struct pointers *s,
                              const char **words) {
  int input = 0, output = 0;
  for (int i = 0; i < s->n; i++) {
    if (p->all[s->at[i]].is_const && input < s->nroles - 1)
      words[s->at[i]] = s->roles[input++];
    else if (!p->all[s->at[i]].is_const && output++ == 0)
      words[s->at[i]] = s->roles[s->nroles - 1];
    else
      return false;
  }
  return input == s->nroles - 1 && output == 1;
}

static bool guess_pointers(const struct xray_case *c, const struct xray_params *p,
                           const char **words) {
  struct pointers s = {.n = 0};
  s.roles = roles_of(c->shape.op, &s.nroles);
  for (int i = 0; i < p->n; i++)
    if (p->all[i].pointer)
      s.at[s.n++] = i;
  return s.n == s.nroles && (pointers_by_name(p, &s, c->shape.op == OP_GEMV, words) ||
                             pointers_by_const(p, &s, words));
}

static bool is_size(const struct xray_params_one *p) {
  return !p->pointer && p->kind == XRAY_PARAMS_INTEGER;
}

/* The one size of a kernel for square matrices, or of one for a flat array. */
static const char *only_size(const struct xray_case *c) {
  const struct kernel_size *s = &c->size;
  switch (c->shape.op) {
  case OP_GEMM:
    return s->M == s->N && s->N == s->K ? "N" : NULL;
  case OP_GEMV:
    return s->M == s->K ? "K" : NULL;
  case OP_TRANSPOSE:
    return s->M == s->N ? "N" : NULL;
  case OP_ADD:
  case OP_COPY:
  case OP_REDUCE:
    return "M*N";
  default:
    return NULL;
  }
}

static const char *size_by_name(const struct xray_case *c, const char *name) {
  static const char *const rows[] = {"m", "rows", "height", "h", "ny", "nrows", "num_rows", NULL};
  static const char *const cols[] = {"n", "cols", "width", "w", "nx", "ncols", "num_cols", NULL};
  static const char *const leading[] = {"lda", "ldb", "ldc"};
  for (int i = 0; i < 3; i++)
    if (strcmp(name, leading[i]) == 0)
      return leading[i];
  if (c->shape.op == OP_GEMM)
    return strcmp(name, "m") == 0   ? "M"
           : strcmp(name, "n") == 0 ? "N"
           : strcmp(name, "k") == 0 ? "K"
                                    : NULL;
  if (in(name, rows))
    return "M";
  if (c->shape.op == OP_GEMV)
    return in(name, cols) || strcmp(name, "k") == 0 ? "K" : NULL;
  return in(name, cols) ? "N" : NULL;
}

static bool guess_sizes(const struct xray_case *c, const struct xray_params *p,
                        const char **words) {
  int n = 0, last = 0;
  bool named = true;
  for (int i = 0; i < p->n; i++) {
    if (!is_size(&p->all[i]))
      continue;
    char name[64];
    plain_name(p->all[i].name, name);
    words[i] = size_by_name(c, name);
    for (int k = 0; k < i; k++)
      named = named && !(words[i] && words[k] && strcmp(words[i], words[k]) == 0);
    named = named && words[i];
    n++;
    last = i;
  }
  if (n == 1) {
    words[last] = only_size(c);
    return words[last] != NULL;
  }
  return named;
}

static bool guess_scalars(const struct xray_params *p, const char **words) {
  for (int i = 0; i < p->n; i++) {
    const struct xray_params_one *one = &p->all[i];
    if (one->pointer || is_size(one))
      continue;
    char name[64];
    plain_name(one->name, name);
    words[i] = strcmp(name, "alpha") == 0 ? "alpha" : strcmp(name, "beta") == 0 ? "beta" : NULL;
    if (!words[i])
      return false;
  }
  return true;
}

bool xray_guess(const struct xray_case *c, const struct xray_params *p,
                const char *words[XRAY_PARAMS_MAX]) {
  return p->n > 0 && p->n <= XRAY_PARAMS_MAX && guess_pointers(c, p, words) &&
         guess_sizes(c, p, words) && guess_scalars(p, words);
}

void xray_guess_example(const struct xray_params *p, const char *words[XRAY_PARAMS_MAX]) {
  static const char *const sizes[] = {"M", "N", "K"}, *const numbers[] = {"1.0", "0.0"};
  int a = 0, s = 0, f = 0, pointers = 0, all = 0;
  for (int i = 0; i < p->n && i < XRAY_PARAMS_MAX; i++) {
    pointers += p->all[i].pointer;
    all += is_size(&p->all[i]);
  }
  for (int i = 0; i < p->n && i < XRAY_PARAMS_MAX; i++) {
    if (p->all[i].pointer)
      words[i] = ++a == pointers || a > 2 ? "C" : a == 1 ? "A" : "B";
    else if (is_size(&p->all[i]))
      words[i] = all == 1 && pointers < 3 ? "M*N" : sizes[s < 2 ? s++ : 2];
    else
      words[i] = numbers[f < 1 ? f++ : 1];
  }
}
