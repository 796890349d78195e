#include "ui/views/figure.h"

#include "ui/ui_internal.h"
#include "ui/views/figure_dot.h"
#include "ui/views/figure_levels.h"
#include "ui/views/figure_roofline.h"
#include "ui/words.h"
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int (*rows)(const struct step *s, int cols);
  void (*draw)(ui *u, canvas *cv, struct rect r, const struct step *s);
} figures[] = {
    {"dot", figure_dot_rows, figure_dot_draw},
    {"memory-levels", figure_levels_rows, figure_levels_draw},
    {"roofline", figure_roofline_rows, figure_roofline_draw},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static int find(const struct step *s) {
  for (int i = 0; i < FIGURES; i++)
    if (s->figure && strcmp(s->figure, figures[i].name) == 0)
      return i;
  return -1;
}

int figure_rows(const struct step *s, int cols, int rows) {
  int i = find(s), want = i < 0 ? 1 : figures[i].rows(s, cols);
  return want < rows ? want : rows;
}

void figure_draw(ui *u, canvas *cv, struct rect r, const struct step *s) {
  int i = find(s);
  if (i >= 0) {
    figures[i].draw(u, cv, r, s);
    return;
  }
  char *text = words_fill(u->lang, "figure.unknown", s->figure ? s->figure : "", NULL);
  canvas_fit(cv, r.x, r.y, r.w, ROLE_DIM, 0, text);
  free(text);
}

bool figure_seen(canvas *cv, struct rect at) {
  struct rect all = {0, 0, canvas_cols(cv), canvas_rows(cv)}, seen = canvas_clip(cv, all);
  canvas_clip(cv, seen);
  return at.y >= seen.y && at.y < seen.y + seen.h && at.x >= seen.x &&
         at.x + at.w <= seen.x + seen.w;
}
