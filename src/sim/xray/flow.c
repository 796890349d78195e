#include "sim/xray/flow.h"

#include "base/alloc.h"
#include <stdlib.h>

struct graph {
  int nblocks;       /* block nblocks is the end of the kernel */
  int *first, *last; /* instructions */
  int (*next)[2];    /* successors; -1: none */
  int *order;        /* blocks in postorder of the reversed graph, the end last */
  int *rank;         /* place in order; -1: the end is not reached from there */
  int *ipdom;
};

static bool ends_lane(const struct insn *in) {
  return in->kind == INSN_RET || in->kind == INSN_TRAP;
}

void flow_starts(const struct insn *code, int n, bool *starts) {
  starts[0] = true;
  for (int i = 0; i < n; i++) {
    if (code[i].kind == INSN_BRA)
      starts[code[i].target] = true;
    if ((code[i].kind == INSN_BRA || ends_lane(&code[i])) && i + 1 < n)
      starts[i + 1] = true;
  }
}

static void build(struct graph *g, const struct insn *code, int n) {
  bool *starts = alloc_zero((size_t)n, sizeof *starts);
  int *of = alloc_zero((size_t)n, sizeof *of);
  flow_starts(code, n, starts);
  g->first = alloc_zero((size_t)n + 1, sizeof(int));
  g->last = alloc_zero((size_t)n + 1, sizeof(int));
  g->next = alloc_zero((size_t)n + 1, sizeof *g->next);
  for (int i = 0; i < n; i++) {
    if (starts[i])
      g->first[g->nblocks++] = i;
    of[i] = g->nblocks - 1;
    g->last[g->nblocks - 1] = i;
  }
  for (int b = 0; b < g->nblocks; b++) {
    const struct insn *in = &code[g->last[b]];
    int fall = b + 1; /* behind the last block lies the end */
    g->next[b][0] = g->next[b][1] = -1;
    if (ends_lane(in)) {
      g->next[b][0] = g->nblocks;
      g->next[b][1] = in->has_guard ? fall : -1;
    } else if (in->kind == INSN_BRA) {
      g->next[b][0] = of[in->target];
      g->next[b][1] = in->has_guard ? fall : -1;
    } else {
      g->next[b][0] = fall;
    }
  }
  g->next[g->nblocks][0] = g->next[g->nblocks][1] = -1;
  free(of);
  free(starts);
}

/* Postorder from the end along reversed edges, without recursion. */
static int post_order(struct graph *g) {
  int n = g->nblocks + 1, count = 0, depth = 0;
  int *head = alloc_zero((size_t)n + 1, sizeof *head); /* predecessors of b: list[head[b]..] */
  int *list = alloc_zero((size_t)n * 2, sizeof *list);
  int *at = alloc_zero((size_t)n, sizeof *at);
  int *stack = alloc_zero((size_t)n, sizeof *stack);
  for (int b = 0; b < n; b++)
    for (int s = 0; s < 2; s++)
      if (g->next[b][s] >= 0)
        head[g->next[b][s] + 1]++;
  for (int b = 0; b < n; b++)
    head[b + 1] += head[b];
  for (int b = 0; b < n; b++)
    for (int s = 0; s < 2; s++)
      if (g->next[b][s] >= 0)
        list[head[g->next[b][s]] + at[g->next[b][s]]++] = b;
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
      for (int s = 0; s < 2; s++) {
        int to = g->next[b][s];
        if (to >= 0 && g->rank[to] >= 0 && g->ipdom[to] >= 0)
          found = found < 0 ? to : meet(g, found, to);
      }
      if (found != g->ipdom[b]) {
        g->ipdom[b] = found;
        changed = true;
      }
    }
  }
}

void flow_resolve(struct insn *code, int n) {
  struct graph g = {0};
  build(&g, code, n);
  size_t blocks = (size_t)g.nblocks + 1;
  g.order = alloc_zero(blocks, sizeof(int));
  g.rank = alloc_zero(blocks, sizeof(int));
  g.ipdom = alloc_zero(blocks, sizeof(int));
  post_dominators(&g);
  for (int b = 0; b < g.nblocks; b++) {
    struct insn *in = &code[g.last[b]];
    if (in->kind != INSN_BRA)
      continue;
    int meet_at = g.ipdom[b];
    in->reconverge = meet_at >= 0 && meet_at < g.nblocks ? g.first[meet_at] : -1;
  }
  free(g.first);
  free(g.last);
  free(g.next);
  free(g.order);
  free(g.rank);
  free(g.ipdom);
}
