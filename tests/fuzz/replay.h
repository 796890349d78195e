/* What replays a corpus through a fuzz target without a fuzzer: each file as it is, then damaged in
 * a fixed order, and the memory held afterwards. */
#ifndef MM_TESTS_FUZZ_REPLAY_H
#define MM_TESTS_FUZZ_REPLAY_H

#include <dirent.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPLAY_MAX = 1 << 17, REPLAY_FILES = 512 };

struct replay_file {
  char name[160];
  uint8_t *data;
  size_t n;
};

struct replay_plan { /* what a test replays: see replay_test.h */
  const char *dir[2], *ending;
  int files, damaged; /* at least so many; so many damaged copies */
};

struct replay {
  struct replay_file file[REPLAY_FILES];
  int n;
};

static inline int replay_by_name(const void *a, const void *b) {
  return strcmp(((const struct replay_file *)a)->name, ((const struct replay_file *)b)->name);
}

/* False if it is not there or too long. */
static inline _Bool replay_read(struct replay *r, const char *path) {
  struct replay_file *f = &r->file[r->n];
  FILE *in = fopen(path, "rb");
  if (!in || r->n == REPLAY_FILES || strlen(path) >= sizeof f->name) {
    if (in)
      fclose(in);
    return 0;
  }
  strcpy(f->name, path);
  f->data = malloc(REPLAY_MAX);
  f->n = fread(f->data, 1, REPLAY_MAX, in);
  fclose(in);
  r->n++;
  return f->n < REPLAY_MAX;
}

/* All files of a directory that end so, sorted by name; how many. */
static inline int replay_dir(struct replay *r, const char *dir, const char *ending) {
  int before = r->n;
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[320];
    size_t n = strlen(e->d_name), m = strlen(ending);
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (e->d_name[0] != '.' && n >= m && strcmp(e->d_name + n - m, ending) == 0)
      replay_read(r, path);
  }
  if (d)
    closedir(d);
  qsort(r->file, (size_t)r->n, sizeof *r->file, replay_by_name);
  return r->n - before;
}

static inline void replay_done(struct replay *r) {
  for (int i = 0; i < r->n; i++)
    free(r->file[i].data);
  r->n = 0;
}

static inline uint32_t replay_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* ---- damage; each takes n bytes with room for REPLAY_MAX and gives the new length */

static inline size_t replay_flip(uint8_t *p, size_t n, uint32_t *s) {
  for (uint32_t k = 1 + replay_random(s) % 4; k; k--)
    p[replay_random(s) % n] ^= (uint8_t)(1u << replay_random(s) % 8);
  return n;
}

static inline size_t replay_insert(uint8_t *p, size_t n, size_t at, const char *text, size_t drop) {
  size_t k = strlen(text);
  if (n - drop + k > REPLAY_MAX)
    return n;
  memmove(p + at + k, p + at + drop, n - at - drop);
  memcpy(p + at, text, k);
  return n - drop + k;
}

/* A number becomes a large or a peculiar one. */
static inline size_t replay_enlarge(uint8_t *p, size_t n, uint32_t *s) {
  static const char *const numbers[] = {
      "4294967296", "-1",     "18446744073709551615", "1099511627776",      "0",
      "2147483647", "65536",  "9223372036854775808",  "0x7fffffffffffffff", "67108864",
      "31",         "1048576"};
  size_t at = replay_random(s) % n, end;
  for (size_t i = 0; i < n && !(p[at] >= '0' && p[at] <= '9'); i++)
    at = (at + 1) % n;
  while (at > 0 && p[at - 1] >= '0' && p[at - 1] <= '9')
    at--;
  for (end = at; end < n && p[end] >= '0' && p[end] <= '9';)
    end++;
  return replay_insert(p, n, at, numbers[replay_random(s) % (sizeof numbers / sizeof *numbers)],
                       end - at);
}

static inline void replay_line(const uint8_t *p, size_t n, size_t at, size_t *from, size_t *to) {
  while (at > 0 && p[at - 1] != '\n')
    at--;
  *from = at;
  while (at < n && p[at] != '\n')
    at++;
  *to = at < n ? at + 1 : n;
}

/* A line goes, stands twice, or stands where another was. */
static inline size_t replay_lines(uint8_t *p, size_t n, uint32_t *s) {
  size_t a, b, c, d;
  char line[512];
  replay_line(p, n, replay_random(s) % n, &a, &b);
  replay_line(p, n, replay_random(s) % n, &c, &d);
  if (b - a >= sizeof line)
    return n;
  memcpy(line, p + a, b - a);
  line[b - a] = '\0';
  switch (replay_random(s) % 3) {
  case 0:
    memmove(p + a, p + b, n - b);
    return n - (b - a);
  case 1:
    return replay_insert(p, n, a, line, 0);
  default:
    return replay_insert(p, n, c, line, d - c);
  }
}

static inline size_t replay_damage(uint8_t *p, size_t n, uint32_t *s) {
  for (uint32_t k = 1 + replay_random(s) % 3; k && n; k--)
    switch (replay_random(s) % 6) {
    case 0:
      n = replay_flip(p, n, s);
      break;
    case 1:
    case 2:
      n = replay_enlarge(p, n, s);
      break;
    case 3:
      n = 1 + replay_random(s) % n;
      break;
    default:
      n = replay_lines(p, n, s);
      break;
    }
  return n;
}

/* ---- the two passes */

static inline void replay_all(const struct replay *r) {
  for (int i = 0; i < r->n; i++) {
    /* At its exact length, so that a sanitizer sees a read behind the end. */
    uint8_t *copy = malloc(r->file[i].n ? r->file[i].n : 1);
    memcpy(copy, r->file[i].data, r->file[i].n);
    LLVMFuzzerTestOneInput(copy, r->file[i].n);
    free(copy);
  }
}

/* `times` damaged copies in all, the files in turn. With FUZZ_KEEP=FILE in the environment each is
 * written there first: what a crash leaves is its input. */
static inline void replay_damaged(const struct replay *r, int times, uint32_t seed) {
  uint8_t *room = malloc(REPLAY_MAX);
  const char *keep = getenv("FUZZ_KEEP");
  for (int i = 0; i < times && r->n; i++) {
    const struct replay_file *f = &r->file[i % r->n];
    memcpy(room, f->data, f->n);
    size_t n = replay_damage(room, f->n, &seed);
    FILE *out = keep ? fopen(keep, "wb") : NULL;
    if (out) {
      fwrite(room, 1, n, out);
      fclose(out);
    }
    uint8_t *copy = malloc(n ? n : 1);
    memcpy(copy, room, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
  }
  free(room);
}

/* Bytes in use; 0 under a sanitizer, which looks for leaks by itself. */
static inline size_t replay_in_use(void) {
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

#endif
