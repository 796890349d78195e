#include "sim/xray/trace.h"

#include "sim/xray/memory.h"
#include "sim/xray/report.h"
#include <stdio.h>
#include <string.h>

bool trace_wants(const struct machine *m) {
  return m->launch->trace && memcmp(m->block, m->launch->trace_block, sizeof m->block) == 0;
}

static void tell(const struct machine *m, const struct warp *w, const struct insn *in,
                 struct xray_event *e) {
  char op[64], file[128];
  snprintf(op, sizeof op, "%.*s", in->op.n, in->op.p);
  report_file(m->report, in->line, file, sizeof file);
  memcpy(e->block, m->block, sizeof e->block);
  e->op = op;
  e->file = file;
  e->line = report_line(m->report, in->line);
  e->warp = w->index;
  m->launch->trace(m->launch->ctx, e);
}

void trace_access(const struct machine *m, const struct warp *w, const struct insn *in,
                  enum ptx_space space, const int64_t address[32], uint32_t mask, int bytes) {
  int64_t offset[INSN_LANES];
  for (uint32_t left = mask; left;) {
    int first = __builtin_ctz(left), thread = w->index * INSN_LANES + first;
    const struct memory_piece *p = memory_find(m->memory, space, address[first], thread);
    int64_t base = space == PTX_LOCAL ? 0 : p->base;
    struct xray_event e = {.address = offset, .bytes = bytes};
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      int l = __builtin_ctz(rest);
      offset[l] = address[l] - base;
      if (space == PTX_LOCAL || (address[l] >= p->base && offset[l] < p->bytes))
        e.mask |= 1u << l;
    }
    e.array = space == PTX_SHARED ? "shared" : space == PTX_LOCAL ? "local" : p->name;
    tell(m, w, in, &e);
    left &= ~e.mask;
  }
}

void trace_barrier(const struct machine *m, const struct warp *w, const struct insn *in,
                   uint32_t mask) {
  struct xray_event e = {.mask = mask, .array = ""};
  tell(m, w, in, &e);
}
