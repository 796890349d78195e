/* Fuzz target: any text as a learner's .cu file; then pieces dropped as after compiler errors. */
#include "kernels/cuda_scan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void want(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "scan_fuzz: %s\n", what);
  abort();
}

static void check(const struct cuda_scan *s, const uint8_t *data, size_t size) {
  want(s->n == size && strlen(s->text) == size, "the text has another length");
  for (size_t i = 0; i < size; i++)
    want((s->text[i] == '\n') == (data[i] == '\n'), "a line moved");
  for (int i = 0; i < s->nchunks; i++)
    want(s->chunks[i].begin <= s->chunks[i].end && s->chunks[i].end <= size && s->chunks[i].name,
         "a chunk outside of the text");
  for (int i = 0; i < s->nkernels; i++)
    want(s->kernels[i].name && s->kernels[i].chunk < s->nchunks, "a kernel without its chunk");
  for (int i = 0; i < s->launches.n; i++)
    want(s->launches.all[i].kernel && s->launches.all[i].grid && s->launches.all[i].line > 0,
         "a launch that is not filled");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct cuda_scan *s = cuda_scan_new((const char *)data, size);
  check(s, data, size);
  int lines = 2;
  for (size_t i = 0; i < size; i++)
    lines += data[i] == '\n';
  for (int i = 0; i < 6; i++) {
    int line = (int)((unsigned)i * 2654435761u % (unsigned)lines);
    cuda_scan_drop(s, line, "does not compile", i - 1);
    check(s, data, size);
    want(cuda_scan_chunk_at(s, line) < s->nchunks, "a chunk that is not there");
  }
  cuda_scan_free(s);
  return 0;
}
