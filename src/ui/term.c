#include "ui/term.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sentences.h"
#include "base/utf8.h"
#include "ui/strings.h"
#include "ui/term_guard.h"
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

enum {
  FRAME_MS = 33,             /* at most 30 frames a second of animation */
  EMPTY_READS = 50,          /* so many wake-ups without a byte: the terminal is gone */
  KEY_PROBE_NARROW = 0x1F00, /* answers to the start-up probe, beyond curses' own codes */
  KEY_PROBE_WIDE,
  ROW_CELLS = 1024
};

struct tty {
  const struct term_options *o;
  ui *u;
  SCREEN *screen;
  canvas *next, *shown;
  const struct theme *theme; /* that the colour pairs were made of */
  const struct theme *mono;  /* the marks where there is no colour */
  bool utf8, colour, probing;
  bool dirty, whole; /* a frame is due; nothing on the screen can be relied on */
  bool over;
  int ended_by; /* signal, 0 = none */
  int empty_reads;
  double drawn_ms;
};

/* ---- can this terminal show it? */

static int refuse(enum lang lang, const char *id) {
  fprintf(stderr, "mmtutor: %s\n", strings_get(lang, id));
  return 2;
}

static int refuse_type(enum lang lang, const char *id) {
  const char *type = getenv("TERM");
  struct err err;
  /* The text comes from our own strings, which a test holds to one %s. */
  const char *text = strings_get(lang, id), *hole = strstr(text, "%s");
  if (!hole)
    return refuse(lang, id);
  err_set(&err, "%.*s'%s'%s", (int)(hole - text), text, type ? type : "", hole + 2);
  fprintf(stderr, "mmtutor: %s\n", err.text);
  return 2;
}

static bool is_string(const char *cap) { return cap && cap != (const char *)-1; }

/* 0: it can. 2: it cannot, and the reason was said. */
static int terminal_fits(enum lang lang) {
  if (!isatty(STDIN_FILENO))
    return refuse(lang, "term.no_stdin");
  if (!isatty(STDOUT_FILENO))
    return refuse(lang, "term.no_stdout");
  int found = 0;
  if (setupterm(NULL, STDOUT_FILENO, &found) != OK || found != 1)
    return refuse_type(lang, "term.unknown");
  char cup[] = "cup";
  bool moves = is_string(tigetstr(cup));
  return moves ? 0 : refuse_type(lang, "term.dumb");
}

