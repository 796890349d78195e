/* Build tool: writes assets/ptx for every built-in CUDA kernel. Run by scripts/make_ptx.sh. */
#include "ptx_files.h"

static bool write_one(void *ctx, const struct ptx_file *f) {
  const struct nvrtc *n = ctx;
  size_t size;
  char *log;
  char *ptx = ptx_files_ship(n, f, &size, &log);
  if (!ptx) {
    fprintf(stderr, "%s: %s\n", f->path, log ? log : "no PTX");
    exit(1);
  }
  FILE *out = fopen(f->path, "w");
  if (!out) {
    perror(f->path);
    exit(1);
  }
  char *head = ptx_files_head(n, f);
  fputs(head, out);
  fwrite(ptx, 1, size, out);
  if (fclose(out) != 0) {
    perror(f->path);
    exit(1);
  }
  char target[16];
  ptx_files_target(f->kernel, target);
  printf("%s sm_%s\n", f->path, target);
  free(head);
  free(ptx);
  return true;
}

int main(void) {
  struct nvrtc n;
  if (!nvrtc_open(&n)) {
    fputs("make_ptx: no NVRTC here; install the CUDA toolkit\n", stderr);
    return 1;
  }
  catalog *c = catalog_new();
  fputs(catalog_complaints(c), stderr);
  int files = ptx_files_each(c, write_one, &n);
  catalog_free(c);
  return files == 0;
}
