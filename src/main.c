/* The command line: sets the locale, dispatches, gives the exit code. */
#include "app/check.h"
#include "app/doctor.h"
#include "app/options.h"
#include "app/plain.h"
#include "app/read.h"
#include "app/roofline.h"
#include "app/run.h"
#include "app/xray.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/paths.h"
#include "bench/worker.h"
#include "kernels/catalog.h"
#include "ui/frame.h"
#include "ui/strings.h"
#include "ui/term.h"
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options before the command. */
struct globals {
  const char *lang, *theme, *worker;
  bool ascii, plain, a11y;
  int colour; /* 1 always, 0 auto, -1 never */
};

struct entry {
  const char *name, *use, *help;
  int (*run)(int argc, char **argv); /* argv[0] is the name */
};

static int worker_command(int argc, char **argv) {
  (void)argv;
  return argc == 1 ? worker_main() : options_fail("worker", 2, "worker takes no options.");
}

static const struct entry commands[] = {
    {"read", "read ID", "a lesson as plain text", read_main},
    {"run", "run KERNEL", "compile, verify and measure a kernel", run_main},
    {"xray", "xray FILE", "count what a CUDA kernel does, without a GPU", xray_main},
    {"roofline", "roofline", "measure the roofs of a device", roofline_main},
    {"frame", "frame VIEW", "any view as text or SVG", frame_main},
    {"check", "check PATH", "check lessons, for authors", check_main},
    {"doctor", "doctor", "what is here, what is missing", doctor_main},
    {"worker", "worker", "the measuring process (JSON lines)", worker_command},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int print_help(void) {
  puts("mmtutor: learn what makes matrix multiplication fast, on your own machine\n\n"
       "  mmtutor              the tutor: lessons, simulator, live kernels\n"
       "  mmtutor lesson ID    opens one lesson");
  for (int i = 0; i < COMMANDS; i++)
    printf("  mmtutor %-12s %s\n", commands[i].use, commands[i].help);
  puts("\n"
       "  --lang en|zh|auto    language                   --plain    text, no screen\n"
       "  --theme NAME         dark light contrast mono   --ascii    ASCII only\n"
       "  --color auto|always|never, or --no-color        --a11y     cursor on the focus\n"
       "  --worker COMMAND     measure elsewhere: \"ssh gpubox mmtutor worker\"\n"
       "  -h, --help           this text; `mmtutor COMMAND --help` has more\n"
       "  -V, --version        the version and what is built in\n"
       "\n"
       "Exit codes: 0 ok, 1 failed, 2 usage. Press ? inside for the keys.");
  return 0;
}

static int print_version(void) {
  catalog *c = catalog_new();
  printf("mmtutor %s\n", MMTUTOR_VERSION);
  printf("kernels: %d, CPU levels:", catalog_count(c));
  for (int i = 0; i < ISA_COUNT; i++)
    if (catalog_cpu_table[0].id && catalog_cpu_table[0].entry[i])
      printf(" %s", catalog_isa_name((enum catalog_isa)i));
  printf("\nCUDA driver, NVRTC, cuBLAS, NVML, CBLAS: opened at run time (see mmtutor doctor)\n");
  printf("cJSON %s, compiled by gcc-compatible %s\n", cJSON_Version(), __VERSION__);
  catalog_free(c);
  return 0;
}

static int usage(const char *what, const char *word) {
  struct err err;
  err_set(&err, "%s '%.80s'.", what, word);
  fprintf(stderr, "mmtutor: %s\n  `mmtutor --help` lists commands and options.\n", err.text);
  return 2;
}

static bool is_lang(const char *option) {
  return !option || strcmp(option, "en") == 0 || strcmp(option, "zh") == 0 ||
         strcmp(option, "auto") == 0;
}

static bool want_colour(const struct globals *g) {
  const char *no = getenv("NO_COLOR");
  return g->colour > 0 || (g->colour == 0 && !(no && *no));
}

/* The lines-of-text tutor, with the options it shares. */
static int start_plain(const struct globals *g, const char *view) {
  const char *argv[8];
  int n = 0;
  argv[n++] = "plain";
  if (g->lang) {
    argv[n++] = "--lang";
    argv[n++] = g->lang;
  }
  if (g->ascii)
    argv[n++] = "--ascii";
  if (g->worker) {
    argv[n++] = "--worker";
    argv[n++] = g->worker;
  }
  if (view)
    argv[n++] = view;
  char *copies[8] = {0};
  for (int i = 0; i < n; i++)
    copies[i] = alloc_str(argv[i]);
  int code = plain_main(n, copies);
  for (int i = 0; i < n; i++)
    free(copies[i]);
  return code;
}

static int start_ui(const struct globals *g, const char *view) {
  const char *term = getenv("TERM");
  struct term_options o = {.view = view, .colour = want_colour(g), .a11y = g->a11y};
  if (!is_lang(g->lang))
    return usage("--lang is en, zh or auto, not", g->lang);
  o.ui.theme = theme_find(g->theme ? g->theme : "dark");
  if (!o.ui.theme)
    return usage("--theme is dark, light, contrast or mono, not", g->theme ? g->theme : "dark");
  if (g->plain || (term && strcmp(term, "dumb") == 0))
    return start_plain(g, view);
  o.ui.lang = strings_lang(g->lang);
  o.ui.lang_given = g->lang && strcmp(g->lang, "auto") != 0;
  o.ui.theme_given = g->theme != NULL;
  o.ui.ascii = g->ascii;
  o.ui.worker = true;
  o.ui.worker_command = g->worker;
  return term_run(&o);
}

/* `mmtutor lesson ID[:STEP]`, or no command at all. */
static int interactive(const struct globals *g, int argc, char **argv) {
  if (argc == 0)
    return start_ui(g, NULL);
  if (argc != 2 || argv[1][0] == '-') {
    fputs("mmtutor lesson: name one lesson, like `mmtutor lesson tiling`; options stand "
          "before `lesson`.\n",
          stderr);
    return 2;
  }
  char *view = alloc_printf("lesson/%s", argv[1]);
  int code = start_ui(g, view);
  free(view);
  return code;
}

/* Options that stood before the command (argv[1..nglobal]) come behind its name, so that every
 * command reads its own. */
static int dispatch(const struct entry *c, int nglobal, int argc, char **argv) {
  char **moved = alloc_zero((size_t)argc + 1, sizeof *moved);
  int n = 0;
  moved[n++] = argv[nglobal + 1];
  for (int i = 1; i <= nglobal; i++)
    moved[n++] = argv[i];
  for (int i = nglobal + 2; i < argc; i++)
    moved[n++] = argv[i];
  int code = c->run(n, moved);
  free(moved);
  return code;
}

enum {
  OPT_LANG = 256,
  OPT_ASCII,
  OPT_THEME,
  OPT_PLAIN,
  OPT_NO_COLOR,
  OPT_COLOR,
  OPT_WORKER,
  OPT_A11Y
};

static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {"lang", required_argument, NULL, OPT_LANG},
                                             {"ascii", no_argument, NULL, OPT_ASCII},
                                             {"theme", required_argument, NULL, OPT_THEME},
                                             {"plain", no_argument, NULL, OPT_PLAIN},
                                             {"no-color", no_argument, NULL, OPT_NO_COLOR},
                                             {"color", optional_argument, NULL, OPT_COLOR},
                                             {"worker", required_argument, NULL, OPT_WORKER},
                                             {"a11y", no_argument, NULL, OPT_A11Y},
                                             {NULL, 0, NULL, 0}};