static bool locale_is_utf8(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

/* ---- start and end */

static void add_capability(char *out, size_t size, char *name) {
  const char *s = tigetstr(name);
  size_t n = strlen(out);
  if (!is_string(s))
    return;
  /* Padding like $<5> is for curses, not for a crash handler. */
  for (; *s && n + 1 < size; s++) {
    const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
    if (end)
      s = end;
    else
      out[n++] = *s;
  }
  out[n] = '\0';
}

/* The bytes that undo what curses switches on. */
static void undo_bytes(char *out, size_t size) {
  char sgr0[] = "sgr0", cnorm[] = "cnorm", rmkx[] = "rmkx", rmcup[] = "rmcup";
  out[0] = '\0';
  add_capability(out, size, sgr0);
  add_capability(out, size, cnorm);
  add_capability(out, size, rmkx);
  add_capability(out, size, rmcup);
}

/* Prints a border sign and asks where the cursor is: where it took two cells, ASCII is used.
 * Nothing waits for the answer; it comes as a key, and the first frame clears the sign. */
static void send_probe(struct tty *t) {
  char u7[] = "u7";
  if (!t->utf8 || ui_ascii(t->u) || !is_string(tigetstr(u7)))
    return;
  define_key("\033[1;2R", KEY_PROBE_NARROW);
  define_key("\033[1;3R", KEY_PROBE_WIDE);
  define_key("\033[1;1R", KEY_PROBE_NARROW);
  /* keypad and curs_set have flushed what curses had to say. */
  static const char ask[] = "\r\033[1;1H\xE2\x94\x80\033[6n";
  t->probing = write(STDOUT_FILENO, ask, sizeof ask - 1) == (ssize_t)(sizeof ask - 1);
}

static bool use_colour(const struct term_options *o) { return o->colour && has_colors(); }

static void set_modes(const struct tty *t) {
  raw(); /* Ctrl-C and Ctrl-Z are keys: the worker must not get their signals first */
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  intrflush(stdscr, FALSE);
  scrollok(stdscr, FALSE);
  idcok(stdscr, FALSE); /* deleting columns may begin inside a wide character */
  leaveok(stdscr, !t->o->a11y);
  curs_set(t->o->a11y ? 1 : 0);
}

static bool start_screen(struct tty *t) {
  char undo[256];
  undo_bytes(undo, sizeof undo);
  if (!term_guard_start(STDIN_FILENO, undo, strlen(undo)))
    return false;
  use_env(TRUE);
  use_tioctl(TRUE);
  term_guard_screen(true);
  TERMINAL *looked_up = cur_term; /* by terminal_fits; newterm makes its own */
  t->screen = newterm(NULL, stdout, stdin);
  if (!t->screen) {
    term_guard_screen(false);
    return false;
  }
  if (cur_term != looked_up)
    del_curterm(looked_up);
  if (!getenv("ESCDELAY"))
    set_escdelay(25);
  t->colour = use_colour(t->o);
  if (t->colour) {
    start_color();
    use_default_colors();
  }
  set_modes(t);
  send_probe(t);
  t->next = canvas_new(COLS, LINES);
  t->shown = canvas_new(COLS, LINES);
  t->dirty = t->whole = true;
  return true;
}

static void end_screen(struct tty *t) {
  if (t->screen) {
    endwin();
    term_guard_screen(false);
    delscreen(t->screen);
  }
  term_guard_stop();
  canvas_free(t->next);
  canvas_free(t->shown);
}

/* ---- a frame */

static void make_pairs(struct tty *t) {
  t->theme = ui_theme(t->u);
  if (!t->colour)
    return;
  for (int r = 0; r < ROLE_COUNT; r++) {
    const struct theme_style *s = &t->theme->style[r];
    int colour = COLORS >= 256 ? s->xterm : COLORS >= 8 ? s->ansi : -1;
    init_pair((short)(r + 1), (short)colour, -1);
  }
}

static attr_t attributes(const struct tty *t, const struct cell *c) {
  unsigned mark = c->mark | (t->colour ? t->theme : t->mono)->style[c->role].mark;
  attr_t a = A_NORMAL;
  if (mark & MARK_BOLD)
    a |= A_BOLD;
  if (mark & MARK_REVERSE)
    a |= A_REVERSE;
  if (mark & MARK_UNDERLINE)
    a |= A_UNDERLINE;
  return a;
}

/* The code points of a cell; one that this terminal's locale sees with another width becomes '?'.
 */
static void code_points(const struct tty *t, const struct cell *c, wchar_t out[CCHARW_MAX + 1]) {
  size_t len, n = 0, left = strlen(c->glyph);
  for (const char *s = c->glyph; left && n < CCHARW_MAX; s += len, left -= len) {
    int cp = utf8_decode(s, left, &len);
    if (cp < 0 || (cp > 0x7E && !t->utf8))
      break;
    int width = wcwidth((wchar_t)cp);
    if (width != (n == 0 ? c->width : 0))
      break;
    out[n++] = (wchar_t)cp;
  }
  if (n == 0)
    out[n++] = L'?';
  out[n] = L'\0';
}

/* Turns cells x0..x1 of row y into curses cells; returns how many there are (a wide one is one). */
static int curses_cells(const struct tty *t, int y, int x0, int x1, cchar_t *out, int max) {
  int n = 0;
  for (int x = x0; x < x1 && n + 1 < max; x++) {
    const struct cell *c = canvas_at(t->next, x, y);
    if (c->width == 0)
      continue;
    wchar_t text[CCHARW_MAX + 1];
    short pair = t->colour ? (short)(c->role + 1) : 0;
    code_points(t, c, text);
    setcchar(&out[n++], text, attributes(t, c), pair, NULL);
    if (c->width == 2 && wcwidth(text[0]) != 2)
      setcchar(&out[n++], L" ", attributes(t, c), pair, NULL);
  }
  return n;
}

static bool same_cell(const struct cell *a, const struct cell *b) {
  return a->width == b->width && a->role == b->role && a->mark == b->mark &&
         strcmp(a->glyph, b->glyph) == 0;
}

static void blit_cells(const struct tty *t, int y, int x0, int x1) {
  static cchar_t cells[ROW_CELLS];
  for (int x = x0; x < x1;) {
    int end = x + ROW_CELLS / 2 < x1 ? x + ROW_CELLS / 2 : x1;
    if (end < x1 && canvas_at(t->next, end, y)->width == 0)
      end++;
    mvadd_wchnstr(y, x, cells, curses_cells(t, y, x, end, cells, ROW_CELLS));
    x = end;
  }
}

/* Only what changed. A row with a wide character before or now is cleared and written whole: curses
 * shifts the rest of a line when one half of such a character is overwritten. */
static void blit_row(const struct tty *t, int y) {
  int cols = canvas_cols(t->next), first = -1, last = -1;
  bool wide = false;
  for (int x = 0; x < cols; x++) {
    const struct cell *a = canvas_at(t->next, x, y), *b = canvas_at(t->shown, x, y);
    wide = wide || a->width != 1 || b->width != 1;
    if (t->whole || !same_cell(a, b)) {
      first = first < 0 ? x : first;
      last = x;
    }
  }
  if (first < 0)
    return;
  if (wide) {
    move(y, 0);
    clrtoeol();
    first = 0;
    last = cols - 1;
  }
  blit_cells(t, y, first, last + 1);
}

static void draw_frame(struct tty *t) {
  if (t->theme != ui_theme(t->u)) {
    make_pairs(t);
    t->whole = true;
  }
  canvas_clear(t->next);
  canvas_set_ascii(t->next, ui_ascii(t->u));
  ui_draw(t->u, t->next);
  if (t->whole) {
    erase();
    clearok(stdscr, TRUE);
  }
  for (int y = 0; y < canvas_rows(t->next); y++)
    blit_row(t, y);
  int x, y;
  canvas_cursor_get(t->next, &x, &y);
  if (t->o->a11y && x >= 0 && y >= 0 && x < canvas_cols(t->next) && y < canvas_rows(t->next))
    move(y, x);
  wnoutrefresh(stdscr);
  doupdate();
  canvas *swap = t->shown;
  t->shown = t->next;
  t->next = swap;
  t->dirty = t->whole = false;
  t->drawn_ms = clock_ms();
}

/* ---- keys */

static int key_of(int code) {
  static const struct {
    int curses, ours;
  } keys[] = {
      {KEY_UP, KEYS_UP},       {KEY_DOWN, KEYS_DOWN},
      {KEY_LEFT, KEYS_LEFT},   {KEY_RIGHT, KEYS_RIGHT},
      {KEY_PPAGE, KEYS_PGUP},  {KEY_NPAGE, KEYS_PGDN},
      {KEY_HOME, KEYS_HOME},   {KEY_END, KEYS_END},
      {KEY_DC, KEYS_DELETE},   {KEY_A1, KEYS_HOME},
      {KEY_C1, KEYS_END},      {KEY_BTAB, KEYS_SHIFT_TAB},
      {KEY_ENTER, KEYS_ENTER}, {KEY_BACKSPACE, KEYS_BACKSPACE},
      {KEY_F(1), KEYS_F1},     {KEY_F(2), KEYS_F2},
      {KEY_F(3), KEYS_F3},     {KEY_F(4), KEYS_F4},
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (keys[i].curses == code)
      return keys[i].ours;
  return KEY_NONE;
}

static void give_key(struct tty *t, int key) {
  t->dirty = true;
  if (key == KEYS_CTRL_L)
    t->whole = true;
  if (!ui_key(t->u, key))
    t->over = true;
}

static void take_code(struct tty *t, int code) {
  if (code == KEY_PROBE_WIDE && t->probing) {
    ui_set_ascii(t->u, true);
    t->dirty = t->whole = true;
  } else if (code < KEY_PROBE_NARROW && key_of(code) != KEY_NONE) {
    give_key(t, key_of(code));
  }
}

/* Esc alone is a key. Esc [ or Esc O at once is a sequence that the terminal type does not list (a
 * mouse, a focus report): it is no key of ours, and its letters must not act. */
static void take_escape(struct tty *t) {
  wint_t c;
  int kind = get_wch(&c);
  if (kind == OK && (c == '[' || c == 'O')) {
    bool csi = c == '[';
    while (get_wch(&c) == OK && csi && c >= 0x20 && c < 0x40)
      ;
    return;
  }
  if (kind == OK || kind == KEY_CODE_YES) {
    if (kind == OK)
      unget_wch((wchar_t)c);
    else
      ungetch((int)c);
  }
  give_key(t, KEYS_ESC);
}

static void take_character(struct tty *t, wint_t c) {
  switch (c) {
  case 27:
    take_escape(t);
    return;
  case 26:
    kill(0, SIGTSTP); /* the whole job, as the terminal itself would do */
    return;
  case 28:
    raise(SIGQUIT);
    return;
  case '\n':
    give_key(t, KEYS_ENTER);
    return;
  case 8:
    give_key(t, KEYS_BACKSPACE);
    return;
  default:
    if (c > 0 && c < 0x110000)
      give_key(t, (int)c);
  }
}

static void read_keys(struct tty *t) {
  wint_t c;
  int kind, n = 0;
  while (!t->over && (kind = get_wch(&c)) != ERR) {
    n++;
    if (kind == KEY_CODE_YES)
      take_code(t, (int)c);
    else
      take_character(t, c);
  }
  t->empty_reads = n ? 0 : t->empty_reads + 1;
}

/* ---- signals */

static void resize(struct tty *t) {
  struct winsize ws;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) != 0 || ws.ws_row == 0 || ws.ws_col == 0)
    return;
  if (ws.ws_row != LINES || ws.ws_col != COLS)
    resize_term(ws.ws_row, ws.ws_col);
  canvas_resize(t->next, COLS, LINES);
  canvas_resize(t->shown, COLS, LINES);
  t->dirty = t->whole = true;
}

