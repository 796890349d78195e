/* The table of GPUs: which row belongs to which device. */
#include "bench/gpus.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_row(const char *name, const char *cc, double sms, const char *want) {
  struct gpus_row row;
  bool found = gpus_find(name, cc, sms, &row);
  if (found != (want != NULL))
    fail_msg("%s: %s", name, found ? row.name : "no row");
  if (want)
    assert_string_equal(row.name, want);
}

static void test_rows(void **state) {
  (void)state;
  assert_row("NVIDIA H200", "9.0", 132, "H200 SXM 141GB");
  assert_row("NVIDIA A100-SXM4-80GB", "8.0", 108, "A100 SXM4 80GB");
  assert_row("NVIDIA A100 80GB PCIe", "8.0", 108, "A100 PCIe 80GB");
  assert_row("NVIDIA L4", "8.9", 58, "L4");
  assert_row("NVIDIA L40S", "8.9", 142, "L40S");
  assert_row("NVIDIA L40", "8.9", 142, "L40");
  assert_row("NVIDIA GeForce RTX 4090", "8.9", 128, "GeForce RTX 4090");
}

static void test_no_row(void **state) {
  (void)state;
  assert_row("NVIDIA H200", "9.0", 114, NULL); /* a part of a card */
  assert_row("NVIDIA H200", "8.9", 132, NULL);
  assert_row("NVIDIA H200 NVL", "9.0", 132, NULL);
  assert_row("NVIDIA A100", "8.6", 72, NULL); /* not the A10 */
  assert_row("NVIDIA GeForce RTX 3080 Ti", "8.6", 68, NULL);
  assert_row("NVIDIA GeForce RTX 3080 Laptop GPU", "8.6", 68, NULL);
  assert_row("", "9.0", 132, NULL);
}

static void test_figures(void **state) {
  (void)state;
  struct gpus_row row;
  assert_true(gpus_find("Tesla T4", "7.5", 40, &row));
  assert_true(row.fp32 == 8.1e12 && row.dram == 320e9 && row.fp16 == 65e12);
  assert_true(isnan(row.bf16)); /* Turing has none: absent, not 0 */
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_no_row),
      cmocka_unit_test(test_figures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
