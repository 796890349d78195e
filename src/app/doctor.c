#include "app/doctor.h"

#include "app/nvrtc_advice.h"
#include "app/options.h"
#include "app/paper.h"
#include "app/session.h"
#include "base/alloc.h"
#include "base/paths.h"
#include "base/str.h"
#include "base/units.h"
#include "kernels/catalog.h"
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "mmtutor doctor [options]: what is here, what is missing, and how to get it\n"
    "\n"
    "  --json               one JSON object\n"
    "  --worker COMMAND     look elsewhere: \"ssh gpubox mmtutor worker\"\n"
    "\n"
    "Exit codes: 0 mmtutor can work here (also without a GPU), 1 it cannot, 2 usage.\n";

enum state { HERE, ABSENT, BROKEN };
static const char *const state_names[] = {"ok", "absent", "broken"};

struct finding {
  const char *name;
  enum state state;
  char *text;       /* what is here, or why not */
  const char *next; /* the smallest way to get it; "" if nothing is to be done */
};

enum { FINDINGS_MAX = 64 };

struct doctor {
  struct finding f[FINDINGS_MAX];
  int n;
  struct device_fault fault;
  bool elsewhere; /* the worker is on another machine, whose distribution is not known */
  char *nvrtc;    /* how to get it */
  char *cublas;
};

/* Takes text over. */
static void add(struct doctor *d, const char *name, enum state state, char *text,
                const char *next) {
  if (d->n < FINDINGS_MAX)
    d->f[d->n++] = (struct finding){name, state, text, next};
  else
    free(text);
}

/* ---- through the worker */
static void add_quantity(struct str *s, const char *before, double v, const char *unit) {
  if (isnan(v))
    return;
  char *text = units_format(v, unit, 3);
  str_addf(s, "%s%s", before, text);
  free(text);
}

static void add_device(struct doctor *d, const struct device_info *i) {
  struct str s = {0};
  bool cpu = strcmp(i->id, "cpu") == 0;
  str_addf(&s, "%s", i->name[0] ? i->name : "name not known");
  if (i->isa[0])
    str_addf(&s, ", %s", i->isa);
  if (i->threads > 0)
    str_addf(&s, ", %d thread%s allowed", i->threads, i->threads == 1 ? "" : "s");
  if (!cpu)
    str_addf(&s, ", %s", i->id);
  if (i->cc[0])
    str_addf(&s, ", compute capability %s", i->cc);
  if (i->driver[0])
    str_addf(&s, ", driver %s", i->driver);
  if (!isnan(i->sms))
    str_addf(&s, ", %.0f SMs", i->sms);
  add_quantity(&s, ", ", i->memory_bytes, "B");
  add(d, cpu ? "CPU" : "GPU", HERE, str_take(&s), "");
}

static const struct {
  const char *name, *next;
} tool_texts[TOOLS_COUNT] = {
    [TOOLS_CC] = {"C compiler", "Install gcc or clang."},
    [TOOLS_CBLAS] = {"CBLAS",
                     "Install a CBLAS for CPU references: libopenblas0 (Debian, Ubuntu), openblas "
                     "(Fedora, Arch, Homebrew)."},
    [TOOLS_DRIVER] = {"NVIDIA driver",
                      "With an NVIDIA GPU: install the driver. Without one, CPU kernels and the "
                      "simulator work as they are."},
    [TOOLS_NVRTC] = {"NVRTC", NULL}, /* they depend on the distribution and the driver */
    [TOOLS_CUBLAS] = {"cuBLAS", NULL},
    [TOOLS_COUNTERS] = {"counters", "Only hardware counters need this: the driver option "
                                    "NVreg_RestrictProfilingToAdminUsers=0."},
};

/* What to do about a library that is not here. */
static const char *next_for(struct doctor *d, enum tools_id id, const struct tools *tools) {
  int major = 0;
  if (tool_texts[id].next)
    return tool_texts[id].next;
  if (sscanf(tools->thing[TOOLS_DRIVER].found, "for CUDA %d", &major) != 1)
    major = 0;
  if (id == TOOLS_NVRTC) {
    d->nvrtc = d->elsewhere ? nvrtc_advice(NULL, 0, major) : nvrtc_advice_here(major);
    return d->nvrtc;
  }
  d->cublas = alloc_printf("Install it alone: pip install nvidia-cublas%s, or the CUDA toolkit. It "
                           "is the reference on GPUs.",
                           major == 12 ? "-cu12" : "");
  return d->cublas;
}

