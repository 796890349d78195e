/* Reading a cubin: small ones of each generation against the counts of a disassembler
 * (tests/fixtures/xray/sass/make.py), and damaged ones. */
#include "sim/xray/sass.h"

#include "base/alloc.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DIR "tests/fixtures/xray/sass/"

static unsigned char *read_cubin(const char *name, size_t *n) {
  char path[200];
  snprintf(path, sizeof path, DIR "%s", name);
  FILE *f = fopen(path, "rb");
  if (!f)
    fail_msg("%s is not there: run the tests from the root of the sources", path);
  unsigned char *data = alloc_zero(1 << 16, 1);
  *n = fread(data, 1, 1 << 16, f);
  fclose(f);
  return data;
}

static bool read_row(FILE *f, char name[64], int of[13]) {
  if (fscanf(f, "%63s", name) != 1)
    return false;
  for (int i = 0; i < 13; i++)
    assert_int_equal(fscanf(f, "%d", &of[i]), 1);
  return true;
}

static void test_counts(void **state) {
  (void)state;
  FILE *f = fopen(DIR "counts.txt", "r");
  assert_non_null(f);
  char name[64];
  int of[13], rows = 0;
  for (; read_row(f, name, of); rows++) {
    size_t n = 0;
    unsigned char *cubin = read_cubin(name, &n);
    struct xray_mix mix, should = {.lds = {of[0], of[1], of[2]},
                                   .sts = {of[3], of[4], of[5]},
                                   .ldg = {of[6], of[7], of[8]},
                                   .stg = {of[9], of[10], of[11]},
                                   .ffma = of[12]};
    struct err err;
    if (!sass_mix(cubin, n, "widths", &mix, &err))
      fail_msg("%s: %s", name, err.text);
    if (!sass_mix_equal(&mix, &should))
      fail_msg("%s: lds %d %d %d sts %d %d %d ldg %d %d %d stg %d %d %d ffma %d", name, mix.lds[0],
               mix.lds[1], mix.lds[2], mix.sts[0], mix.sts[1], mix.sts[2], mix.ldg[0], mix.ldg[1],
               mix.ldg[2], mix.stg[0], mix.stg[1], mix.stg[2], mix.ffma);
    free(cubin);
  }
  fclose(f);
  assert_int_equal(rows, 5);
}

static void test_equal(void **state) {
  (void)state;
  struct xray_mix x = {.lds = {1, 2, 3}, .sts = {4, 5, 6}, .ldg = {7, 8, 9}, .stg = {1, 1, 2}};
  x.ffma = 5;
  int *const parts[] = {&x.lds[0], &x.lds[2], &x.sts[1], &x.ldg[0], &x.stg[2], &x.ffma};
  const struct xray_mix y = x;
  assert_true(sass_mix_equal(&x, &y));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ++*parts[i];
    assert_false(sass_mix_equal(&x, &y));
    --*parts[i];
  }
}

static void refused(const void *cubin, size_t n, const char *symbol, const char *says) {
  struct xray_mix mix = {.ffma = 7};
  struct err err = {{0}};
  assert_false(sass_mix(cubin, n, symbol, &mix, &err));
  if (!strstr(err.text, says) || err.text[strlen(err.text) - 1] != '.')
    fail_msg("says: %s", err.text);
  assert_int_equal(mix.ffma, 0);
}

static void test_refusals(void **state) {
  (void)state;
  size_t n = 0;
  unsigned char *cubin = read_cubin("widths_90.cubin", &n);
  refused(cubin, n, "width", "no kernel \"width\"");
  refused(cubin, n, "widths2", "no kernel");
  refused(cubin, n, "", "no kernel");
  refused(cubin, 0, "widths", "no cubin");
  refused("#!/bin/sh", 9, "widths", "no cubin");
  Elf64_Ehdr head;
  memcpy(&head, cubin, sizeof head);
  Elf64_Ehdr other = head;
  other.e_flags = (head.e_flags & ~0xff00u) | 61u << 8;
  memcpy(cubin, &other, sizeof other);
  refused(cubin, n, "widths", "sm_61");
  other = head;
  other.e_ident[EI_OSABI] = 3;
  memcpy(cubin, &other, sizeof other);
  refused(cubin, n, "widths", "ABI 3");
  other = head;
  other.e_machine = EM_X86_64;
  memcpy(cubin, &other, sizeof other);
  refused(cubin, n, "widths", "no cubin");
  free(cubin);
}

/* No bytes may lead out of the image (the sanitizers watch): cut at each length, and with bytes
 * changed, most of them in the headers. */
static void test_damage(void **state) {
  (void)state;
  size_t n = 0;
  unsigned char *intact = read_cubin("widths_120.cubin", &n);
  struct xray_mix mix;
  uint32_t seed = 5;
  int read = 0;
  for (size_t cut = 0; cut < n; cut += cut < 256 ? 1 : 37) {
    unsigned char *part = alloc_zero(cut + 1, 1);
    memcpy(part, intact, cut);
    part = alloc_grow(part, cut ? cut : 1, 1);
    read += sass_mix(part, cut, "widths", &mix, NULL);
    free(part);
  }
  Elf64_Ehdr head;
  memcpy(&head, intact, sizeof head);
  for (int i = 0; i < 20000; i++) {
    unsigned char *copy = alloc_zero(n, 1);
    memcpy(copy, intact, n);
    for (int k = 0; k < 4; k++) {
      seed = seed * 1664525u + 1013904223u;
      size_t at = (seed >> 8) % n;
      if (seed >> 5 & 1)
        at = seed >> 6 & 1 ? (seed >> 8) % sizeof head
                           : head.e_shoff + (seed >> 8) % (n - head.e_shoff);
      copy[at] = (unsigned char)(seed >> 24);
    }
    read += sass_mix(copy, n, "widths", &mix, NULL);
    free(copy);
  }
  assert_true(read > 0);
  free(intact);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_equal),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
