#include "ui/views/help.h"

#include "ui/header.h"
#include "ui/page.h"
#include "ui/ui_internal.h"
#include "ui/words.h"

enum { KEY_COLS = 12, MARGIN = 3, HELP_COLS = 84 };

void help_open(ui *u) {
  u->help = true;
  u->help_top = 0;
}

static void put_section(const ui *u, page *p, int section) {
  int x = page_cols(p) >= 40 ? KEY_COLS : 8;
  page_gap(p);
  page_say(p, 0, ROLE_TITLE, 0, keys_section_title(section, u->lang));
  for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++) {
    if (keys_section_of(b) != section)
      continue;
    struct page_run key = {.role = ROLE_KEY, .text = b->shown};
    struct page_run text = {.role = ROLE_TEXT, .text = b->help[u->lang]};
    struct page_cell cells[2] = {{2, x - 2, false, &key, 1},
                                 {x + 2, page_cols(p) - x - 2, false, &text, 1}};
    page_row(p, cells, 2);
  }
}

/* The section of the view that help was called from. */
static int first_section(const ui *u) {
  unsigned view = u->view == VIEW_HOME     ? KEYS_HOME_VIEW
                  : u->view == VIEW_LESSON ? KEYS_LESSON_VIEW
                                           : KEYS_SIM;
  for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++)
    if (b->contexts == view && keys_section_of(b) >= 0)
      return keys_section_of(b);
  return 0;
}

static page *build(const ui *u, int cols) {
  page *p = page_new(cols);
  int first = first_section(u);
  put_section(u, p, first);
  for (int i = 0; i < keys_sections(); i++)
    if (i != first)
      put_section(u, p, i);
  return p;
}

void help_draw(ui *u, canvas *cv) {
  int cols = canvas_cols(cv), rows = canvas_rows(cv), margin = cols >= 60 ? MARGIN : 1;
  header_draw(u, cv, strings_get(u->lang, "help.title"), NULL, "");
  int w = cols - 2 * margin;
  if (w > HELP_COLS)
    w = HELP_COLS;
  struct rect r = {margin, 2, w, rows - 4};
  if (r.w >= 2 && r.h >= 1) {
    page *p = build(u, r.w);
    u->help_lines = page_lines(p);
    u->help_rows = r.h;
    if (u->help_top > u->help_lines - r.h)
      u->help_top = u->help_lines - r.h;
    if (u->help_top < 0)
      u->help_top = 0;
    page_draw(p, cv, r, u->help_top, NULL);
    page_free(p);
  }
  if (u->help_top + u->help_rows < u->help_lines)
    canvas_text(cv, margin, rows - 2, ROLE_DIM, 0, strings_get(u->lang, "help.more"));
  header_bar(u, cv, help_contexts(u));
}

bool help_command(ui *u, enum command cmd) {
  int screen = u->help_rows > 2 ? u->help_rows - 1 : 1;
  switch (cmd) {
  case CMD_UP:
    u->help_top -= u->help_top > 0;
    return true;
  case CMD_DOWN:
    u->help_top++;
    return true;
  case CMD_PGUP:
    u->help_top = u->help_top > screen ? u->help_top - screen : 0;
    return true;
  case CMD_PGDN:
    u->help_top += screen;
    return true;
  case CMD_TOP:
    u->help_top = 0;
    return true;
  case CMD_BOTTOM:
    u->help_top = u->help_lines;
    return true;
  default:
    return false;
  }
}

unsigned help_contexts(const ui *u) {
  (void)u;
  return KEYS_ANY | KEYS_HELP_VIEW;
}