/* The device that needs no device. */
static void add_xray(struct doctor *d, const struct tools *tools) {
  bool own = tools->thing[TOOLS_NVRTC].found[0] != '\0';
  add(d, "x-ray", HERE,
      alloc_printf("counts what CUDA kernels do, without a GPU: those of mmtutor%s",
                   own ? ", and files of yours" : "; files of yours need NVRTC"),
      "");
}

static void on_event(void *ctx, const struct client_event *ev) {
  struct doctor *d = ctx;
  if (ev->kind == CLIENT_ERROR || ev->kind == CLIENT_GONE)
    d->fault = ev->fault;
  if (ev->kind != CLIENT_HELLO)
    return;
  for (int i = 0; i < ev->ndevices; i++)
    if (strcmp(ev->devices[i].id, "cpu") == 0)
      add_device(d, &ev->devices[i]);
  for (int i = 0; i < ev->ndevices; i++)
    if (strcmp(ev->devices[i].id, "cpu") != 0)
      add_device(d, &ev->devices[i]);
  if (ev->no_cuda[0])
    add(d, "GPU", ABSENT, alloc_str(ev->no_cuda), "");
  if (ev->tools)
    add_xray(d, ev->tools);
  for (int i = 0; ev->tools && i < TOOLS_COUNT; i++) {
    const struct tools_thing *t = &ev->tools->thing[i];
    bool here = t->found[0] != '\0';
    char *text = !here        ? alloc_str(t->why)
                 : t->path[0] ? alloc_printf("%s (%s)", t->found, t->path)
                              : alloc_str(t->found);
    add(d, tool_texts[i].name, here ? HERE : ABSENT, text,
        here ? "" : next_for(d, (enum tools_id)i, ev->tools));
  }
}

static void ask_worker(struct doctor *d, const char *command) {
  struct err err;
  d->elsewhere = command != NULL;
  client *c = client_new(command);
  int id = client_tools(c, &err);
  enum client_kind end = id != 0 ? session_wait(c, id, on_event, d) : CLIENT_ERROR;
  if (id == 0)
    add(d, "worker", BROKEN, alloc_str(err.text), "");
  else if (end == CLIENT_HELLO)
    add(d, "worker", HERE, alloc_str(command ? command : "starts and answers"), "");
  else if (end == CLIENT_CANCELLED)
    add(d, "worker", BROKEN, alloc_str("Cancelled before it answered."), "Run doctor again.");
  else
    add(d, "worker", BROKEN, alloc_printf("%s %s", d->fault.what, d->fault.why),
        "Nothing can be measured until the worker starts; lessons can be read.");
  client_free(c);
}

/* ---- this process */
static void look_locale(struct doctor *d) {
  const char *set = nl_langinfo(CODESET), *name = setlocale(LC_CTYPE, NULL);
  bool utf8 = strcmp(set, "UTF-8") == 0;
  add(d, "locale", utf8 ? HERE : ABSENT, alloc_printf("%s, %s", name ? name : "C", set),
      utf8 ? "" : "Set LC_ALL=C.UTF-8 for line drawing and Chinese; --ascii works without.");
}

static void look_terminal(struct doctor *d) {
  const char *term = getenv("TERM");
  struct winsize ws;
  bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
  if (!isatty(STDOUT_FILENO))
    add(d, "terminal", HERE, alloc_printf("not a terminal now (TERM=%s)", term ? term : ""), "");
  else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) != 0)
    add(d, "terminal", HERE, alloc_printf("%s, size not known", term ? term : ""), "");
  else {
    bool small = ws.ws_col < 80 || ws.ws_row < 24;
    add(d, "terminal", dumb || small ? ABSENT : HERE,
        alloc_printf("%s, %d x %d", term ? term : "", ws.ws_col, ws.ws_row),
        dumb    ? "Use a terminal with TERM set, or mmtutor --plain."
        : small ? "Make the window at least 80 x 24."
                : "");
  }
}

