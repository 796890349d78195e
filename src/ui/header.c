#include "ui/header.h"

#include "base/units.h"
#include "base/utf8.h"
#include "ui/ui_internal.h"
#include "ui/words.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 12, BAR_KEYS = 48 };

struct part {
  char text[160];
  enum role role;
  const struct roof *roof; /* a number that can be asked about */
};
struct machine {
  struct part part[PARTS];
  int n;
};

static void add(struct machine *m, enum role role, const struct roof *roof, const char *text) {
  assert(m->n < PARTS);
  struct part *p = &m->part[m->n++];
  p->role = role;
  p->roof = roof;
  size_t n = utf8_clip(text, (int)sizeof p->text / 4, NULL);
  memcpy(p->text, text, n);
  p->text[n] = 0;
}

static const char *roof_word(enum lang lang, const struct roof *r) {
  if (strcmp(r->name, "dram") == 0)
    return strings_get(lang, "header.dram");
  if (strcmp(r->name, "fma") == 0)
    return strings_get(lang, "header.fma");
  return r->label;
}

/* form 0: everything; 1: without the roofs' names; 2: the device alone. */
static void add_roofs(const ui *u, struct machine *m, const struct roofs *roofs, int form) {
  static const char *const shown[] = {"dram", "fma"};
  for (int i = 0; i < 2 && form < 2; i++) {
    const struct roof *r = roofs_find(roofs, shown[i]);
    if (!r || !(r->value > 0))
      continue;
    add(m, ROLE_DIM, NULL, form == 0 ? "   " : "  ");
    if (form == 0) {
      add(m, ROLE_DIM, NULL, roof_word(u->lang, r));
      add(m, ROLE_DIM, NULL, " ");
    }
    char *value = units_format(r->value, r->unit, 3);
    add(m, roofs->recorded ? ROLE_RECORDED : ROLE_NUMBER, r, value);
    free(value);
  }
}

static const struct roofs *machine_roofs(const ui *u) {
  const struct roofs *r = live_roofs(u->live);
  if (r || u->client || !u->recorded)
    return r;
  return recorded_roofs(u->recorded);
}

static void machine(const ui *u, const struct roofs *roofs, int form, struct machine *m) {
  const struct device_info *d = live_device(u->live);
  m->n = 0;
  if (roofs) {
    bool far = roofs->recorded;
    if (far && form < 3)
      add(m, ROLE_RECORDED, NULL, strings_get(u->lang, "header.recorded"));
    add(m, far ? ROLE_RECORDED : ROLE_TEXT, NULL, roofs->device.name);
    add_roofs(u, m, roofs, form);
  } else if (d) {
    add(m, ROLE_TEXT, NULL, d->name);
    if (u->measuring && form < 2) {
      add(m, ROLE_DIM, NULL, "  ");
      add(m, ROLE_NOW, NULL, strings_get(u->lang, "header.measuring"));
    }
  } else if (u->client) {
    const char *id = u->worker_error.text[0] ? "header.no_worker" : "header.looking";
    add(m, ROLE_DIM, NULL, strings_get(u->lang, id));
  }
}

static int machine_width(const struct machine *m) {
  int w = 0;
  for (int i = 0; i < m->n; i++)
    w += utf8_width(m->part[i].text);
  return w;
}

static void ask_roof(ui *u, canvas *cv, struct rect at, const struct roofs *roofs,
                     const struct part *p) {
  char *source = words_fill(u->lang, roofs->recorded ? "ask.recorded" : "ask.measured",
                            roofs->device.name, roofs->date, NULL);
  canvas_ask(cv, at, p->roof->label, "", "", p->text, source, "");
  free(source);
}

static void draw_machine(ui *u, canvas *cv, int from) {
  const struct roofs *roofs = machine_roofs(u);
  struct machine m;
  int room = canvas_cols(cv) - from - 1, form = 0;
  do
    machine(u, roofs, form, &m);
  while (machine_width(&m) > room && ++form < 3);
  if (form == 3 || machine_width(&m) > room)
    return;
  int x = canvas_cols(cv) - 1 - machine_width(&m);
  for (int i = 0; i < m.n; i++) {
    int w = canvas_text(cv, x, 0, m.part[i].role, 0, m.part[i].text);
    if (m.part[i].roof)
      ask_roof(u, cv, (struct rect){x, 0, w, 1}, roofs, &m.part[i]);
    x += w;
  }
}

void header_draw(ui *u, canvas *cv, const char *place, const char *more, const char *now) {
  int cols = canvas_cols(cv), x = 1;
  x += canvas_text(cv, x, 0, place ? ROLE_DIM : ROLE_TITLE, 0, "mmtutor");
  if (place) {
    x += canvas_text(cv, x, 0, ROLE_DIM, 0, " ▸ ");
    int room = cols - x - 1 - (more ? utf8_width(more) + 2 : 0);
    if (room < 8) {
      room = cols - x - 1;
      more = NULL;
    }
    x += canvas_fit(cv, x, 0, room, ROLE_TITLE, 0, place);
  }
  if (more)
    x += 2 + canvas_text(cv, x + 2, 0, ROLE_DIM, 0, more);
  if (!*now) {
    draw_machine(u, cv, x + 3);
  } else if (x + 3 + utf8_width(now) < cols) {
    canvas_right(cv, cols - 1, 0, ROLE_NOW, 0, now);
  }
}

static bool bar_shows(const struct key_binding *b, unsigned contexts) {
  if (!(b->contexts & contexts) || (b->unless & contexts) || !b->text[0])
    return false;
  if (!(contexts & KEYS_FIELD))
    return b->bar > 0;
  return b->command == CMD_ENTER || b->command == CMD_BACK || b->command == CMD_NEXT_PANE;
}

static int by_bar(const void *a, const void *b) {
  const struct key_binding *x = *(const struct key_binding *const *)a;
  const struct key_binding *y = *(const struct key_binding *const *)b;
  if (x->bar != y->bar)
    return x->bar - y->bar;
  return (x > y) - (x < y);
}

void header_bar(ui *u, canvas *cv, unsigned contexts) {
  const struct key_binding *shown[BAR_KEYS];
  size_t n = 0;
  for (const struct key_binding *b = keys_table; b->command != CMD_NONE && n < BAR_KEYS; b++)
    if (bar_shows(b, contexts | KEYS_ANY))
      shown[n++] = b;
  qsort(shown, n, sizeof *shown, by_bar);
  /* The last ones, help and the way back, stay at any width; those before them give way. */
  int width[BAR_KEYS], total = 1, cols = canvas_cols(cv), y = canvas_rows(cv) - 1;
  for (size_t i = 0; i < n; i++) {
    width[i] = utf8_width(shown[i]->shown) + 1 + utf8_width(shown[i]->text[u->lang]) + 2;
    total += width[i];
  }
  size_t keep = n;
  while (keep > 2 && total - 2 >= cols)
    total -= width[--keep - 2];
  int x = 1;
  for (size_t i = 0; i < n; i++) {
    if (keep < n && i + 2 >= keep && i + 2 < n)
      continue;
    x += canvas_essential(cv, x, y, ROLE_KEY, 0, shown[i]->shown) + 1;
    x += canvas_essential(cv, x, y, ROLE_DIM, 0, shown[i]->text[u->lang]) + 2;
  }
}
