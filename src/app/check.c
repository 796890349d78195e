#include "app/check.h"

#include "app/options.h"
#include "lesson/lesson.h"
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: mmtutor check PATH\n"
    "Checks a directory of lessons, or one lesson, for its authors: both languages, references,\n"
    "every key of every draw, malrules, bands, kernels. One fault a line, as file:line: what.\n"
    "Exit code 0: no fault; 1: faults; 2: usage.\n";

int check_main(int argc, char **argv) {
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage, stdout);
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--") == 0) {
    argv++;
    argc--;
  } else if (argc == 2 && argv[1][0] == '-') {
    struct err err;
    err_set(&err, "unknown option '%.80s'. Try `mmtutor check --help`.", argv[1]);
    return options_fail("check", 2, err.text);
  }
  if (argc != 2) {
    fprintf(stderr, "mmtutor check: give one path, like `mmtutor check lessons/`.\n");
    return 2;
  }
  struct str faults = {0}, summary = {0};
  catalog *kernels = catalog_new();
  int n = lesson_check(argv[1], kernels, &faults, &summary);
  if (faults.len)
    fputs(faults.data, stdout);
  puts(summary.data);
  catalog_free(kernels);
  str_free(&faults);
  str_free(&summary);
  return n ? 1 : 0;
}