static void look_data(struct doctor *d) {
  char *dir = paths_data("lessons");
  add(d, "lessons", HERE, dir ? dir : alloc_str("built into the program"), "");
  catalog *c = catalog_new();
  const char *bad = catalog_complaints(c);
  add(d, "kernels", bad[0] ? ABSENT : HERE,
      bad[0] ? alloc_str(bad) : alloc_printf("%d", catalog_count(c)),
      bad[0] ? "Correct the head of that file, or move it away." : "");
  catalog_free(c);
}

/* The nearest directory above path that exists must be writable. */
static void look_state(struct doctor *d) {
  char *path = paths_state("");
  if (!path) {
    add(d, "state", ABSENT, alloc_str("There is no home directory, so progress is not saved."),
        "Set HOME or XDG_STATE_HOME to a directory of yours.");
    return;
  }
  char *up = alloc_str(path);
  size_t n = strlen(up);
  while (n > 1 && access(up, F_OK) != 0) {
    while (n > 1 && up[n - 1] != '/')
      n--;
    while (n > 1 && up[n - 1] == '/')
      n--;
    up[n] = '\0';
  }
  struct stat st;
  bool ok = stat(up, &st) == 0 && S_ISDIR(st.st_mode) && access(up, W_OK) == 0;
  add(d, "state", ok ? HERE : ABSENT,
      ok ? alloc_str(path) : alloc_printf("%s cannot be written, so progress is not saved", up),
      ok ? "" : "Make it writable, or set XDG_STATE_HOME to a directory of yours.");
  free(up);
  free(path);
}

/* ---- output */
enum { TEXT_COLUMN = 23, PIPE_WIDTH = 1000 }; /* lines of a pipe are not wrapped */

static void print_text(const struct doctor *d) {
  struct winsize ws;
  bool tty = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 40;
  struct paper p = {.width = tty ? ws.ws_col : PIPE_WIDTH};
  for (int i = 0; i < d->n; i++) {
    const struct finding *f = &d->f[i];
    char *head = alloc_printf("%-7s %-14s ", state_names[f->state], f->name);
    paper_text(&p, 0, head, f->text);
    if (f->next[0])
      paper_text(&p, TEXT_COLUMN, "-> ", f->next);
    free(head);
  }
  paper_print(&p, stdout);
  str_free(&p.out);
}

static void print_json(const struct doctor *d) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "schema", 1);
  cJSON_AddStringToObject(o, "version", MMTUTOR_VERSION);
  cJSON *list = cJSON_AddArrayToObject(o, "findings");
  for (int i = 0; i < d->n; i++) {
    const struct finding *f = &d->f[i];
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", f->name);
    cJSON_AddStringToObject(one, "state", state_names[f->state]);
    cJSON_AddStringToObject(one, "text", f->text);
    if (f->next[0])
      cJSON_AddStringToObject(one, "next", f->next);
    cJSON_AddItemToArray(list, one);
  }
  char *text = json_print(o);
  puts(text);
  free(text);
  cJSON_Delete(o);
}

int doctor_main(int argc, char **argv) {
  static const struct option longs[] = {{"json", no_argument, NULL, 'j'},
                                        {"worker", required_argument, NULL, 'w'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  const char *worker = NULL;
  bool json = false;
  int c;
  optind = 0;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
    if (c == '?' || c == ':')
      return options_wrong("doctor", argv, c);
    if (c == 'h')
      return fputs(help, stdout) < 0;
    json = json || c == 'j';
    worker = c == 'w' ? optarg : worker;
  }
  if (optind < argc)
    return options_fail("doctor", 2,
                        "doctor takes no words. `mmtutor doctor --help` shows its use.");
  session_signals();
  struct doctor *d = alloc_zero(1, sizeof *d);
  ask_worker(d, worker);
  look_locale(d);
  look_terminal(d);
  look_data(d);
  look_state(d);
  if (json)
    print_json(d);
  else
    print_text(d);
  int code = 0;
  for (int i = 0; i < d->n; i++) {
    if (d->f[i].state == BROKEN)
      code = 1;
    free(d->f[i].text);
  }
  free(d->nvrtc);
  free(d->cublas);
  free(d);
  return code;
}
