#include "sim/xray/flow.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOKED_AT = 1 << 24 };

struct graph {
  int nblocks;       /* block nblocks is the end of the kernel */
  int *first, *last; /* instructions */
  int *from, *next;  /* successors of b: next[from[b]] .. next[from[b + 1] - 1] */
  int nnext;
  int *order; /* blocks in postorder of the reversed graph, the end last */
  int *rank;  /* place in order; -1: the end is not reached from there */
  int *ipdom;
};

static bool ends_lane(const struct insn *in) {
  return in->kind == INSN_RET || in->kind == INSN_TRAP;
}

void flow_starts(const struct program *p, bool *starts) {
  starts[0] = true;
  for (int i = 0; i < p->ncode; i++) {
    const struct insn *in = &p->code[i];
    if (in->kind == INSN_BRA)
      starts[in->target] = true;
    if ((in->kind == INSN_BRA || in->kind == INSN_BRX || ends_lane(in)) && i + 1 < p->ncode)
      starts[i + 1] = true;
  }
  for (int i = 0; i < p->ntargets; i++)
    starts[p->targets[i]] = true;
}

static void add_next(struct graph *g, int block) { g->next[g->nnext++] = block; }

static void add_successors(struct graph *g, const struct program *p, const int *of, int b) {
  const struct insn *in = &p->code[g->last[b]];
  g->from[b] = g->nnext;
  if (ends_lane(in))
    add_next(g, g->nblocks);
  else if (in->kind == INSN_BRA)
    add_next(g, of[in->target]);
  else if (in->kind == INSN_BRX)
    for (int i = 0; i < in->offset; i++)
      add_next(g, of[p->targets[in->target + i]]);
  else
    add_next(g, b + 1); /* behind the last block lies the end */
  if (in->has_guard && (ends_lane(in) || in->kind == INSN_BRA || in->kind == INSN_BRX))
    add_next(g, b + 1);
}

static void build(struct graph *g, const struct program *p) {
  size_t n = (size_t)p->ncode;
  bool *starts = alloc_zero(n, sizeof *starts);
  int *of = alloc_zero(n, sizeof *of);
  size_t edges = 2 * n + 2;
  for (int i = 0; i < p->ncode; i++)
    edges += p->code[i].kind == INSN_BRX ? (size_t)p->code[i].offset : 0;
  flow_starts(p, starts);
  g->first = alloc_zero(n + 1, sizeof(int));
  g->last = alloc_zero(n + 1, sizeof(int));
  g->from = alloc_zero(n + 2, sizeof(int));
  g->next = alloc_zero(edges, sizeof(int));
  for (int i = 0; i < p->ncode; i++) {
    if (starts[i])
      g->first[g->nblocks++] = i;
    of[i] = g->nblocks - 1;
    g->last[g->nblocks - 1] = i;
  }
  for (int b = 0; b < g->nblocks; b++)
    add_successors(g, p, of, b);
  g->from[g->nblocks] = g->from[g->nblocks + 1] = g->nnext;
  free(of);
  free(starts);
}

/* Predecessors of b: list[head[b]] .. list[head[b + 1] - 1]. */
static void reverse_edges(const struct graph *g, int *head, int *list) {
  int n = g->nblocks + 1;
  int *at = alloc_zero((size_t)n, sizeof *at);
  for (int i = 0; i < g->nnext; i++)
    head[g->next[i] + 1]++;
  for (int b = 0; b < n; b++)
    head[b + 1] += head[b];
  for (int b = 0; b < n; b++)
    for (int i = g->from[b]; i < g->from[b + 1]; i++)
      list[head[g->next[i]] + at[g->next[i]]++] = b;
  free(at);
}

/* Postorder from the end along reversed edges, without recursion. */
static int post_order(struct graph *g) {
  int n = g->nblocks + 1, count = 0, depth = 0;
  int *head = alloc_zero((size_t)n + 1, sizeof *head);
  int *list = alloc_zero((size_t)g->nnext + 1, sizeof *list);
  int *at = alloc_zero((size_t)n, sizeof *at);
  int *stack = alloc_zero((size_t)n, sizeof *stack);
  reverse_edges(g, head, list);
  for (int b = 0; b < n; b++) {
    g->rank[b] = -1;
    at[b] = head[b];
  }
  stack[depth++] = g->nblocks;
  g->rank[g->nblocks] = n; /* seen */
  while (depth > 0) {
    int b = stack[depth - 1];
    if (at[b] == head[b + 1]) {
      g->rank[b] = count;
      g->order[count++] = b;
      depth--;
    } else if (g->rank[list[at[b]++]] < 0) {
      stack[depth++] = list[at[b] - 1];
      g->rank[stack[depth - 1]] = n;
    }
  }
  free(head);
  free(list);
  free(at);
  free(stack);
  return count;
}

static int meet(const struct graph *g, int a, int b) {
  while (a != b) {
    while (g->rank[a] < g->rank[b])
      a = g->ipdom[a];
    while (g->rank[b] < g->rank[a])
      b = g->ipdom[b];
  }
  return a;
}

