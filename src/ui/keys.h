/* The one table of keys. It makes the key bar, the help screen, the man page and the README
 * section. */
#ifndef MM_UI_KEYS_H
#define MM_UI_KEYS_H

#include "lesson/lesson.h"

/* Keys beyond Unicode code points, as the terminal file hands them out. */
enum key {
  KEY_NONE = 0,
  KEYS_TAB = 9,
  KEYS_ENTER = 13,
  KEYS_ESC = 27,
  KEYS_CTRL_C = 3,
  KEYS_CTRL_L = 12,
  KEYS_BACKSPACE = 127,
  KEYS_UP = 0x110000,
  KEYS_DOWN,
  KEYS_LEFT,
  KEYS_RIGHT,
  KEYS_PGUP,
  KEYS_PGDN,
  KEYS_HOME,
  KEYS_END,
  KEYS_DELETE,
  KEYS_SHIFT_TAB,
  KEYS_F1,
  KEYS_F2,
  KEYS_F3,
  KEYS_F4,
  KEYS_RESIZE
};

/* Where a key works. A view gives the bits that are on now. */
enum key_context {
  KEYS_ANY = 1,
  KEYS_HOME_VIEW = 2,
  KEYS_LESSON_VIEW = 4,
  KEYS_SIM = 8,     /* the simulator pane is there */
  KEYS_LIVE = 16,   /* the live pane is there */
  KEYS_CHOICE = 32, /* an unanswered choice has the focus: a-f answer it */
  KEYS_FIELD = 64,  /* a text field has the focus: letters are text */
  KEYS_HELP_VIEW = 128,
  KEYS_EXPLAIN = 256, /* the explanation of a number is open */
  KEYS_RUNNING = 512, /* a measurement is running */
  KEYS_SEARCH = 1024  /* a search has hits: n is the next one */
};

enum command {
  CMD_NONE,
  CMD_QUIT,     /* q: back one level, at home quit */
  CMD_QUIT_NOW, /* Q, Ctrl-C */
  CMD_BACK,     /* Esc */
  CMD_HELP,
  CMD_LANG,
  CMD_THEME,
  CMD_REDRAW,
  CMD_UP,
  CMD_DOWN,
  CMD_LEFT,
  CMD_RIGHT,
  CMD_PGUP,
  CMD_PGDN,
  CMD_TOP,
  CMD_BOTTOM,
  CMD_ENTER,
  CMD_NEXT_STEP,
  CMD_PREV_STEP,
  CMD_NEXT_PANE,
  CMD_PREV_PANE,
  CMD_PANE_TEXT,
  CMD_PANE_SIM,
  CMD_PANE_LIVE,
  CMD_PLAY,
  CMD_STEP,
  CMD_STEP_BACK,
  CMD_BARRIER,
  CMD_FASTER,
  CMD_SLOWER,
  CMD_RUN,
  CMD_CANCEL,
  CMD_EXPLAIN,
  CMD_HINT,
  CMD_SETTINGS, /* device, kernel, M N K and parameters of the live pane */
  CMD_SIM_SETTINGS,
  CMD_SEARCH,
  CMD_NEXT_HIT,
  CMD_ANSWER_A, /* .. F follow */
  CMD_ANSWER_B,
  CMD_ANSWER_C,
  CMD_ANSWER_D,
  CMD_ANSWER_E,
  CMD_ANSWER_F,
  CMD_COUNT
};

struct key_binding {
  int key, key2;     /* 0 = none */
  const char *shown; /* "space", "n", "F2" : ASCII, the letter where there is one */
  enum command command;
  unsigned contexts;       /* any of these bits must be on */
  unsigned unless;         /* none of these may be on */
  int bar;                 /* order in the key bar, 0 = only in help */
  const char *text[LANGS]; /* short: "play" */
  const char *help[LANGS]; /* one clause: "play or pause the simulator"; NULL: a further key of the
                            * row above */
};

extern const struct key_binding keys_table[]; /* ends with command CMD_NONE */

/* The command of a key under these contexts; CMD_NONE if it has none. */
enum command keys_command(int key, unsigned contexts);

/* The table in sections, as the help screen, README and man page show it. keys_section_of gives -1
 * for a row that is only a further key of the row above it. */
int keys_sections(void);
const char *keys_section_title(int section, enum lang lang);
int keys_section_of(const struct key_binding *b);

/* All sections as Markdown tables (README) and as roff (man page). The caller frees. */
char *keys_markdown(enum lang lang);
char *keys_man(void);

#endif