static bool read_colour(const char *word, int *out) {
  *out = !word || strcmp(word, "always") == 0 ? 1 : strcmp(word, "never") == 0 ? -1 : 0;
  return *out != 0 || strcmp(word, "auto") == 0;
}

/* Reads the options before the command; -1 to go on, else the exit code. */
static int read_globals(int argc, char **argv, struct globals *g) {
  int c;
  opterr = 0;
  while ((c = getopt_long(argc, argv, "+:hV", long_options, NULL)) != -1)
    switch (c) {
    case 'h':
      return print_help();
    case 'V':
      return print_version();
    case OPT_LANG:
      g->lang = optarg;
      break;
    case OPT_ASCII:
      g->ascii = true;
      break;
    case OPT_THEME:
      g->theme = optarg;
      break;
    case OPT_PLAIN:
      g->plain = true;
      break;
    case OPT_NO_COLOR:
      g->colour = -1;
      break;
    case OPT_COLOR:
      if (!read_colour(optarg, &g->colour))
        return usage("--color is auto, always or never, not", optarg);
      break;
    case OPT_WORKER:
      g->worker = optarg;
      break;
    case OPT_A11Y:
      g->a11y = true;
      break;
    case ':':
      return usage("a value is missing behind", argv[optind - 1]);
    default:
      return usage("there is no option", argv[optind > 1 ? optind - 1 : 1]);
    }
  return -1;
}

static int run_command_line(int argc, char **argv) {
  struct globals g = {0};
  int code = read_globals(argc, argv, &g);
  if (code >= 0)
    return code;
  int first = optind;
  if (first >= argc || strcmp(argv[first], "lesson") == 0)
    return interactive(&g, argc - first, argv + first);
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(argv[first], commands[i].name) == 0)
      return dispatch(&commands[i], first - 1, argc, argv);
  return usage("there is no command", argv[first]);
}

int main(int argc, char **argv) {
  setlocale(LC_ALL, "");
  setlocale(LC_NUMERIC, "C");
  signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit (ulimit -f) is an error, not the end */
  paths_set_program(argc > 0 ? argv[0] : "mmtutor");
  int code = argc > 0 ? run_command_line(argc, argv) : 2;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fputs("mmtutor: the output could not be written whole.\n", stderr);
    code = code == 0 ? 1 : code;
  }
  return code;
}
