/* The terminal: curses lives in term.c alone. Starts the screen, blits canvases, reads keys, and
 * gives the terminal back whole however the program ends. */
#ifndef MM_UI_TERM_H
#define MM_UI_TERM_H

#include "base/err.h"
#include "ui/ui.h"

struct term_options {
  struct ui_options ui;
  const char *view; /* to open first; NULL: home */
  bool colour;      /* false: attributes only */
  bool a11y;        /* the hardware cursor follows the focus */
};

/* Runs the interface until it ends; returns the exit code (2 with a sentence on stderr where the
 * terminal cannot show it: not a tty, TERM unknown or dumb). */
int term_run(const struct term_options *o);

#endif
