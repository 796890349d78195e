#include "ui/live_form.h"

#include "base/expr.h"
#include "base/sentences.h"
#include "bench/xray_rung.h"
#include "ui/live_plan.h"
#include "ui/strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_DEVICE, ROW_KERNEL, ROW_M, ROW_N, ROW_K, ROW_PARAMS };

static const struct kernel *chosen(const live *l) {
  return catalog_at(l->w.catalog, l->form.kernel);
}

static int rows(const live *l) { return ROW_PARAMS + chosen(l)->nparams; }

static int kernel_index(const live *l, const struct kernel *k) {
  for (int i = 0; i < catalog_count(l->w.catalog); i++)
    if (catalog_at(l->w.catalog, i) == k)
      return i;
  return 0;
}

/* The x-ray stands behind the devices. */
static int choices(const live *l) { return l->ndevices ? l->ndevices + 1 : 0; }

static bool is_xray(const live *l, int i) { return l->ndevices && i == l->ndevices; }

static const char *name_of(const live *l, int i) {
  return is_xray(l, i) ? "x-ray" : l->device[i].name;
}

/* What the planned runs use. */
static int in_use(const live *l) {
  const struct live_run *r = l->nruns ? &l->run[l->nruns - 1] : NULL;
  return r && l->ndevices && live_plan_counts(l, r->kernel) ? l->ndevices : l->at;
}

static void set_params(live *l, const struct kernel_size *size) {
  const struct kernel *k = chosen(l);
  for (int i = 0; i < k->nparams; i++) {
    double want = size ? size->param[i] : k->params[i].fallback;
    l->form.param[i] = 0;
    for (int v = 0; v < k->params[i].nvalues; v++)
      if (k->params[i].values[v] == want)
        l->form.param[i] = v;
  }
}

/* The first rung that the device in use can run; before the devices are known, a CPU rung. */
static int first_here(const live *l) {
  bool cuda = l->at < l->ndevices && strncmp(l->device[l->at].id, "cuda", 4) == 0;
  for (int i = 0; i < catalog_count(l->w.catalog); i++)
    if ((catalog_at(l->w.catalog, i)->target == KERNEL_CUDA) == cuda)
      return i;
  return 0;
}

void live_form_open(live *l) {
  struct err ignored;
  if (l->nruns == 0)
    live_plan_make(l, &ignored);
  const struct live_run *r = l->nruns ? &l->run[l->nruns - 1] : NULL;
  int64_t s[3] = {1024, 1024, 1024};
  if (r)
    s[0] = r->size.M, s[1] = r->size.N, s[2] = r->size.K;
  l->form.kernel = r ? kernel_index(l, r->kernel) : first_here(l);
  l->form.device = in_use(l);
  for (int i = 0; i < 3; i++) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)s[i]);
    field_init(&l->form.size[i], 14);
    field_set(&l->form.size[i], text);
  }
  set_params(l, r ? &r->size : NULL);
  l->form.error.text[0] = '\0';
  l->form.at = ROW_KERNEL;
  l->form.on = true;
  l->form.touched = l->form.chose = false;
  l->guessing = false;
}

static bool read_size(live *l, int i, int64_t *out) {
  double v;
  const char *text = l->form.size[i].text;
  if (!expr_eval(text, NULL, NULL, &v, NULL) || v != floor(v) || v < 1 || v > 2147483647.0)
    return err_set(&l->form.error, "%c must be a whole number from 1 to 2147483647; %s is not.",
                   "MNK"[i], text);
  *out = (int64_t)v;
  return true;
}

static bool is_cuda(const live *l, int i) { return strncmp(l->device[i].id, "cuda", 4) == 0; }

static bool suits(const live *l, int i, const struct kernel *k) {
  if (is_xray(l, i) && !xray_rung_runs(k, NULL))
    return false;
  return (is_xray(l, i) || is_cuda(l, i)) == (k->target == KERNEL_CUDA);
}

/* What was chosen by hand stays chosen; a device that came along with a kernel does not. */
static void take_device(live *l) {
  if (l->form.chose)
    l->choice = is_xray(l, l->form.device) ? LIVE_XRAY : LIVE_DEVICE;
  if (!is_xray(l, l->form.device))
    l->at = l->form.device;
}

