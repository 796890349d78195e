#include "ui/theme.h"

#include <string.h>

/* Two rules hold for every theme, and tests compute them: each colour has contrast on its
 * background, and the roles that share a picture stay apart for red-green and blue-yellow blind
 * eyes. Text is the terminal's own foreground; blue (4) is never used, it cannot be read on black.
 */
static const struct theme themes[] = {
    {"dark",
     0x14161A,
     0xD8D8D8,
     {
         [ROLE_TEXT] = {0xD8D8D8, -1, -1, 0},
         [ROLE_DIM] = {0x949494, -1, 246, 0},
         [ROLE_TITLE] = {0xF0F0F0, -1, -1, MARK_BOLD},
         [ROLE_FOCUS] = {0xF0F0F0, -1, -1, MARK_BOLD | MARK_UNDERLINE},
         [ROLE_NOW] = {0xFF8700, 3, 208, MARK_BOLD},
         [ROLE_DONE] = {0x00D787, 2, 42, 0},
         [ROLE_TODO] = {0x8A8A8A, -1, 245, 0},
         [ROLE_WRONG] = {0xFF5F5F, 1, 203, MARK_BOLD},
         [ROLE_KEY] = {0xF0F0F0, -1, -1, MARK_BOLD},
         [ROLE_NUMBER] = {0xEEEEEE, -1, -1, 0},
         [ROLE_RECORDED] = {0xA8A8A8, -1, 248, 0},
         [ROLE_A] = {0x5FAFFF, 6, 75, 0},
         [ROLE_B] = {0xFFAFD7, 5, 218, 0},
         [ROLE_ACC] = {0xFFFF87, -1, 228, 0},
         [ROLE_CODE] = {0xD0D0D0, -1, 252, 0},
         [ROLE_ROOF] = {0x9E9E9E, -1, 247, 0},
     }},
    {"light",
     0xFFFFFF,
     0x262626,
     {
         [ROLE_TEXT] = {0x262626, -1, -1, 0},
         [ROLE_DIM] = {0x626262, -1, 241, 0},
         [ROLE_TITLE] = {0x121212, -1, -1, MARK_BOLD},
         [ROLE_FOCUS] = {0x121212, -1, -1, MARK_BOLD | MARK_UNDERLINE},
         [ROLE_NOW] = {0xAF5F00, 3, 130, MARK_BOLD},
         [ROLE_DONE] = {0x005F5F, 2, 23, 0},
         [ROLE_TODO] = {0x6C6C6C, -1, 242, 0},
         [ROLE_WRONG] = {0x870000, 1, 88, MARK_BOLD},
         [ROLE_KEY] = {0x121212, -1, -1, MARK_BOLD},
         [ROLE_NUMBER] = {0x121212, -1, -1, 0},
         [ROLE_RECORDED] = {0x585858, -1, 240, 0},
         [ROLE_A] = {0x005FFF, 6, 27, 0},
         [ROLE_B] = {0xD700AF, 5, 163, 0},
         [ROLE_ACC] = {0x121212, -1, -1, MARK_BOLD},
         [ROLE_CODE] = {0x303030, -1, 236, 0},
         [ROLE_ROOF] = {0x626262, -1, 241, 0},
     }},
    {"contrast",
     0x000000,
     0xFFFFFF,
     {
         [ROLE_TEXT] = {0xFFFFFF, -1, -1, 0},
         [ROLE_DIM] = {0xD0D0D0, -1, -1, 0},
         [ROLE_TITLE] = {0xFFFFFF, -1, -1, MARK_BOLD},
         [ROLE_FOCUS] = {0xFFFFFF, -1, -1, MARK_BOLD | MARK_REVERSE},
         [ROLE_NOW] = {0xD78700, 3, 172, MARK_BOLD},
         [ROLE_DONE] = {0x5FFFAF, 2, 85, MARK_BOLD},
         [ROLE_TODO] = {0xD0D0D0, -1, -1, 0},
         [ROLE_WRONG] = {0xFF5F5F, 1, 203, MARK_BOLD | MARK_UNDERLINE},
         [ROLE_KEY] = {0xFFFFFF, -1, -1, MARK_BOLD | MARK_UNDERLINE},
         [ROLE_NUMBER] = {0xFFFFFF, -1, -1, MARK_BOLD},
         [ROLE_RECORDED] = {0xE4E4E4, -1, -1, MARK_UNDERLINE},
         [ROLE_A] = {0x5FAFFF, 6, 75, MARK_BOLD},
         [ROLE_B] = {0xFFAFD7, 5, 218, MARK_BOLD},
         [ROLE_ACC] = {0xFFFF5F, -1, 227, MARK_BOLD},
         [ROLE_CODE] = {0xFFFFFF, -1, -1, 0},
         [ROLE_ROOF] = {0xE4E4E4, -1, -1, 0},
     }},
    {"mono",
     0xFFFFFF,
     0x000000,
     {
         [ROLE_TEXT] = {0x000000, -1, -1, 0},
         [ROLE_DIM] = {0x000000, -1, -1, 0},
         [ROLE_TITLE] = {0x000000, -1, -1, MARK_BOLD},
         [ROLE_FOCUS] = {0x000000, -1, -1, MARK_BOLD | MARK_UNDERLINE},
         [ROLE_NOW] = {0x000000, -1, -1, MARK_REVERSE},
         [ROLE_DONE] = {0x000000, -1, -1, MARK_BOLD},
         [ROLE_TODO] = {0x000000, -1, -1, 0},
         [ROLE_WRONG] = {0x000000, -1, -1, MARK_BOLD | MARK_REVERSE},
         [ROLE_KEY] = {0x000000, -1, -1, MARK_BOLD},
         [ROLE_NUMBER] = {0x000000, -1, -1, 0},
         [ROLE_RECORDED] = {0x000000, -1, -1, MARK_UNDERLINE},
         [ROLE_A] = {0x000000, -1, -1, 0},
         [ROLE_B] = {0x000000, -1, -1, MARK_UNDERLINE},
         [ROLE_ACC] = {0x000000, -1, -1, MARK_BOLD},
         [ROLE_CODE] = {0x000000, -1, -1, 0},
         [ROLE_ROOF] = {0x000000, -1, -1, 0},
     }},
};

enum { THEMES = sizeof themes / sizeof themes[0] };

const struct theme *theme_at(int i) { return i >= 0 && i < THEMES ? &themes[i] : NULL; }

const struct theme *theme_find(const char *name) {
  for (int i = 0; name && i < THEMES; i++)
    if (strcmp(themes[i].name, name) == 0)
      return &themes[i];
  return NULL;
}