/* The iterative dominator algorithm over postorder numbers, on the reversed graph. */
static void post_dominators(struct graph *g) {
  int count = post_order(g);
  for (int b = 0; b <= g->nblocks; b++)
    g->ipdom[b] = -1;
  g->ipdom[g->nblocks] = g->nblocks;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = count - 2; i >= 0; i--) {
      int b = g->order[i], found = -1;
      for (int s = g->from[b]; s < g->from[b + 1]; s++) {
        int to = g->next[s];
        if (g->rank[to] >= 0 && g->ipdom[to] >= 0)
          found = found < 0 ? to : meet(g, found, to);
      }
      if (found != g->ipdom[b]) {
        g->ipdom[b] = found;
        changed = true;
      }
    }
  }
}

/* ---- branches whose sides meet only at the end by that rule, because one of them may leave */

struct search {
  const struct program *p;
  const struct graph *g;
  bool *reached[2]; /* by block: from each successor, without passing the branch or the end */
  int *stack;
  int64_t left; /* blocks that may still be looked at, over all branches */
};

/* The end, and a block that only leaves. */
static bool only_ends(const struct search *s, int block) {
  if (block < 0 || block >= s->g->nblocks)
    return true;
  const struct insn *in = &s->p->code[s->g->first[block]];
  return in->kind == INSN_RET && !in->has_guard;
}

static int reach(struct search *s, int side, int from, int branch) {
  const struct graph *g = s->g;
  bool *seen = s->reached[side];
  int depth = 0, count = 0;
  memset(seen, 0, ((size_t)g->nblocks + 1) * sizeof *seen);
  if (!only_ends(s, from) && from != branch) {
    seen[from] = true;
    s->stack[depth++] = from;
  }
  while (depth > 0) {
    int b = s->stack[--depth];
    count++;
    for (int i = g->from[b]; i < g->from[b + 1]; i++) {
      int to = g->next[i];
      if (seen[to] || to == branch || only_ends(s, to))
        continue;
      seen[to] = true;
      s->stack[depth++] = to;
    }
  }
  s->left -= count;
  return count;
}

/* The block by which both sides come to what they share; -1: they share nothing, or enter it by
 * ways that meet only at the end. */
static int shared_entry(const struct search *s, int branch) {
  const struct graph *g = s->g;
  int entry = -1;
  for (int b = 0; b < g->nblocks; b++) {
    bool here = b == branch || s->reached[0][b] != s->reached[1][b];
    for (int i = here ? g->from[b] : g->from[b + 1]; i < g->from[b + 1]; i++) {
      int to = g->next[i];
      if (!s->reached[0][to] || !s->reached[1][to])
        continue;
      if (entry >= 0 && entry != to && (g->rank[entry] < 0 || g->rank[to] < 0))
        return -1;
      entry = entry < 0 ? to : meet(g, entry, to);
    }
  }
  return entry;
}

/* Where lanes that stay meet again. If they never do, the side with less before it runs first, so
 * that lanes which leave are gone before the others wait for each other. */
static void resolve_leaving(struct search *s, int branch, struct insn *in) {
  const struct graph *g = s->g;
  int at = g->from[branch];
  in->reconverge = -1;
  if (in->kind != INSN_BRA || g->from[branch + 1] - at != 2 || s->left <= 0)
    return;
  int target = reach(s, 0, g->next[at], branch), behind = reach(s, 1, g->next[at + 1], branch);
  int entry = shared_entry(s, branch);
  if (entry >= 0 && !only_ends(s, entry))
    in->reconverge = g->first[entry];
  else
    in->sub = target < behind;
}

static void resolve_all(struct program *p, struct graph *g) {
  size_t blocks = (size_t)g->nblocks + 1;
  struct search s = {.p = p, .g = g, .left = MAX_LOOKED_AT};
  s.reached[0] = alloc_zero(blocks, sizeof(bool));
  s.reached[1] = alloc_zero(blocks, sizeof(bool));
  s.stack = alloc_zero(blocks, sizeof(int));
  for (int b = 0; b < g->nblocks; b++) {
    struct insn *in = &p->code[g->last[b]];
    if (in->kind != INSN_BRA && in->kind != INSN_BRX)
      continue;
    if (only_ends(&s, g->ipdom[b]))
      resolve_leaving(&s, b, in);
    else
      in->reconverge = g->first[g->ipdom[b]];
  }
  free(s.reached[0]);
  free(s.reached[1]);
  free(s.stack);
}

void flow_resolve(struct program *p) {
  struct graph g = {0};
  build(&g, p);
  size_t blocks = (size_t)g.nblocks + 1;
  g.order = alloc_zero(blocks, sizeof(int));
  g.rank = alloc_zero(blocks, sizeof(int));
  g.ipdom = alloc_zero(blocks, sizeof(int));
  post_dominators(&g);
  resolve_all(p, &g);
  free(g.first);
  free(g.last);
  free(g.from);
  free(g.next);
  free(g.order);
  free(g.rank);
  free(g.ipdom);
}
