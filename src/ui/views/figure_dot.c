#include "ui/views/figure_dot.h"

#include "base/units.h"
#include "base/utf8.h"
#include "ui/numbers.h"
#include "ui/ui_internal.h"
#include "ui/views/figure.h"
#include "ui/words.h"
#include <stdio.h>
#include <stdlib.h>

enum { PITCH = 3, GAP = 4, MOST = 12 };

struct sizes {
  int M, N, K, i, j;
};

static int member(const struct step *s, const char *name, int64_t fallback) {
  double v = json_num(s->figure_data, name, (double)fallback);
  return v >= 1 && v <= MOST ? (int)v : 1;
}

static struct sizes sizes(const struct step *s) {
  struct sizes z = {member(s, "M", s->M), member(s, "N", s->N), member(s, "K", s->K), 0, 0};
  z.i = z.M > 1 ? 1 : 0;
  z.j = z.N > 2 ? 2 : 0;
  return z;
}

int figure_dot_rows(const struct step *s, int cols) {
  struct sizes z = sizes(s);
  (void)cols;
  return z.K + z.M + 6;
}

/* A matrix of rows x cols elements; row and col are lit, -1 = none; a lit row and a lit column
 * together light only the element where they cross. */
static void matrix(canvas *cv, int x, int y, int rows, int cols, int row, int col, enum role role) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      bool lit = row < 0 ? j == col : col < 0 ? i == row : i == row && j == col;
      canvas_text(cv, x + j * PITCH, y + i, lit ? role : ROLE_TODO, 0, lit ? "██" : "░░");
    }
}

static void name(canvas *cv, int x, int y, enum role role, const char *letter, int rows, int cols,
                 const char *axis) {
  x += canvas_text(cv, x, y, role, MARK_BOLD, letter) + 2;
  canvas_textf(cv, x, y, ROLE_DIM, 0, "%d×%d  %s", rows, cols, axis);
}

/* `words` with the number behind it, which can be asked about. */
static void sum(ui *u, canvas *cv, struct rect r, const struct step *s, const char *words,
                const char *formula) {
  struct numbers n = {u, s, NULL};
  double value;
  bool far;
  if (!numbers_value(&n, formula, &value, &far))
    return;
  char *text = units_format(value, "FLOP", 3), *source = numbers_origin(u, formula, far);
  char *filled = expr_filled(formula, numbers_lookup, &n);
  int room = r.w - utf8_width(text) - 2;
  int x = r.x + canvas_fit(cv, r.x, r.y, room, ROLE_TEXT, 0, words) + 2;
  struct rect at = {x, r.y, canvas_text(cv, x, r.y, ROLE_NUMBER, MARK_BOLD, text), 1};
  if (figure_seen(cv, at))
    canvas_ask(cv, at, words, formula, filled, text, source, "");
  free(text);
  free(source);
  free(filled);
}

void figure_dot_draw(ui *u, canvas *cv, struct rect r, const struct step *s) {
  struct sizes z = sizes(s);
  int right = r.x + z.K * PITCH + GAP, low = r.y + z.K + 2;
  name(cv, right, r.y, ROLE_B, "B", z.K, z.N, "k ↓");
  matrix(cv, right, r.y + 1, z.K, z.N, -1, z.j, ROLE_B);
  name(cv, r.x, low, ROLE_A, "A", z.M, z.K, "k →");
  matrix(cv, r.x, low + 1, z.M, z.K, z.i, -1, ROLE_A);
  name(cv, right, low, ROLE_ACC, "C", z.M, z.N, "");
  matrix(cv, right, low + 1, z.M, z.N, z.i, z.j, ROLE_ACC);
  int y = low + z.M + 2;
  char a[16], b[16], c[16];
  char *one = words_fill(u->lang, "figure.dot_one", words_int(a, z.i), words_int(b, z.j),
                         words_int(c, z.K), NULL);
  char *all = words_fill(u->lang, "figure.dot_all", words_int(a, z.M), words_int(b, z.N), NULL);
  sum(u, cv, (struct rect){r.x, y, r.w, 1}, s, one, "2*K");
  sum(u, cv, (struct rect){r.x, y + 1, r.w, 1}, s, all, "2*M*N*K");
  free(one);
  free(all);
}
