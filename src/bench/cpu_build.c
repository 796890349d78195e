#include "bench/cpu_build.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "base/str.h"
#include "bench/workdir.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGS_MAX = 96, LOG_MAX = 1 << 18 };

/* The private directory and the files in it. */
struct workshop {
  char *dir, *header, *source, *library, *log;
};

static bool fail(struct device_fault *f, const char *what, const char *why, const char *next) {
  memset(f, 0, sizeof *f);
  snprintf(f->code, sizeof f->code, "compile");
  snprintf(f->what, sizeof f->what, "%s", what);
  snprintf(f->why, sizeof f->why, "%s", why);
  snprintf(f->next, sizeof f->next, "%s", next);
  return false;
}

/* ---- files */

static const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  const char *name = slash ? slash + 1 : path;
  return name && *name && strcmp(name, "mm_args.h") != 0 ? name : "kernel.c";
}

static bool write_file(const char *path, const char *data, size_t n) {
  FILE *f = fopen(path, "we");
  if (!f)
    return false;
  bool ok = fwrite(data, 1, n, f) == n;
  return !fclose(f) && ok;
}

static bool open_workshop(struct workshop *w, const struct kernel *k, struct device_fault *fault) {
  const char *tmp = getenv("TMPDIR");
  struct err err = {""};
  memset(w, 0, sizeof *w);
  tmp = tmp && *tmp == '/' ? tmp : "/tmp";
  w->dir = workdir_make(tmp);
  if (!w->dir) {
    char *why = alloc_printf("No directory can be made in %s: %s.", tmp, strerror(errno));
    fail(fault, "The kernel cannot be compiled.", why,
         "Set TMPDIR to a directory that can be written.");
    free(why);
    return false;
  }
  w->header = alloc_printf("%s/mm_args.h", w->dir);
  w->source = alloc_printf("%s/%s", w->dir, base_name(k->path));
  w->library = alloc_printf("%s/kernel.so", w->dir);
  w->log = alloc_printf("%s/log", w->dir);
  size_t n;
  char *header = paths_asset("src/kernels/mm_args.h", &n, &err);
  if (!header)
    return fail(fault, "The kernel cannot be compiled.", err.text, "Reinstall mmtutor.");
  bool ok = write_file(w->header, header, n) &&
            write_file(w->source, k->source, strlen(k->source));
  free(header);
  return ok || fail(fault, "The kernel cannot be compiled.",
                    "Its files cannot be written to the temporary directory.",
                    "Make room there, or set TMPDIR to another directory.");
}

static void close_workshop(struct workshop *w) {
  char *const files[] = {w->header, w->source, w->library, w->log};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    unlink(files[i]);
    free(files[i]);
  }
  rmdir(w->dir);
  free(w->dir);
}

/* ---- the compiler */

static const char *const level_flags[ISA_COUNT][3] = {
    {NULL}, {"-march=x86-64-v3"}, {"-march=x86-64-v4", "-mprefer-vector-width=512"}};

/* argv for one compiler, whose command may hold words ("ccache gcc"). *words is to be freed. */
static void command(char *argv[ARGS_MAX], char **words, const char *compiler,
                    const struct kernel *k, enum catalog_isa isa, const struct workshop *w) {
  static char shared[] = "-shared", pic[] = "-fPIC", o3[] = "-O3", std[] = "-std=gnu11";
  static char out[] = "-o", include[] = "-I", define[] = "-D", math[] = "-lm",
              thread[] = "-pthread";
  int n = 0;
  *words = alloc_str(compiler);
  for (char *save, *t = strtok_r(*words, " ", &save); t && n < 8; t = strtok_r(NULL, " ", &save))
    argv[n++] = t;
  char *const fixed[] = {shared, pic, o3, std, thread, include, w->dir, out, w->library};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    argv[n++] = fixed[i];
  for (int i = 0; i < 3 && level_flags[isa][i]; i++)
    argv[n++] = (char *)(uintptr_t)level_flags[isa][i];
  for (int i = 0; i < k->nflags && n < ARGS_MAX - 8; i++)
    argv[n++] = k->flags[i];
  for (int i = 0; i < k->ndefines && n < ARGS_MAX - 8; i++) {
    argv[n++] = define;
    argv[n++] = k->defines[i];
  }
  argv[n++] = w->source;
  argv[n++] = math;
  argv[n] = NULL;
}

