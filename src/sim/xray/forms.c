#include "sim/xray/forms.h"

#include "base/alloc.h"
#include "sim/xray/lanes.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_TERMS = 6, MAX_FORMS = 4096, MAX_ROOTS = 1024, TABLE = 8192, COORDINATES = 3 };

struct term {
  int root;
  int64_t factor;
};

struct form { /* terms by rising root */
  struct term term[MAX_TERMS];
  int n;
  bool limited;
  int64_t low, high;
  int bits; /* it must be a multiple of 2^bits */
};

struct node {
  const struct insn *in;
  struct forms_operand with[3];
  int64_t here; /* its value in the block that the forms are of */
};

struct sum { /* a form added before */
  forms_id a, b, is;
  bool narrow, used;
  int64_t factor;
};

struct forms {
  int64_t block[3], grid[3];
  struct form *form;
  int nforms;
  uint16_t *table; /* of forms by their terms */
  struct sum *sums;
  struct node *nodes;
  int nnodes;
};

struct forms *forms_new(const int64_t block[3], const int64_t grid[3]) {
  struct forms *f = alloc_zero(1, sizeof *f);
  memcpy(f->block, block, sizeof f->block);
  memcpy(f->grid, grid, sizeof f->grid);
  f->form = alloc_zero(MAX_FORMS, sizeof *f->form);
  f->nforms = 1; /* FORMS_NONE */
  f->table = alloc_zero(TABLE, sizeof *f->table);
  f->sums = alloc_zero(TABLE, sizeof *f->sums);
  f->nodes = alloc_zero(MAX_ROOTS, sizeof *f->nodes);
  return f;
}

void forms_free(struct forms *f) {
  if (!f)
    return;
  free(f->form);
  free(f->table);
  free(f->sums);
  free(f->nodes);
  free(f);
}

/* ---- forms */

static uint32_t mixed(uint32_t h, uint64_t v) {
  return (h ^ (uint32_t)v ^ (uint32_t)(v >> 32)) * 2654435761u ^ h >> 15;
}

static forms_id known(struct forms *f, const struct form *want) {
  if (want->n == 0)
    return FORMS_NONE;
  uint32_t h = 1;
  for (int i = 0; i < want->n; i++)
    h = mixed(mixed(h, (uint64_t)want->term[i].root), (uint64_t)want->term[i].factor);
  size_t bytes = (size_t)want->n * sizeof *want->term;
  for (uint32_t i = h % TABLE;; i = (i + 1) % TABLE) {
    int id = f->table[i];
    if (id && f->form[id].n == want->n && memcmp(f->form[id].term, want->term, bytes) == 0)
      return (forms_id)id;
    if (id)
      continue;
    if (f->nforms == MAX_FORMS)
      return FORMS_DATA;
    f->table[i] = (uint16_t)f->nforms;
    f->form[f->nforms] = *want;
    return (forms_id)f->nforms++;
  }
}

static forms_id of_root(struct forms *f, int root) {
  struct form one;
  memset(&one, 0, sizeof one);
  one.n = 1;
  one.term[0].root = root;
  one.term[0].factor = 1;
  return known(f, &one);
}

forms_id forms_coordinate(struct forms *f, int i) {
  return f->grid[i] == 1 ? FORMS_NONE : of_root(f, i);
}

/* False if there are too many terms, or a factor too large. */
static bool add_terms(struct form *out, const struct form *a, const struct form *b, int64_t factor,
                      bool narrow) {
  memset(out, 0, sizeof *out);
  for (int i = 0, k = 0; i < a->n || k < b->n;) {
    int ra = i < a->n ? a->term[i].root : INT32_MAX, rb = k < b->n ? b->term[k].root : INT32_MAX;
    struct term t;
    memset(&t, 0, sizeof t);
    t.root = ra < rb ? ra : rb;
    int64_t v = 0;
    if (rb <= ra && __builtin_mul_overflow(b->term[k++].factor, factor, &v))
      return false;
    if (ra <= rb && __builtin_add_overflow(a->term[i++].factor, v, &v))
      return false;
    t.factor = narrow ? (int32_t)v : v;
    if (t.factor == 0)
      continue;
    if (out->n == MAX_TERMS)
      return false;
    out->term[out->n++] = t;
  }
  return true;
}

forms_id forms_add(struct forms *f, forms_id a, forms_id b, int64_t factor, bool narrow) {
  if (a == FORMS_DATA || (b == FORMS_DATA && factor))
    return FORMS_DATA;
  if (b == FORMS_NONE || !factor)
    return a;
  uint32_t h = mixed(mixed((uint32_t)a << 16 | b, (uint64_t)factor), narrow) % TABLE;
  struct sum *s = &f->sums[h];
  if (s->used && s->a == a && s->b == b && s->factor == factor && s->narrow == narrow)
    return s->is;
  struct form out;
  forms_id is = FORMS_DATA;
  if (add_terms(&out, &f->form[a], &f->form[b], factor, narrow))
    is = known(f, &out);
  *s = (struct sum){a, b, is, narrow, true, factor};
  return is;
}

bool forms_divides(const struct forms *f, forms_id a, int bits) {
  if (a == FORMS_DATA || bits > 62)
    return false;
  for (int i = 0; i < f->form[a].n; i++)
    if (f->form[a].term[i].factor & (((int64_t)1 << bits) - 1))
      return false;
  return true;
}

forms_id forms_shifted(struct forms *f, forms_id a, int bits) {
  struct form out = f->form[a];
  for (int i = 0; i < out.n; i++)
    out.term[i].factor >>= bits;
  out.limited = false;
  return known(f, &out);
}

/* ---- limits */

