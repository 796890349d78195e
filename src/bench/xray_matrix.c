#include "bench/xray_matrix.h"

#include "base/units.h"
#include "bench/exact.h"
#include "bench/narrow.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  PIECE = 4096,       /* elements filled at a time */
  SMALL = 4 << 20,    /* bytes that are cheap to fill */
  MAX_MAPPINGS = 1024 /* the system allows 65530 in a process */
};

void xray_matrix_floats(const struct xray_matrix *x, enum kernel_dtype t, int64_t i0, int64_t n,
                        float *out) {
  narrow_widen((const unsigned char *)x->data + (size_t)i0 * kernel_dtype_size(t), t, n, out);
}

/* ---- what a matrix is filled with */

struct filling {
  enum kernel_dtype t;
  uint64_t stream;
  bool poison;
};

static bool (*ask_stopped)(void);

void xray_matrix_stopped(bool (*stopped)(void)) { ask_stopped = stopped; }

static bool fill_part(unsigned char *to, size_t bytes, size_t first, const struct filling *how) {
  if (ask_stopped && ask_stopped())
    return false;
  if (how->poison) {
    memset(to + first, 0xff, bytes);
    return true;
  }
  size_t size = kernel_dtype_size(how->t);
  int64_t i = (int64_t)(first / size), n = i + (int64_t)(bytes / size);
  const struct exact_matrix row = {how->stream, 1, n, false, false, how->t};
  float v[PIECE];
  for (; i < n; i += PIECE) {
    int64_t some = n - i < PIECE ? n - i : PIECE;
    exact_fill(&row, 0, i, some, v);
    narrow_store(to + (size_t)i * size, how->t, v, some);
  }
  return true;
}

/* False if it was stopped. */
static bool fill(unsigned char *to, size_t bytes, const struct filling *how) {
  for (size_t done = 0; done < bytes; done += SMALL)
    if (!fill_part(to, bytes - done < SMALL ? bytes - done : SMALL, done, how))
      return false;
  return true;
}

/* ---- memory */

/* Bytes of the pattern: a prime number of pages, so that no power of two meets the same values in
 * step. 0: so large a matrix would take too many mappings. */
static size_t period_of(size_t bytes, size_t page) {
  static const size_t pages[] = {61, 251, 1021, 4093};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
    if (bytes / (pages[i] * page) < MAX_MAPPINGS)
      return pages[i] * page;
  return 0;
}

/* Maps the pattern over the whole of x, each page private once it is written. */
static bool map_pattern(struct xray_matrix *x, size_t period, int fd) {
  unsigned char *at = x->data;
  for (size_t done = 0; done < x->mapped; done += period) {
    size_t some = x->mapped - done < period ? x->mapped - done : period;
    if (mmap(at + done, some, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
      return false;
  }
  return true;
}

/* False where the system has no such file: the matrix is then filled as any other. */
static bool repeat(struct xray_matrix *x, size_t page, const struct filling *how) {
  size_t period = period_of(x->mapped, page);
  int fd = period ? memfd_create("matrix", MFD_CLOEXEC) : -1;
  if (fd < 0)
    return false;
  void *pattern = MAP_FAILED;
  if (ftruncate(fd, (off_t)period) == 0)
    pattern = mmap(NULL, period, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  bool ok = pattern != MAP_FAILED;
  if (ok) {
    ok = fill(pattern, period, how);
    munmap(pattern, period);
    ok = ok && map_pattern(x, period, fd);
  }
  close(fd);
  return ok;
}

static bool make(struct xray_matrix *x, int64_t n, const struct filling *how, bool lazy,
                 struct err *err) {
  *x = (struct xray_matrix){0};
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = kernel_dtype_size(how->t);
  if ((uint64_t)n < SIZE_MAX / 16) {
    x->bytes = (size_t)n * size;
    x->mapped = (x->bytes / page + 1) * page;
    x->data = mmap(NULL, x->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (!x->data || x->data == MAP_FAILED) {
    *x = (struct xray_matrix){0};
    char *text = units_format((double)n * (double)size, "B", 4);
    err_set(err, "There is no memory for a matrix of %s. Choose a smaller size.", text);
    free(text);
    return false;
  }
  if (lazy && x->bytes > SMALL && repeat(x, page, how)) {
    x->periodic = !how->poison;
    return true;
  }
  if (fill(x->data, x->bytes, how))
    return true;
  xray_matrix_done(x);
  return err_set(err, "The matrices were not filled: the run was stopped.");
}

bool xray_matrix_fill(struct xray_matrix *x, enum kernel_dtype t, int64_t n, uint64_t stream,
                      bool lazy, struct err *err) {
  const struct filling how = {t, stream, false};
  return make(x, n, &how, lazy, err);
}

bool xray_matrix_poison(struct xray_matrix *x, enum kernel_dtype t, int64_t n, bool lazy,
                        struct err *err) {
  const struct filling how = {t, 0, true};
  return make(x, n, &how, lazy, err);
}

void xray_matrix_done(struct xray_matrix *x) {
  if (x->data)
    munmap(x->data, x->mapped);
  *x = (struct xray_matrix){0};
}
