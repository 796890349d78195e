/* Fuzz target: any bytes as a cubin. */
#include "sim/xray/sass.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const symbols[] = {"k", "matmul", ""};
  for (int i = 0; i < 3; i++) {
    struct err err = {{0}};
    struct xray_mix mix;
    bool known = sass_mix(data, size, symbols[i], &mix, &err);
    if ((!known && !err.text[0]) || mix.ffma < 0 || mix.ffma > (int)(size / 16))
      abort();
  }
  return 0;
}