static void open_limits(struct form *m) {
  if (m->limited)
    return;
  m->limited = true;
  m->low = INT64_MIN;
  m->high = INT64_MAX;
  m->bits = 0;
}

void forms_limit(struct forms *f, forms_id a, int64_t low, int64_t high) {
  if (a == FORMS_NONE)
    return;
  struct form *m = &f->form[a];
  open_limits(m);
  m->low = low > m->low ? low : m->low;
  m->high = high < m->high ? high : m->high;
}

void forms_multiple(struct forms *f, forms_id a, int bits) {
  if (a == FORMS_NONE || forms_divides(f, a, bits))
    return;
  struct form *m = &f->form[a];
  open_limits(m);
  m->bits = bits > m->bits ? bits : m->bits;
}

/* ---- scalars */

static bool same_operands(const struct forms_operand *x, const struct forms_operand *y) {
  for (int i = 0; i < 3; i++)
    if (x[i].value != y[i].value || x[i].id != y[i].id || x[i].bytes != y[i].bytes)
      return false;
  return true;
}

/* The operation on 32 blocks in place of 32 lanes. */
static void evaluate(const struct node *n, uint64_t in[3][INSN_LANES], int64_t out[INSN_LANES]) {
  unsigned char lanes[4][2 * INSN_UNIT] = {{0}};
  for (int i = 0; i < 3; i++)
    for (int l = 0; l < INSN_LANES && n->with[i].bytes; l++)
      memcpy(lanes[i] + l * n->with[i].bytes, &in[i][l], (size_t)n->with[i].bytes);
  n->in->alu(lanes[3], lanes[0], lanes[1], lanes[2]);
  for (int l = 0; l < INSN_LANES; l++) {
    int32_t narrow;
    if (n->in->dst_bytes == 8) {
      memcpy(&out[l], lanes[3] + l * 8, 8);
    } else {
      memcpy(&narrow, lanes[3] + l * 4, 4);
      out[l] = narrow;
    }
  }
}

forms_id forms_node(struct forms *f, const struct insn *in, const struct forms_operand with[3]) {
  for (int i = 0; i < f->nnodes; i++)
    if (f->nodes[i].in == in && same_operands(f->nodes[i].with, with))
      return of_root(f, COORDINATES + i);
  if (f->nnodes == MAX_ROOTS)
    return FORMS_DATA;
  struct node *n = &f->nodes[f->nnodes];
  n->in = in;
  memcpy(n->with, with, sizeof n->with);
  uint64_t operands[3][INSN_LANES];
  int64_t out[INSN_LANES];
  for (int i = 0; i < 3; i++)
    for (int l = 0; l < INSN_LANES; l++)
      operands[i][l] = with[i].value;
  evaluate(n, operands, out);
  n->here = out[0];
  return of_root(f, COORDINATES + f->nnodes++);
}

/* ---- other blocks */

/* Differences of a form in 32 blocks; far[i]: one that does not fit. */
static void differences(const struct form *m, int64_t (*root)[INSN_LANES], int64_t out[INSN_LANES],
                        bool far[INSN_LANES]) {
  for (int l = 0; l < INSN_LANES; l++) {
    int64_t sum = 0, v;
    bool over = false;
    for (int i = 0; i < m->n; i++) {
      over |= __builtin_mul_overflow(m->term[i].factor, root[m->term[i].root][l], &v);
      over |= __builtin_add_overflow(sum, v, &sum);
    }
    out[l] = sum;
    far[l] = over;
  }
}

static void roots_of(const struct forms *f, const int64_t *blocks, int n,
                     int64_t (*root)[INSN_LANES]) {
  int64_t out[INSN_LANES];
  bool far[INSN_LANES];
  for (int l = 0; l < INSN_LANES; l++) {
    int64_t b = blocks[l < n ? l : 0];
    root[0][l] = b % f->grid[0] - f->block[0];
    root[1][l] = b / f->grid[0] % f->grid[1] - f->block[1];
    root[2][l] = b / f->grid[0] / f->grid[1] - f->block[2];
  }
  for (int i = 0; i < f->nnodes; i++) {
    uint64_t operands[3][INSN_LANES];
    for (int k = 0; k < 3; k++) {
      const struct forms_operand *o = &f->nodes[i].with[k];
      differences(&f->form[o->id], root, out, far);
      for (int l = 0; l < INSN_LANES; l++)
        operands[k][l] = o->value + (uint64_t)out[l];
    }
    evaluate(&f->nodes[i], operands, out);
    for (int l = 0; l < INSN_LANES; l++)
      root[COORDINATES + i][l] = (int64_t)((uint64_t)out[l] - (uint64_t)f->nodes[i].here);
  }
}

void forms_match(struct forms *f, const int64_t *blocks, int64_t n, bool *same) {
  int64_t(*root)[INSN_LANES] = alloc_zero((size_t)(COORDINATES + f->nnodes), sizeof *root);
  for (int64_t at = 0; at < n; at += INSN_LANES) {
    int some = n - at < INSN_LANES ? (int)(n - at) : INSN_LANES;
    roots_of(f, blocks + at, some, root);
    memset(same + at, true, (size_t)some);
    for (int i = 1; i < f->nforms; i++) {
      const struct form *m = &f->form[i];
      int64_t d[INSN_LANES];
      bool far[INSN_LANES];
      if (!m->limited)
        continue;
      differences(m, root, d, far);
      for (int l = 0; l < some; l++)
        same[at + l] &= !far[l] && d[l] >= m->low && d[l] <= m->high &&
                        !((uint64_t)d[l] & (((uint64_t)1 << m->bits) - 1));
    }
  }
  free(root);
}