static void resume(struct tty *t) {
  reset_prog_mode();
  set_modes(t);
  term_guard_screen(true);
  resize(t);
  t->dirty = t->whole = true;
}

static void suspend(struct tty *t) {
  endwin();
  term_guard_screen(false);
  term_guard_suspend();
  resume(t);
}

static void take_signals(struct tty *t) {
  for (int sig; (sig = term_guard_take()) != 0;)
    switch (sig) {
    case SIGWINCH:
      resize(t);
      break;
    case SIGTSTP:
      suspend(t);
      break;
    case SIGCONT:
      resume(t);
      break;
    default:
      t->ended_by = sig;
      t->over = true;
    }
}

/* ---- the loop */

/* ms to wait: until the model wants to move, or until the next frame of an animation is due. */
static int wait_ms(const struct tty *t, double now) {
  int wait = ui_timeout(t->u, now);
  if (t->dirty) {
    int due = (int)(t->drawn_ms + FRAME_MS - now) + 1;
    due = due < 0 ? 0 : due;
    wait = wait < 0 || due < wait ? due : wait;
  }
  return wait;
}

static void wait_and_take(struct tty *t) {
  struct pollfd fds[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
                          {.fd = term_guard_fd(), .events = POLLIN},
                          {.fd = ui_fd(t->u), .events = POLLIN}};
  int n = poll(fds, fds[2].fd >= 0 ? 3 : 2, wait_ms(t, clock_ms()));
  take_signals(t);
  if (n <= 0 || t->over)
    return;
  if (fds[0].revents & POLLIN) {
    read_keys(t);
    if (t->dirty && !t->over) {
      ui_tick(t->u, clock_ms());
      draw_frame(t); /* what a key changed is shown at once */
    }
  }
  if ((fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) || t->empty_reads > EMPTY_READS)
    t->over = true;
}

