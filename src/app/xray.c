#include "app/xray.h"

#include "app/options.h"
#include "app/session.h"
#include "app/xray_args.h"
#include "app/xray_problems.h"
#include "app/xray_source.h"
#include "app/xray_text.h"
#include "app/xray_totals.h"
#include "base/alloc.h"
#include "base/sentences.h"
#include "base/utf8.h"
#include "kernels/catalog.h"
#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char help[] =
    "mmtutor xray FILE|KERNEL [options]: run a CUDA kernel without a GPU, and count\n"
    "\n"
    "  FILE is .cu (host code is left out) or .ptx; KERNEL is one of --list\n"
    "  -M N, -N N, -K N     sizes (256 each)\n"
    "  --entry NAME         which kernel of the file: 'tiled', 'gemm::tiled<32>'\n"
    "  --grid X,Y,Z --block X,Y,Z --smem B   the launch; may hold M N K and defines,\n"
    "                       like --grid 'ceil(N/32),ceil(M/32)'\n"
    "  --args LIST          the parameters in order: 'A,B,C,M,N,K,1.0,0.0'\n"
    "  --op OP              gemm gemv add copy reduce transpose none: what to verify\n"
    "  --dtype T            f32 bf16 f16 f64\n"
    "  --layout A=col       of A, B or C; row is usual\n"
    "  --define T=16        a macro, or a parameter (--param) of a KERNEL\n"
    "  --arch compute_90    what it is compiled for\n"
    "  --sample             some blocks of each kind, counts scaled up; for large sizes\n"
    "  --no-checks          counts alone: races and unwritten reads are not looked for\n"
    "  --seconds S          time it may take           --seed N    of the inputs (1)\n"
    "  --trace FILE         events of block --trace-block 0,0 as JSON lines\n"
    "  --json               one JSON object            --verbose   what was left out\n"
    "  --lang, --ascii, --width N, --color as in `mmtutor --help`; --worker COMMAND\n"
    "\n"
    "Exit codes: 0 all right, 1 a problem or a wrong result, 2 usage.\n";

/* What is kept of the events of one x-ray. */
struct watch {
  struct xray_result result;
  bool has_result, tty, shown;
  bool trace_lost; /* the disk is full, for example */
  char *log;       /* of the compiler */
  FILE *trace;
  double events;
  struct device_fault fault;
};

/* A line that overwrites itself, only ever on a terminal. */
static void progress(struct watch *w, const char *text) {
  if (!w->tty || (!*text && !w->shown))
    return;
  fprintf(stderr, "\r%-40.40s\r", text);
  fflush(stderr);
  w->shown = *text != '\0';
}

static void on_trace(struct watch *w, const char *lines) {
  if (!w->trace)
    return;
  fputs(lines, w->trace);
  for (const char *at = strchr(lines, '\n'); at; at = strchr(at + 1, '\n'))
    w->events++;
}

static void on_event(void *ctx, const struct client_event *ev) {
  struct watch *w = ctx;
  switch (ev->kind) {
  case CLIENT_COMPILE:
    free(w->log);
    w->log = ev->built.log ? alloc_str(ev->built.log) : NULL;
    progress(w, "compiled; running");
    break;
  case CLIENT_TRACE:
    on_trace(w, ev->text);
    break;
  case CLIENT_XRAY:
    xray_result_copy(&w->result, ev->xray);
    w->has_result = true;
    break;
  case CLIENT_ERROR:
  case CLIENT_GONE:
    w->fault = ev->fault;
    break;
  default: /* what the kernel prints is in the result */
    break;
  }
}

/* ---- output */
static int terminal_width(void) {
  struct winsize ws;
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 60)
    return ws.ws_col;
  return 80;
}

static struct xray_page page_for(const struct xray_args *a) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  bool tty = isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
  bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  struct xray_page p = {.width = a->width ? a->width : terminal_width(), .lang = a->lang};
  p.colour = a->colour > 0 || (a->colour == 0 && tty && !(no && *no));
  p.glyphs = tty && utf8 && !a->ascii;
  p.ascii = a->ascii;
  return p;
}

static void print_json(const struct xray_result *r) {
  cJSON *o = xray_result_to_json(r);
  char *text = json_print(o);
  puts(text);
  free(text);
  cJSON_Delete(o);
}

static void put_traced(struct xray_page *p, const struct xray_args *a, const struct watch *w) {
  char *n = xray_page_exact(w->events);
  char *block =
      alloc_printf("%lld, %lld, %lld", (long long)a->request.trace_block[0],
                   (long long)a->request.trace_block[1], (long long)a->request.trace_block[2]);
  char *name = utf8_clean(a->trace, strlen(a->trace));
  char *text = xray_words(XW_TRACED, p->lang, n, block, name, NULL);
  xray_page_text(p, 0, INK_PLAIN, text);
  free(text);
  free(name);
  free(block);
  free(n);
}

