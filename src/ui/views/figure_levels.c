#include "ui/views/figure_levels.h"

#include "base/utf8.h"
#include "ui/ui_internal.h"
#include <string.h>

enum { SIDES = 3, LEVELS = 8, SIDE_LEAST = 26, SIDE_MOST = 44, SIDE_GAP = 6 };
static const double NARROWEST = 0.3; /* share of the width that the nearest level takes */

static const cJSON *sides(const struct step *s) { return json_get(s->figure_data, "sides"); }

static int count(const cJSON *list, int most) {
  int n = list ? cJSON_GetArraySize(list) : 0;
  return n < most ? n : most;
}

static int tallest(const struct step *s) {
  int most = 0;
  for (int i = 0; i < count(sides(s), SIDES); i++) {
    int n = count(json_get(cJSON_GetArrayItem(sides(s), i), "levels"), LEVELS);
    most = n > most ? n : most;
  }
  return most;
}

static bool beside(int cols, int n) { return cols >= n * SIDE_LEAST + (n - 1) * 2; }

int figure_levels_rows(const struct step *s, int cols) {
  int n = count(sides(s), SIDES), side = 2 + 3 * tallest(s);
  return beside(cols, n) ? side : n * (2 + 2 * tallest(s) + 1);
}

static const char *text_of(const cJSON *obj, const char *key, enum lang lang) {
  const char *t = json_str(json_get(obj, key), lang == LANG_ZH ? "zh" : "en");
  return t ? t : "";
}

static enum role role_of(const cJSON *level) {
  const char *role = json_str(level, "role");
  if (role && strcmp(role, "a") == 0)
    return ROLE_A;
  if (role && strcmp(role, "b") == 0)
    return ROLE_B;
  if (role && strcmp(role, "acc") == 0)
    return ROLE_ACC;
  return ROLE_TODO;
}

static void draw_level(ui *u, canvas *cv, int x, int y, int w, const cJSON *level, double share) {
  const char *name = text_of(level, "name", u->lang), *holds = text_of(level, "holds", u->lang);
  enum role role = role_of(level);
  int bar = (int)(w * share + 0.5), used = canvas_fit(cv, x, y, w, ROLE_TEXT, 0, name);
  if (used + 2 + utf8_width(holds) <= w)
    canvas_right(cv, x + w, y, ROLE_DIM, 0, holds);
  else
    canvas_fit(cv, x + used + 2, y, w - used - 2, ROLE_DIM, 0, holds);
  canvas_fill(cv, (struct rect){x, y + 1, bar, 1}, role, role == ROLE_TODO ? "░" : "█");
}

/* The far memory of every side stands in the same row, whatever lies between. */
static void draw_side(ui *u, canvas *cv, struct rect r, const cJSON *side, int most, int pitch) {
  const cJSON *levels = json_get(side, "levels");
  int n = count(levels, LEVELS);
  canvas_fit(cv, r.x, r.y, r.w, ROLE_TITLE, 0, text_of(side, "title", u->lang));
  for (int i = 0; i < n; i++) {
    int row = i == n - 1 ? most - 1 : i;
    double share = most > 1 ? NARROWEST + (1 - NARROWEST) * row / (most - 1) : 1;
    draw_level(u, cv, r.x, r.y + 2 + row * pitch, r.w, cJSON_GetArrayItem(levels, i), share);
  }
}

void figure_levels_draw(ui *u, canvas *cv, struct rect r, const struct step *s) {
  int n = count(sides(s), SIDES), most = tallest(s);
  if (n == 0)
    return;
  if (!beside(r.w, n)) {
    for (int i = 0; i < n; i++)
      draw_side(u, cv, (struct rect){r.x, r.y + i * (3 + 2 * most), r.w, 0},
                cJSON_GetArrayItem(sides(s), i), most, 2);
    return;
  }
  int gap = r.w >= n * SIDE_LEAST + (n - 1) * SIDE_GAP ? SIDE_GAP : 2;
  int w = (r.w - (n - 1) * gap) / n, pitch = r.h >= 2 + 3 * most - 1 ? 3 : 2;
  if (w > SIDE_MOST)
    w = SIDE_MOST;
  for (int i = 0; i < n; i++)
    draw_side(u, cv, (struct rect){r.x + i * (w + gap), r.y, w, r.h},
              cJSON_GetArrayItem(sides(s), i), most, pitch);
}
