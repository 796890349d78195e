/* The whole interface as one model: keys and worker events go in, a canvas comes out. No terminal
 * here. */
#ifndef MM_UI_UI_H
#define MM_UI_UI_H

#include "bench/client.h"
#include "lesson/progress.h"
#include "ui/canvas.h"
#include "ui/keys.h"
#include "ui/theme.h"

typedef struct ui ui;

struct ui_options {
  enum lang lang;
  const struct theme *theme;
  bool ascii;
  bool worker;                  /* start one; frames do without */
  const char *worker_command;   /* NULL: this program's own */
  bool memory_only;             /* progress is neither read nor written */
  bool lang_given, theme_given; /* asked for by the user: the saved settings do not replace them */
};

ui *ui_new(const struct ui_options *o);
void ui_free(ui *u);

/* Opens a view by its name: "home", "lesson/tiling", "lesson/tiling:strips", "lesson/tiling:3",
 * "help", "sim/cuda/tiled:12". False with a sentence. */
bool ui_open(ui *u, const char *view, struct err *err);
void ui_show_pane(ui *u, const char *pane);         /* "text" "sim" "live" at narrow sizes */
void ui_show_result(ui *u, const struct result *r); /* into the live pane */
void ui_show_xray(ui *u, const struct xray_result *x);

/* One key. False when the program should end. */
bool ui_key(ui *u, int key);

/* Time and worker events; true if the picture changed. */
bool ui_tick(ui *u, double now_ms);

/* ms until ui_tick wants to be called, -1 = only on input; the worker's descriptor to poll, -1
 * none. */
int ui_timeout(const ui *u, double now_ms);
int ui_fd(const ui *u);

/* Draws the current view; the canvas has its size. */
void ui_draw(ui *u, canvas *cv);

const struct theme *ui_theme(const ui *u);
bool ui_ascii(const ui *u);
enum lang ui_lang(const ui *u);
void ui_set_ascii(ui *u, bool ascii); /* the start-up probe found wide ambiguous glyphs */

#endif