static void print_page(const struct xray_args *a, const struct watch *w) {
  struct xray_page p = page_for(a);
  xray_totals_head(&p, &w->result);
  str_addc(&p.out, '\n');
  xray_source_put(&p, &w->result);
  str_addc(&p.out, '\n');
  xray_totals_table(&p, &w->result);
  xray_totals_foot(&p, &w->result, a->verbose);
  str_addc(&p.out, '\n');
  xray_problems_put(&p, &w->result);
  str_addc(&p.out, '\n');
  xray_totals_verify(&p, &w->result);
  if (a->trace && !w->trace_lost)
    put_traced(&p, a, w);
  xray_page_print(&p, stdout);
  str_free(&p.out);
}

static int show(const struct xray_args *a, const struct watch *w) {
  const struct xray_result *r = &w->result;
  if (a->json)
    print_json(r);
  else
    print_page(a, w);
  bool wrong = r->verified && !r->head.verify.ok;
  return xray_problems_errors(r) > 0 || wrong || !r->finished ? 1 : 0;
}

/* Faults of the command line, that the worker finds. */
static bool is_usage(const char *code) {
  static const char *const codes[] = {"arch",     "args",   "dtype",    "entry",       "launch",
                                      "launches", "params", "requires", "front_matter"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(code, codes[i]) == 0)
      return true;
  return false;
}

/* In Chinese where that is asked for; one that is too long ends at a whole sign. */
static void in_chinese(char *text, size_t size) {
  char *own = sentences_in(text, true);
  size_t bad;
  snprintf(text, size, "%s", own);
  if (!utf8_valid(text, strlen(text), &bad))
    text[bad] = '\0';
  free(own);
}

static int fail(const struct watch *w, enum lang lang) {
  struct device_fault f = w->fault;
  if (lang == LANG_ZH) {
    in_chinese(f.what, sizeof f.what);
    in_chinese(f.why, sizeof f.why);
    in_chinese(f.next, sizeof f.next);
  }
  bool log = w->log && w->log[0];
  if (log)
    f.why[0] = '\0'; /* the compiler's own words follow whole */
  int code = options_fault("xray", is_usage(f.code) ? 2 : 1, &f);
  if (log)
    fprintf(stderr, "%s\n", w->log);
  return code;
}

static int look(client *c, const struct xray_args *a, struct watch *w) {
  struct err err;
  int id = client_xray(c, &a->request, &err);
  if (id == 0)
    return options_fail("xray", 1, err.text);
  progress(w, "compiling");
  enum client_kind end = session_wait(c, id, on_event, w);
  progress(w, "");
  if (end == CLIENT_CANCELLED)
    return options_fail("xray", 1, "Cancelled; nothing was kept.");
  if (end != CLIENT_XRAY || !w->has_result)
    return fail(w, a->lang);
  w->trace_lost = w->trace && (fflush(w->trace) != 0 || ferror(w->trace));
  if (a->file)
    xray_text_fill(&w->result, a->name);
  return show(a, w);
}

/* The trace file is closed before the exit code is known: a full disk is a failure. */
static int run(const struct xray_args *a) {
  struct watch w;
  memset(&w, 0, sizeof w);
  xray_result_init(&w.result);
  w.tty = isatty(STDERR_FILENO) == 1;
  struct err err;
  bool out = a->trace && strcmp(a->trace, "-") == 0;
  w.trace = !a->trace ? NULL : out ? stdout : fopen(a->trace, "w");
  if (a->trace && !w.trace) {
    err_set(&err, "Cannot write %.200s: %s. Name another file.", a->trace, strerror(errno));
    return options_fail("xray", 1, err.text);
  }
  session_signals();
  client *c = client_new(a->worker);
  int code = look(c, a, &w);
  client_free(c);
  bool whole = !w.trace || out || fclose(w.trace) == 0;
  if (!whole || (w.trace_lost && !out))
    code = options_fail("xray", 1, "The trace could not be written whole.");
  xray_result_done(&w.result);
  free(w.log);
  return code;
}

static int list(void) {
  catalog *c = catalog_new();
  for (int i = 0; i < catalog_count(c); i++) {
    const struct kernel *k = catalog_at(c, i);
    if (k->target == KERNEL_CUDA)
      printf("%-24s %s\n", k->id, k->idea[0] ? k->idea[0] : "");
  }
  fputs(catalog_complaints(c), stderr);
  catalog_free(c);
  return 0;
}

int xray_main(int argc, char **argv) {
  struct xray_args a;
  struct err err;
  int code = xray_args_read(argc, argv, &a);
  if (code != 0)
    return code;
  if (a.help)
    return fputs(help, stdout) < 0;
  if (a.list)
    return list();
  code = xray_args_load(&a, &err) ? run(&a) : options_fail("xray", 2, err.text);
  xray_args_done(&a);
  return code;
}