/* Only the device was changed: the experiment is planned for it, where it has runs for it. */
static void apply_device(live *l) {
  struct err ignored;
  take_device(l);
  live_plan_question(l);
  live_plan_make(l, &ignored);
}

static void forget_conclusion(live *l) {
  l->phase = LIVE_IDLE;
  l->quantity = NAN;
  l->note = NULL;
}

/* Takes the form over; nothing changes where a value is not allowed. */
static void apply(live *l) {
  const struct kernel *k = chosen(l);
  int64_t v[3];
  l->form.error.text[0] = '\0';
  if (!l->form.touched && l->nruns) {
    l->form.on = false;
    if (in_use(l) == l->form.device)
      return;
    forget_conclusion(l);
    apply_device(l);
    return;
  }
  for (int i = 0; i < 3; i++)
    if (!read_size(l, i, &v[i]))
      return;
  struct kernel_size s = kernel_size_default(k, v[0], v[1], v[2]);
  for (int i = 0; i < k->nparams; i++)
    s.param[i] = k->params[i].values[l->form.param[i]];
  if (!kernel_accepts(k, &s, &l->form.error))
    return;
  if (is_xray(l, l->form.device) && !xray_rung_runs(k, &l->form.error))
    return;
  if (l->ndevices && !suits(l, l->form.device, k)) {
    err_set(&l->form.error, "%s does not run on %s. %s", k->id, name_of(l, l->form.device),
            l->no_cuda);
    return;
  }
  l->form.on = false;
  take_device(l);
  live_plan_custom(l, k, &s);
  forget_conclusion(l);
}

static int turn(int at, int by, int n) { return n ? (at + by + n) % n : 0; }

/* A kernel of the other kind brings a device that can run it, if there is one. */
static void follow_kernel(live *l) {
  for (int i = 0; i < choices(l) && !suits(l, l->form.device, chosen(l)); i++)
    if (suits(l, i, chosen(l)))
      l->form.device = i;
}

/* Without other changes the device alone is chosen: the experiment has runs for either kind. A
 * kernel of one's own is taken along to the rung of the same name, else to the first of the kind.
 */
static void follow_device(live *l) {
  int n = catalog_count(l->w.catalog), to = -1;
  const char *name = strchr(chosen(l)->id, '/');
  if (suits(l, l->form.device, chosen(l)) || (!l->form.touched && l->experiment && !l->custom))
    return;
  for (int i = n - 1; i >= 0; i--) {
    const struct kernel *k = catalog_at(l->w.catalog, i);
    const char *its = strchr(k->id, '/');
    if (suits(l, l->form.device, k) && name && its && strcmp(its, name) == 0)
      to = i;
  }
  for (int i = 0; i < n && to < 0; i++)
    if (suits(l, l->form.device, catalog_at(l->w.catalog, i)))
      to = i;
  if (to < 0)
    return;
  l->form.kernel = to;
  l->form.touched = true;
  set_params(l, NULL);
}

static void change(live *l, int by) {
  int row = l->form.at;
  if (row == ROW_DEVICE && l->ndevices) {
    l->form.device = turn(l->form.device, by, choices(l));
    l->form.chose = true;
    follow_device(l);
  } else if (row == ROW_KERNEL) {
    l->form.touched = true;
    l->form.kernel = turn(l->form.kernel, by, catalog_count(l->w.catalog));
    set_params(l, NULL);
    follow_kernel(l);
  } else if (row >= ROW_PARAMS) {
    l->form.touched = true;
    int *p = &l->form.param[row - ROW_PARAMS];
    *p = turn(*p, by, chosen(l)->params[row - ROW_PARAMS].nvalues);
  }
}

static bool size_key(live *l, struct field *f, int key) {
  char before[FIELD_BYTES];
  snprintf(before, sizeof before, "%s", f->text);
  bool taken = field_key(f, key);
  l->form.touched = l->form.touched || strcmp(before, f->text) != 0;
  return taken;
}

