#include "sim/xray/exec_blend.h"

#include "sim/xray/insn.h"
#include "sim/xray/lanes.h"

LANES_HOT void exec_blend(void *to, const void *from, uint32_t mask, int bytes) {
  if (bytes == 8) {
    lane_u64 *t = to;
    const lane_u64 *f = from;
    for (int l = 0; l < INSN_LANES; l++)
      t[l] = mask >> l & 1 ? f[l] : t[l];
  } else {
    lane_u32 *t = to;
    const lane_u32 *f = from;
    for (int l = 0; l < INSN_LANES; l++)
      t[l] = mask >> l & 1 ? f[l] : t[l];
  }
}
