/* `mmtutor frame`: any view as text or SVG, without a terminal. */
#ifndef MM_UI_FRAME_H
#define MM_UI_FRAME_H

#include "ui/canvas.h"
#include "ui/theme.h"

/* The command; argv[0] is "frame". Returns the exit code. */
int frame_main(int argc, char **argv);

/* A canvas as a stand-alone SVG: every run of cells has its own x and textLength; blocks, boxes and braille
 * are shapes, so that no font moves them. The caller frees. */
char *frame_svg(const canvas *cv, const struct theme *theme);

#endif