static void loop(struct tty *t) {
  draw_frame(t);
  while (!t->over) {
    double now = clock_ms();
    if (ui_tick(t->u, now))
      t->dirty = true;
    if (t->dirty && (t->whole || now - t->drawn_ms >= FRAME_MS))
      draw_frame(t);
    wait_and_take(t);
  }
}

static int run_screen(const struct term_options *o) {
  struct tty t = {.o = o, .mono = theme_find("mono"), .utf8 = locale_is_utf8()};
  struct ui_options options = o->ui;
  const char *type = getenv("TERM");
  if (options.lang == LANG_ZH && !t.utf8) {
    fprintf(stderr, "mmtutor: %s\n", strings_get(LANG_EN, "term.zh_utf8"));
    options.lang = LANG_EN;
  }
  /* The Linux console's font has neither braille nor most arrows. */
  if (!t.utf8 || (type && strcmp(type, "linux") == 0))
    options.ascii = true;
  t.u = ui_new(&options);
  struct err err;
  int rc = 0;
  if (o->view && !ui_open(t.u, o->view, &err)) {
    char *text = sentences_in(err.text, options.lang == LANG_ZH);
    fprintf(stderr, "mmtutor: %s\n", text);
    free(text);
    rc = 2;
  } else if (start_screen(&t)) {
    loop(&t);
    end_screen(&t);
  } else {
    end_screen(&t);
    rc = refuse_type(options.lang, "term.unknown");
  }
  ui_free(t.u);
  if (t.ended_by) {
    signal(t.ended_by, SIG_DFL);
    raise(t.ended_by);
  }
  return rc;
}

int term_run(const struct term_options *o) {
  int fits = terminal_fits(o->ui.lang);
  if (fits != 0)
    return fits;
  return run_screen(o);
}
