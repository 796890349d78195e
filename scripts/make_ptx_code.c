/* Build tool: writes assets/ptx_code.json, what the machine code of every built-in CUDA kernel
 * holds, for each target for which NVRTC makes the shipped PTX too. Run by scripts/make_ptx.sh. */
#include "ptx_code.h"

#include <stdio.h>

struct writer {
  const nvrtc *nvrtc;
  FILE *out;
  int rows;
};

static void die(const struct ptx_file *f, const struct err *err) {
  fprintf(stderr, "%s: %s\n", f->path, err->text);
  exit(1);
}

static void write_widths(FILE *out, const char *key, const int n[XRAY_WIDTHS]) {
  fprintf(out, ",\"%s\":[%d,%d,%d]", key, n[0], n[1], n[2]);
}

static void write_row(struct writer *w, const struct ptx_file *f, const char *entry,
                      const struct cuda_shipped *c) {
  fprintf(w->out, "%s\n{\"file\":\"%s\",\"entry\":\"%s\",\"arch\":%d", w->rows++ ? "," : "",
          strrchr(f->path, '/') + 1, entry, c->arch);
  fprintf(w->out, ",\"registers\":%d,\"shared_bytes\":%d,\"stack_bytes\":%d,\"spill_bytes\":%d",
          c->registers, c->shared_bytes, c->stack_bytes, c->spill_bytes);
  write_widths(w->out, "lds", c->sass.lds);
  write_widths(w->out, "sts", c->sass.sts);
  write_widths(w->out, "ldg", c->sass.ldg);
  write_widths(w->out, "stg", c->sass.stg);
  fprintf(w->out, ",\"ffma\":%d,\"sha256\":\"%s\"}", c->sass.ffma, f->kernel->sha256);
}

static bool write_file(void *ctx, const struct ptx_file *f) {
  struct writer *w = ctx;
  char *shipped = NULL; /* what the first target gives is what is shipped */
  if (!ptx_code_wanted(f->kernel))
    return true;
  for (int i = 0; i < PTX_CODE_ARCHS; i++) {
    struct ptx_build_output b;
    struct err err;
    if (!ptx_files_runs_on(f->kernel, ptx_code_archs[i]))
      continue;
    if (!ptx_code_build(w->nvrtc, f, ptx_code_archs[i], &b, &err))
      die(f, &err);
    char *body = ptx_code_body(b.ptx);
    if (!shipped)
      shipped = alloc_str(body);
    for (int e = 0; e < b.nentries && strcmp(body, shipped) == 0; e++) {
      struct cuda_shipped c;
      if (!ptx_code_of(&b, e, ptx_code_archs[i], &c, &err))
        die(f, &err);
      write_row(w, f, b.entries[e].symbol, &c);
    }
    free(body);
    ptx_build_done(&b);
  }
  free(shipped);
  return true;
}

int main(void) {
  struct err err;
  struct writer w = {.nvrtc = nvrtc_open(&err)};
  if (!w.nvrtc) {
    fprintf(stderr, "make_ptx_code: %s\n", err.text);
    return 1;
  }
  w.out = fopen("assets/ptx_code.json", "w");
  if (!w.out) {
    perror("assets/ptx_code.json");
    return 1;
  }
  catalog *c = catalog_new();
  fprintf(w.out, "{\"nvrtc\":\"%s\",\"code\":[", nvrtc_version(w.nvrtc));
  ptx_files_each(c, write_file, &w);
  fputs("\n]}\n", w.out);
  catalog_free(c);
  return fclose(w.out) != 0;
}
