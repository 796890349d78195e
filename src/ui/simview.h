/* The simulator pane: a walk, its player, and the picture of it. */
#ifndef MM_UI_SIMVIEW_H
#define MM_UI_SIMVIEW_H

#include "sim/walk/walk.h"
#include "ui/canvas.h"
#include "ui/keys.h"

typedef struct simview simview;

simview *simview_new(void);
void simview_free(simview *s);

/* Opens a kernel ("cuda/tiled" or "cuda/naive") at sizes, tile edge and step. False with a
 * sentence. */
bool simview_open(simview *s, const char *kernel, int64_t M, int64_t N, int64_t K, int T,
                  int64_t at, struct err *err);
bool simview_is_open(const simview *s);
const struct walk_state *simview_state(const simview *s);

/* A command (play, step, back, barrier, faster, slower, settings); true if it was one of its own.
 */
bool simview_command(simview *s, enum command cmd);

/* Keys while its settings field has the focus; true if taken. simview_field says whether it has. */
bool simview_field(const simview *s);
bool simview_key(simview *s, int key);

/* Advances a playing walk to time now_ms (steps are dropped at high speed, never counters). True if
 * the picture changed. simview_due: ms until the next change, -1 if it stands still. */
bool simview_tick(simview *s, double now_ms);
int simview_due(const simview *s, double now_ms);

/* Draws the pane body (no title) and the text for its title line. */
void simview_draw(const simview *s, canvas *cv, struct rect r, enum lang lang);
void simview_title(const simview *s, enum lang lang, char *out, int size);

#endif