bool live_form_key(live *l, int key) {
  bool size = l->form.at >= ROW_M && l->form.at <= ROW_K;
  switch (key) {
  case KEYS_ESC:
    l->form.on = false;
    return true;
  case KEYS_ENTER:
    apply(l);
    return true;
  case KEYS_UP:
  case KEYS_SHIFT_TAB:
    l->form.at = turn(l->form.at, -1, rows(l));
    return true;
  case KEYS_DOWN:
  case KEYS_TAB:
    l->form.at = turn(l->form.at, 1, rows(l));
    return true;
  case KEYS_LEFT:
  case KEYS_RIGHT:
    if (!size) {
      change(l, key == KEYS_LEFT ? -1 : 1);
      return true;
    }
    break;
  default:
    break;
  }
  return size && size_key(l, &l->form.size[l->form.at - ROW_M], key);
}

static void draw_choice(canvas *cv, int x, int y, int w, bool here, const char *text) {
  x += canvas_text(cv, x, y, here ? ROLE_NOW : ROLE_TODO, 0, "◂ ");
  x += canvas_fit(cv, x, y, w - 4, here ? ROLE_FOCUS : ROLE_TEXT, 0, text);
  canvas_text(cv, x, y, here ? ROLE_NOW : ROLE_TODO, 0, " ▸");
}

static void draw_row(const live *l, canvas *cv, struct rect r, int row, int y, enum lang lang) {
  static const char *const id[] = {"live.device", "live.kernel", "sim.M", "sim.N", "sim.K"};
  const struct kernel *k = chosen(l);
  bool here = l->form.at == row;
  int x = r.x + 22;
  canvas_text(cv, r.x, y, ROLE_FOCUS, 0, here ? "▸ " : "  ");
  const char *label =
      row < ROW_PARAMS ? strings_get(lang, id[row]) : k->params[row - ROW_PARAMS].name;
  canvas_fit(cv, r.x + 2, y, 19, here ? ROLE_FOCUS : ROLE_TEXT, 0, label);
  if (row == ROW_DEVICE) {
    char text[176] = "cpu";
    if (is_xray(l, l->form.device))
      snprintf(text, sizeof text, "x-ray  %s", strings_get(lang, "live.counts_only"));
    else if (l->ndevices)
      snprintf(text, sizeof text, "%s  %s", l->device[l->form.device].id,
               l->device[l->form.device].name);
    draw_choice(cv, x, y, r.w - 22, here, text);
  } else if (row == ROW_KERNEL) {
    draw_choice(cv, x, y, r.w - 22, here, k->id);
  } else if (row < ROW_PARAMS) {
    field_draw(&l->form.size[row - ROW_M], cv, x, y, 14, here);
  } else {
    char text[24];
    snprintf(text, sizeof text, "%g",
             k->params[row - ROW_PARAMS].values[l->form.param[row - ROW_PARAMS]]);
    draw_choice(cv, x, y, r.w - 22, here, text);
  }
}

static void draw_error(canvas *cv, struct rect r, const char *english, enum lang lang) {
  char *text = sentences_in(english, lang == LANG_ZH);
  canvas_wrap(cv, r, 0, ROLE_WRONG, 0, text);
  free(text);
}

void live_form_draw(const live *l, canvas *cv, struct rect r, enum lang lang) {
  struct rect old = canvas_clip(cv, r);
  int y = r.y;
  canvas_text(cv, r.x, y, ROLE_TITLE, MARK_BOLD, strings_get(lang, "live.settings"));
  y += 2;
  for (int i = 0; i < rows(l); i++)
    draw_row(l, cv, r, i, y++, lang);
  y++;
  const char *idea = chosen(l)->idea[lang];
  struct rect below = {r.x, y, r.w, r.y + r.h - y};
  if (l->form.error.text[0]) {
    draw_error(cv, below, l->form.error.text, lang);
  } else {
    int lines = canvas_wrap(cv, below, 0, ROLE_DIM, 0, strings_get(lang, "live.form.keys"));
    below.y += lines + 1, below.h -= lines + 1;
    if (below.h > 0 && idea)
      canvas_wrap(cv, below, 0, ROLE_TEXT, 0, idea);
  }
  canvas_clip(cv, old);
}
