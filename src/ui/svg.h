/* A canvas as a stand-alone picture. */
#ifndef MM_UI_SVG_H
#define MM_UI_SVG_H

#include "ui/canvas.h"
#include "ui/theme.h"

/* A stand-alone SVG: every run of cells has its own x and textLength; blocks, boxes and braille are
 * shapes, so that no font moves them. Each role is a class. The caller frees. */
char *svg_of(const canvas *cv, const struct theme *theme);

#endif
