#include "bench/host.h"

#include "base/clock.h"
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

/* The first line of a small file; false if it cannot be read. */
static bool first_line(const char *path, char *out, int size) {
  FILE *f = fopen(path, "re");
  if (!f)
    return false;
  bool ok = fgets(out, size, f) != NULL;
  fclose(f);
  if (ok)
    out[strcspn(out, "\n")] = 0;
  return ok;
}

static double file_number(const char *path) {
  char text[64];
  if (!first_line(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
    return NAN;
  return strtod(text, NULL);
}

/* ---- CPUs */

int host_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

#ifdef __linux__
/* Calls fn for the cgroup-v2 directory of this process and every one above it: a limit on any of
 * them binds. */
static void each_cgroup(void (*fn)(const char *dir, void *ctx), void *ctx) {
  char line[512], path[768];
  if (!first_line("/proc/self/cgroup", line, sizeof line) || strncmp(line, "0::", 3) != 0)
    return;
  snprintf(path, sizeof path, "/sys/fs/cgroup%s", line + 3);
  size_t root = strlen("/sys/fs/cgroup");
  for (;;) {
    size_t n = strlen(path);
    while (n > root && path[n - 1] == '/')
      path[--n] = 0;
    fn(path, ctx);
    if (n <= root)
      return;
    *strrchr(path, '/') = 0;
  }
}

static void least_quota(const char *dir, void *ctx) {
  char path[800], text[64];
  double quota, period, *least = ctx;
  snprintf(path, sizeof path, "%s/cpu.max", dir);
  if (first_line(path, text, sizeof text) && sscanf(text, "%lf %lf", &quota, &period) == 2 &&
      period > 0)
    *least = fmin(*least, quota / period);
}

static void least_memory(const char *dir, void *ctx) {
  char path[800];
  double *least = ctx;
  snprintf(path, sizeof path, "%s/memory.max", dir);
  double max = file_number(path);
  snprintf(path, sizeof path, "%s/memory.current", dir);
  double used = file_number(path);
  if (isfinite(max))
    *least = fmin(*least, fmax(0, max - (isfinite(used) ? used : 0)));
}

static double cpu_quota(void) {
  double quota = INFINITY;
  each_cgroup(least_quota, &quota);
  double v1 = file_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  double period = file_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return v1 > 0 && period > 0 ? fmin(quota, v1 / period) : quota;
}
#else
static double cpu_quota(void) { return INFINITY; }
#endif

int host_threads(void) {
  int cpus = host_cpus();
  double quota = cpu_quota();
  if (!(quota < cpus))
    return cpus;
  return quota > 1 ? (int)quota : 1;
}

/* ---- memory */

static double meminfo_available(void) {
  FILE *f = fopen("/proc/meminfo", "re");
  char line[128];
  double kib = NAN;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1)
      break;
  if (f)
    fclose(f);
#ifdef __APPLE__
  uint64_t bytes = 0;
  size_t n = sizeof bytes;
  if (!sysctlbyname("hw.memsize", &bytes, &n, NULL, 0))
    return (double)bytes / 2; /* what is free is not told; half is a safe share */
#endif
  return kib * 1024;
}

static double address_space_left(void) {
  struct rlimit lim;
  if (getrlimit(RLIMIT_AS, &lim) || lim.rlim_cur == RLIM_INFINITY)
    return INFINITY;
  double pages = file_number("/proc/self/statm");
  double used = isfinite(pages) ? pages * (double)sysconf(_SC_PAGESIZE) : 0;
  return fmax(0, (double)lim.rlim_cur - used);
}

double host_memory_free(void) {
  double least = fmin(address_space_left(), INFINITY), known = meminfo_available();
  if (isfinite(known))
    least = fmin(least, known);
#ifdef __linux__
  each_cgroup(least_memory, &least);
  double v1 = file_number("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  double used = file_number("/sys/fs/cgroup/memory/memory.usage_in_bytes");
  if (isfinite(v1) && isfinite(used))
    least = fmin(least, fmax(0, v1 - used));
#endif
  return isfinite(least) ? least : NAN;
}

/* ---- names and caches */

static void copy_squeezed(char *out, int size, const char *s) {
  int n = 0;
  for (; *s == ' '; s++)
    ;
  for (; *s && *s != '\n' && n < size - 1; s++)
    if (*s != ' ' || (n > 0 && out[n - 1] != ' '))
      out[n++] = *s;
  while (n > 0 && out[n - 1] == ' ')
    n--;
  out[n] = 0;
}

void host_cpu_name(char *out, int size) {
  out[0] = 0;
#ifdef __APPLE__
  size_t n = (size_t)size;
  if (sysctlbyname("machdep.cpu.brand_string", out, &n, NULL, 0))
    out[0] = 0;
#else
  FILE *f = fopen("/proc/cpuinfo", "re");
  char line[256];
  while (f && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (colon && (!strncmp(line, "model name", 10) || !strncmp(line, "Model", 5))) {
      copy_squeezed(out, size, colon + 1);
      break;
    }
  }
  if (f)
    fclose(f);
#endif
}

static double sysfs_cache(int index) {
  char path[96], text[32], unit = 0;
  double n = 0;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
  if (!first_line(path, text, sizeof text) || sscanf(text, "%lf%c", &n, &unit) < 1)
    return NAN;
  return unit == 'K' ? n * 1024 : unit == 'M' ? n * 1048576 : n;
}

double host_cache_bytes(void) {
  double most = NAN;
  for (int i = 0; i < 8; i++)
    most = fmax(most, sysfs_cache(i));
#ifdef _SC_LEVEL3_CACHE_SIZE
  const int names[] = {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE};
  for (int i = 0; i < 2 && !(most > 0); i++) {
    long n = sysconf(names[i]);
    most = n > 0 ? (double)n : NAN;
  }
#endif
  return most;
}

/* ---- clock */

/* 64 adds that each wait for the last, in a straight line: a loop's jump may cost more than an add.
 */
#if defined(__x86_64__)
#define CHAIN_64(x, y)                                                                             \
  __asm__ volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(x) : "r"(y) : "cc")
#elif defined(__aarch64__)
#define CHAIN_64(x, y)                                                                             \
  __asm__ volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(x) : "r"(y))
#endif

double host_clock_hz(void) {
#ifdef CHAIN_64
  enum { ROUNDS = 100000 };
  double best = NAN;
  for (int rep = 0; rep < 12; rep++) {
    uint64_t x = 0, y = (uint64_t)rep;
    int64_t t0 = clock_ns();
    for (int i = 0; i < ROUNDS; i++)
      CHAIN_64(x, y);
    best = fmax(best, 64.0 * ROUNDS / ((double)(clock_ns() - t0) * 1e-9));
  }
  return best;
#else
  return NAN;
#endif
}

const char *host_gib(double bytes, char out[32]) {
  const char *unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int i = 0;
  for (; bytes >= 1024 && i < 4; i++)
    bytes /= 1024;
  snprintf(out, 32, "%.*f %s", i == 0 ? 0 : bytes < 10 ? 2 : bytes < 100 ? 1 : 0, bytes, unit[i]);
  return out;
}
