/* launch FILE ENTRY GX,GY,GZ BX,BY,BZ SHARED ARG... [-- FILE ...]: compiles learners' files as the
 * x-ray does and launches each kernel once on device 0, in order, for a profiler to watch. ARG: i:7
 * (32 bits), l:7 (64), f:0.5, p:BYTES (a buffer of that size). Exit code 0 once all have ended
 * without an error. */
#include "base/alloc.h"
#include "bench/cuda_api.h"
#include "bench/ptx_build.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 32, PATTERN = 0x3f };

static struct cuda_api cuda;

static void die(const char *what) {
  fprintf(stderr, "launch: %s\n", what);
  exit(1);
}

static void must(cuda_result r, const char *what) {
  if (r == CUDA_OK)
    return;
  const char *name = "?";
  if (cuda.error_name)
    cuda.error_name(r, &name);
  fprintf(stderr, "launch: %s: %s\n", what, name);
  exit(1);
}

static void *find(void *library, const char *symbol) {
  void *f = dlsym(library, symbol);
  if (!f)
    die(symbol);
  return f;
}

static void open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    die(dlerror());
#define LOAD(field, symbol, params)                                                                \
  do {                                                                                             \
    void *f = find(library, symbol_name(symbol));                                                  \
    memcpy(&cuda.field, &f, sizeof f);                                                             \
  } while (0);
#define symbol_name(s) #s
  CUDA_API_DRIVER(LOAD)
  must(cuda.init(0), "init");
  cuda_context ctx;
  must(cuda.ctx_retain(&ctx, 0), "context");
  must(cuda.ctx_set(ctx), "context");
}

static char *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f)
    die(path);
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  char *text = alloc_zero((size_t)size + 1, 1);
  *n = fread(text, 1, (size_t)size, f);
  fclose(f);
  return text;
}

static void read_three(const char *text, unsigned out[3]) {
  out[0] = out[1] = out[2] = 1;
  if (sscanf(text, "%u,%u,%u", &out[0], &out[1], &out[2]) < 1)
    die(text);
}

static void take_arg(const char *text, void *to) {
  if (strlen(text) < 3 || text[1] != ':')
    die(text);
  const char *v = text + 2;
  if (text[0] == 'i')
    *(int *)to = atoi(v);
  else if (text[0] == 'l')
    *(int64_t *)to = atoll(v);
  else if (text[0] == 'f')
    *(float *)to = strtof(v, NULL);
  else if (text[0] == 'p') {
    size_t bytes = strtoull(v, NULL, 10);
    must(cuda.mem_alloc(to, bytes), "memory");
    must(cuda.set_bytes(*(cuda_ptr *)to, PATTERN, bytes, NULL), "memory");
  } else
    die(text);
}

static void run_case(const nvrtc *n, int argc, char **argv) {
  if (argc < 5 || argc > 5 + ARGS_MAX)
    die("a case is FILE ENTRY GRID BLOCK SHARED ARG...");
  struct err err;
  struct ptx_build_request q = {.name = argv[0], .entry = argv[1], .resources = true};
  char *source = read_file(argv[0], &q.size);
  q.source = source;
  struct ptx_build_output built;
  if (!ptx_build(n, &q, &built, &err))
    die(err.text);
  if (!built.cubin || built.nentries != 1)
    die("no machine code of this one kernel");
  cuda_module module;
  cuda_function kernel;
  must(cuda.module_load(&module, built.cubin, 0, NULL, NULL), "load");
  must(cuda.module_function(&kernel, module, built.entries[0].symbol), "kernel");
  unsigned grid[3], block[3];
  read_three(argv[2], grid);
  read_three(argv[3], block);
  uint64_t values[ARGS_MAX] = {0};
  void *pointers[ARGS_MAX];
  for (int i = 5; i < argc; i++) {
    pointers[i - 5] = &values[i - 5];
    take_arg(argv[i], &values[i - 5]);
  }
  must(cuda.launch(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                   (unsigned)atoi(argv[4]), NULL, pointers, NULL),
       "launch");
  must(cuda.stream_wait(NULL), "run");
  printf("%s %s: %d registers, %d bytes shared\n", argv[0], built.entries[0].name,
         built.entries[0].registers, built.entries[0].shared_bytes);
  for (int i = 5; i < argc; i++)
    if (argv[i][0] == 'p')
      must(cuda.mem_free(values[i - 5]), "memory");
  ptx_build_done(&built);
  free(source);
}

int main(int argc, char **argv) {
  struct err err;
  const nvrtc *n = nvrtc_open(&err);
  if (!n)
    die(err.text);
  open_driver();
  for (int from = 1; from < argc;) {
    int to = from;
    while (to < argc && strcmp(argv[to], "--") != 0)
      to++;
    run_case(n, to - from, argv + from);
    from = to + 1;
  }
  return 0;
}
