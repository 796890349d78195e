#include "sim/xray/exec_refuse.h"

#include "sim/xray/report.h"
#include <string.h>

/* Operands are known by their names, wherever they stand: "%envreg". */
static bool names(struct slice op, const char *word) {
  const char *end = op.p + strcspn(op.p, ";\n"), *at = strstr(op.p, word);
  return at && at < end;
}

static bool begins(struct slice op, const char *start) {
  size_t n = strlen(start);
  return (size_t)op.n >= n && memcmp(op.p, start, n) == 0;
}

void exec_refuse(struct machine *m, const struct warp *w, const struct insn *in, int lane) {
  static const struct {
    const char *start, *what;
  } known[] = {
      {"cp.async.bulk.shared", "Bulk copies are not run by the x-ray; with --arch compute_80 "
                               "cuda::memcpy_async makes none"},
      {"cp.async.bulk", "TMA copies are not run by the x-ray"},
      {"cp.reduce.async.bulk", "TMA copies are not run by the x-ray"},
      {"tensormap", "TMA copies are not run by the x-ray"},
      {"wgmma", "wgmma works on 4 warps at once and is not run by the x-ray"},
      {"tcgen05", "tcgen05 works on 4 warps at once and is not run by the x-ray"},
      {"setmaxnreg", "setmaxnreg moves registers between warps and is not run by the x-ray"},
      {"barrier.cluster", "Thread block clusters are not run by the x-ray"},
      {"mapa", "Thread block clusters are not run by the x-ray"},
      {"getctarank", "Thread block clusters are not run by the x-ray"},
      {"tex", "Textures and surfaces are not run by the x-ray"},
      {"tld4", "Textures and surfaces are not run by the x-ray"},
      {"suld", "Textures and surfaces are not run by the x-ray"},
      {"sust", "Textures and surfaces are not run by the x-ray"},
      {"mma", "This form of the matrix instruction is not run by the x-ray"},
      {"wmma", "This form of the matrix instruction is not run by the x-ray"},
      {"ldmatrix", "This form of the matrix instruction is not run by the x-ray"},
      {"stmatrix", "This form of the matrix instruction is not run by the x-ray"},
      {"call", "Calls of functions that were not inlined are not supported yet"},
      {"cp.async", "Asynchronous copies (cp.async) are not supported yet"},
  };
  const char *what = names(in->op, "%envreg") ? "Grid-wide synchronisation is not run by the x-ray"
                     : names(in->op, "shared::cluster") || names(in->op, "%cluster")
                         ? "Thread block clusters are not run by the x-ray"
                         : "This instruction is not supported yet";
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (begins(in->op, known[i].start)) {
      what = known[i].what;
      break;
    }
  report_problem(m, w, in, lane, XRAY_UNSUPPORTED, true, "%s: %.*s (PTX line %d).", what,
                 in->op.n < 100 ? in->op.n : 100, in->op.p, in->text_line);
  m->halted = true;
}
