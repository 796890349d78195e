/* What the parts of the simulator pane share: the player, its settings form, its picture. */
#ifndef MM_UI_SIMVIEW_INTERNAL_H
#define MM_UI_SIMVIEW_INTERNAL_H

#include "ui/field.h"
#include "ui/simview.h"

enum { SIM_SPEED_MAX = 8, SIM_BUGS = 4 };
enum sim_field { SIM_M, SIM_N, SIM_K, SIM_T, SIM_ROW, SIM_COL, SIM_FIELDS };

struct simview {
  bool open;
  struct walk_state now;
  bool playing;
  int speed;      /* steps a second: 4 * 2^speed */
  double last_ms; /* when the last step was taken, while playing */
  struct {        /* the form */
    bool on;
    int at; /* the row: a field, then the bugs */
    struct field field[SIM_FIELDS];
    unsigned bugs;
    struct err error;
  } form;
};

/* Moves to a step with the state kept consistent. */
void simview_go(simview *s, int64_t step);

#endif
