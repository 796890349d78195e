#include "app/options.h"

#include "base/expr.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool value(const char *text, double min, double max, double *out) {
  return strlen(text) < 64 && expr_eval(text, NULL, NULL, out, NULL) && *out >= min && *out <= max;
}

bool options_whole(const char *name, const char *text, double min, double max, double *out,
                   struct err *err) {
  if (value(text, min, max, out) && floor(*out) == *out)
    return true;
  return err_set(err, "%s needs a whole number from %.0f to %.0f, not '%.40s'.", name, min, max,
                 text);
}

bool options_number(const char *name, const char *text, double min, double max, double *out,
                    struct err *err) {
  if (value(text, min, max, out))
    return true;
  return err_set(err, "%s needs a number from %g to %g, not '%.40s'.", name, min, max, text);
}

int options_wrong(const char *command, char **argv, int c) {
  const char *word = argv[optind > 0 ? optind - 1 : 0];
  const char *what = c == ':' ? "needs a value" : "is not known or not used rightly";
  struct err err;
  if (optopt > 0 && optopt < 128 && strncmp(word, "--", 2) != 0)
    err_set(&err, "the option '-%c' %s.", optopt, what);
  else
    err_set(&err, "the option '%.80s' %s.", word, what);
  options_fail(command, 2, err.text);
  fprintf(stderr, "  `mmtutor %s --help` lists the options.\n", command);
  return 2;
}

int options_fail(const char *command, int code, const char *sentence) {
  fprintf(stderr, "mmtutor %s: %s\n", command, sentence);
  return code;
}

int options_fault(const char *command, int code, const struct device_fault *fault) {
  fprintf(stderr, "mmtutor %s: %s\n", command, fault->what);
  if (fault->why[0])
    fprintf(stderr, "  %s\n", fault->why);
  if (fault->next[0])
    fprintf(stderr, "  %s\n", fault->next);
  return code;
}
