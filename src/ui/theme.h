/* Themes: what colour and attribute a role has. dark light contrast mono, all colour-blind safe. */
#ifndef MM_UI_THEME_H
#define MM_UI_THEME_H

#include "ui/canvas.h"

struct theme_style {
  unsigned rgb;  /* 0xRRGGBB of the foreground, for SVG and 256-colour terminals */
  int ansi;      /* 0..15, -1 = the terminal's default */
  int xterm;     /* 0..255, -1 = the default */
  unsigned mark; /* attributes always added (mono: bold, underline, reverse) */
};

struct theme {
  const char *name;
  unsigned background, foreground; /* SVG */
  struct theme_style style[ROLE_COUNT];
};

/* By name; NULL if unknown. theme_at(i) is NULL behind the last one. */
const struct theme *theme_find(const char *name);
const struct theme *theme_at(int i);

#endif