/* Runs argv with both outputs in a file. The exit status, or -1 if it cannot be started. */
static int run_to_file(char *const argv[], const char *log) {
  posix_spawn_file_actions_t acts;
  pid_t pid;
  int status;
  if (!argv[0] || posix_spawn_file_actions_init(&acts))
    return -1;
  posix_spawn_file_actions_addopen(&acts, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&acts, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&acts, 1, 2);
  int rc = posix_spawnp(&pid, argv[0], &acts, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&acts);
  if (rc)
    return -1;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
    return -1;
  return WEXITSTATUS(status);
}

/* The log without the private directory in front of every file name. */
static char *read_log(const struct workshop *w) {
  size_t n = 0, dir = strlen(w->dir);
  char *text = paths_read(w->log, LOG_MAX, &n, NULL);
  struct str s = {0};
  for (const char *p = text; p && *p;) {
    if (!strncmp(p, w->dir, dir) && p[dir] == '/')
      p += dir + 1;
    else
      str_addc(&s, *p++);
  }
  free(text);
  return str_take(&s);
}

/* The first line with "error", or the first line. The caller frees. */
static char *first_error(const char *log) {
  const char *at = strstr(log, "error:");
  if (!at)
    at = strstr(log, "undefined");
  if (!at)
    at = log;
  while (at > log && at[-1] != '\n')
    at--;
  size_t n = strcspn(at, "\n");
  return n ? alloc_strn(at, n) : alloc_str("The compiler failed without a message.");
}

static bool compile(const struct workshop *w, const struct kernel *k, enum catalog_isa isa,
                    struct cpu_build *out, struct device_fault *fault) {
  const char *const compilers[] = {getenv("CC"), "cc", "gcc", "clang"};
  char *argv[ARGS_MAX], *words;
  int status = -1;
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers && status < 0; i++) {
    if (!compilers[i] || !*compilers[i])
      continue;
    command(argv, &words, compilers[i], k, isa, w);
    status = run_to_file(argv, w->log);
    free(words);
  }
  if (status < 0)
    return fail(fault, "The kernel cannot be compiled.",
                "No C compiler was found (cc, gcc, clang).",
                "Install gcc, or set CC to a compiler.");
  out->log = read_log(w);
  if (status == 0)
    return true;
  char *why = first_error(out->log);
  fail(fault, "The kernel does not compile.", why, "Correct it and run again.");
  free(why);
  return false;
}

bool cpu_build_load(const struct kernel *k, enum catalog_isa isa, struct cpu_build *out,
                    struct device_fault *fault) {
  struct workshop w;
  memset(out, 0, sizeof *out);
  double t0 = clock_ms();
  bool ok = open_workshop(&w, k, fault);
  if (!ok && !w.header)
    return false;
  ok = ok && compile(&w, k, isa, out, fault);
  out->ms = clock_ms() - t0;
  if (ok) {
    out->handle = dlopen(w.library, RTLD_NOW | RTLD_LOCAL);
    const char *why = out->handle ? "" : dlerror();
    void *entry = out->handle ? dlsym(out->handle, k->entry) : NULL;
    memcpy(&out->entry, &entry, sizeof entry);
    char *missing = alloc_printf("It has no function %s(const struct mm_args *).", k->entry);
    if (!out->handle)
      ok = fail(fault, "The kernel compiles but cannot be loaded.", why,
                "Use no functions from outside the C library.");
    else if (!entry)
      ok = fail(fault, "The kernel compiles but cannot be called.", missing,
                "Name the function as the front matter's id does.");
    free(missing);
  }
  close_workshop(&w);
  if (!ok && out->handle)
    cpu_build_unload(out);
  return ok;
}

void cpu_build_unload(struct cpu_build *b) {
  if (b->handle)
    dlclose(b->handle);
  b->handle = NULL;
  b->entry = NULL;
}
