#include "ui/views/lesson_item.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/utf8.h"
#include "ui/ui_internal.h"
#include "ui/views/lesson.h"
#include "ui/views/lesson_text.h"
#include "ui/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_COLS = 28, OPTION_INDENT = 6 };

static bool is_order(const struct item_state *s) { return s->item && s->item->norder > 0; }

static bool is_choice(const struct item_state *s) {
  return s->item && !is_order(s) && s->item->noptions > 0;
}

static bool is_numeric(const struct item_state *s) {
  return s->item && !is_order(s) && !is_choice(s);
}

static uint64_t fresh_seed(const ui *u) {
  return u->o.memory_only || clock_fake() ? 1 : (uint64_t)clock_ns();
}

static void clear_said(struct item_state *s) {
  if (s->graded)
    answer_graded_done(&s->said);
  s->graded = false;
}

/* What was typed or put in order is kept beside what is being typed now. */
static void take_answer(struct item_state *s) {
  memcpy(s->given, s->field.text, sizeof s->given);
  memcpy(s->given_order, s->order, sizeof s->given_order);
}

/* Grades the answer taken, without counting it. */
static void grade(ui *u) {
  struct item_state *s = &u->lesson.item;
  clear_said(s);
  if (is_order(s))
    answer_order(&s->draw, s->given_order, u->lang, &s->said);
  else if (is_choice(s))
    answer_choice(&s->draw, s->picked, u->lang, &s->said);
  else
    answer_numeric(&s->draw, s->given, u->lang, &s->said);
  s->graded = true;
  if (s->said.verdict == ANSWER_RIGHT || s->said.verdict == ANSWER_RIGHT_NOTE)
    s->solved = true;
}

/* What is kept of an answer: text, or indices in the file, which a shuffle does not change. */
static void answer_as_text(const struct item_state *s, char out[64]) {
  if (is_order(s)) {
    int n = 0;
    for (int i = 0; i < s->norder; i++)
      n += snprintf(out + n, (size_t)(64 - n), "%s%d", i ? "," : "", s->draw.option[s->order[i]]);
  } else if (is_choice(s)) {
    snprintf(out, 64, "%d", s->draw.option[s->picked]);
  } else {
    size_t n = utf8_clip(s->field.text, 63, NULL);
    while (n > 63)
      n = 63;
    memcpy(out, s->field.text, n);
    out[n] = 0;
  }
}

static int shown_position(const struct answer_draw *d, int index) {
  for (int i = 0; i < d->noptions; i++)
    if (d->option[i] == index)
      return i;
  return -1;
}

/* Puts a kept answer back; false if it does not fit the item any more. */
static bool restore(struct item_state *s, const char *text) {
  if (is_numeric(s)) {
    field_set(&s->field, text);
    return true;
  }
  char *end;
  const char *p = text;
  s->norder = 0;
  for (int i = 0; i < s->draw.noptions; i++) {
    long index = strtol(p, &end, 10);
    int shown = end == p || index < 0 || index >= 8 ? -1 : shown_position(&s->draw, (int)index);
    if (shown < 0)
      return false;
    if (is_choice(s)) {
      s->picked = shown;
      return true;
    }
    s->order[s->norder++] = shown;
    p = *end == ',' ? end + 1 : end;
  }
  return s->norder > 0;
}

void lesson_item_close(ui *u) {
  struct item_state *s = &u->lesson.item;
  clear_said(s);
  if (s->item)
    answer_done(&s->draw);
  memset(s, 0, sizeof *s);
}

static void start(struct item_state *s, const struct item *it, uint64_t seed) {
  s->item = it;
  s->picked = -1;
  field_init(&s->field, 60);
  answer_draw(&s->draw, it, seed);
}

void lesson_item_open(ui *u, const struct item *it) {
  struct item_state *s = &u->lesson.item;
  struct progress_answer last;
  lesson_item_close(u);
  if (!it)
    return;
  if (progress_last_answer(u->progress, it->id, &last)) {
    start(s, it, last.seed);
    if (last.right && restore(s, last.text)) {
      take_answer(s);
      grade(u);
      s->solved = true;
    } else {
      s->norder = 0;
      s->picked = -1;
    }
  } else {
    start(s, it, fresh_seed(u));
  }
}

void lesson_item_language(ui *u) {
  struct item_state *s = &u->lesson.item;
  bool solved = s->solved;
  if (s->graded)
    grade(u);
  s->solved = solved;
}

static void save(ui *u) {
  const struct item_state *s = &u->lesson.item;
  struct progress_answer a = {.seed = s->draw.seed, .right = s->solved};
  answer_as_text(s, a.text);
  memcpy(a.tag, s->said.tag, sizeof a.tag);
  a.tag[sizeof a.tag - 1] = 0;
  clock_iso(a.date, sizeof a.date);
  progress_answer(u->progress, s->item->id, &a);
  lesson_view_done(u, s->solved);
}

static void answer(ui *u) {
  struct item_state *s = &u->lesson.item;
  take_answer(s);
  grade(u);
  u->lesson.follow = true;
  if (s->said.verdict == ANSWER_UNREAD)
    return;
  save(u);
  s->typing = false;
  if (!s->solved && is_choice(s))
    s->tried |= 1u << s->picked;
  if (!s->solved && is_order(s))
    s->norder = 0;
}

static bool choose(ui *u, int i) {
  struct item_state *s = &u->lesson.item;
  if (i >= s->draw.noptions || s->solved)
    return false;
  if (is_choice(s)) {
    if (s->tried & 1u << i)
      return true;
    s->picked = i;
    answer(u);
    return true;
  }
  for (int j = 0; j < s->norder; j++)
    if (s->order[j] == i)
      return true;
  clear_said(s);
  s->order[s->norder++] = i;
  if (s->norder == s->draw.noptions)
    answer(u);
  return true;
}

static bool hint(ui *u) {
  struct item_state *s = &u->lesson.item;
  if (!s->item || s->solved)
    return false;
  u->lesson.follow = true;
  if (s->hints < s->item->nhints) {
    s->hints++;
    return true;
  }
  s->solution = s->solved = true;
  s->typing = false;
  lesson_view_done(u, true);
  return true;
}

/* A number begins with one of these; until then letters stay commands, so that a question can be
 * passed over with n. */
static bool begins_number(int key) {
  return (key >= '0' && key <= '9') || key == '(' || (key >= 0xFF10 && key <= 0xFF19);
}

bool lesson_item_key(ui *u, int key) {
  struct item_state *s = &u->lesson.item;
  if (!s->item || s->solved)
    return false;
  if (is_numeric(s) && !s->typing && begins_number(key)) {
    s->typing = true;
    field_set(&s->field, "");
  }
  if (s->typing) {
    if (key == KEYS_ENTER) {
      answer(u);
      return true;
    }
    return field_key(&s->field, key);
  }
  if (!is_order(s))
    return false;
  if ((key == KEYS_BACKSPACE || key == 8) && s->norder > 0) {
    s->norder--;
    return true;
  }
  /* Orders may have more places than there are answer commands. */
  return key >= 'g' && key < 'a' + s->draw.noptions && choose(u, key - 'a');
}

bool lesson_item_command(ui *u, enum command cmd) {
  struct item_state *s = &u->lesson.item;
  if (!s->item)
    return false;
  if (cmd >= CMD_ANSWER_A && cmd <= CMD_ANSWER_F && !is_numeric(s))
    return choose(u, (int)cmd - CMD_ANSWER_A);
  if (cmd == CMD_HINT)
    return hint(u);
  if (cmd == CMD_ENTER && is_numeric(s) && !s->solved) {
    s->typing = true;
    return true;
  }
  return false;
}

bool lesson_item_leave(ui *u) {
  bool had = u->lesson.item.typing;
  u->lesson.item.typing = false;
  return had;
}

unsigned lesson_item_contexts(const ui *u) {
  const struct item_state *s = &u->lesson.item;
  if (!s->item || s->solved)
    return 0;
  if (is_numeric(s))
    return s->typing ? KEYS_FIELD : 0u;
  return KEYS_CHOICE;
}

/* ---- the page */

static void put(ui *u, page *p, int indent, char *text) {
  lesson_text_put(u, p, indent, text, &u->lesson.item.draw.vars);
  free(text);
}

static void put_option(ui *u, page *p, int shown) {
  struct item_state *s = &u->lesson.item;
  const struct item *it = s->item;
  int index = s->draw.option[shown];
  bool wrong = s->tried & 1u << shown, right = s->solved && it->options[index].right;
  char marker[16];
  snprintf(marker, sizeof marker, "%s %c ", wrong ? "✗" : right ? "✓" : " ", 'a' + shown);
  char *text = answer_text(&s->draw, &it->options[index].text, u->lang);
  bool out = wrong || (s->solved && !right);
  enum role role = wrong ? ROLE_WRONG : right ? ROLE_DONE : s->solved ? ROLE_DIM : ROLE_KEY;
  lesson_text_option(u, p, OPTION_INDENT, marker, role, out ? ROLE_DIM : ROLE_TEXT, text);
  free(text);
}

static void put_step(ui *u, page *p, int shown) {
  struct item_state *s = &u->lesson.item;
  int place = -1;
  for (int j = 0; j < s->norder; j++)
    if (s->order[j] == shown)
      place = j;
  char marker[16];
  if (place >= 0)
    snprintf(marker, sizeof marker, "%d %c ", place + 1, 'a' + shown);
  else
    snprintf(marker, sizeof marker, "%c ", 'a' + shown);
  char *text = answer_text(&s->draw, &s->item->order_steps[s->draw.option[shown]], u->lang);
  lesson_text_option(u, p, OPTION_INDENT, marker, place >= 0 ? ROLE_NOW : ROLE_KEY,
                     place >= 0 ? ROLE_DIM : ROLE_TEXT, text);
  free(text);
}

static void put_order(ui *u, page *p) {
  struct item_state *s = &u->lesson.item;
  if (s->solved && s->norder == 0) /* the solution was shown: its text has the order */
    return;
  if (s->solved) {
    for (int i = 0; i < s->norder; i++)
      put_step(u, p, s->order[i]);
    return;
  }
  for (int i = 0; i < s->draw.noptions; i++)
    put_step(u, p, i);
}

static void put_verdict(ui *u, page *p) {
  struct item_state *s = &u->lesson.item;
  if (!s->graded)
    return;
  bool right = s->said.verdict == ANSWER_RIGHT || s->said.verdict == ANSWER_RIGHT_NOTE;
  bool unread = s->said.verdict == ANSWER_UNREAD;
  const char *say = s->said.say && *s->said.say
                        ? s->said.say
                        : strings_get(u->lang, right ? "item.right" : "item.wrong");
  page_gap(p);
  lesson_text_option(u, p, 2,
                     unread  ? "!"
                     : right ? "✓"
                             : "✗",
                     unread  ? ROLE_NOW
                     : right ? ROLE_DONE
                             : ROLE_WRONG,
                     ROLE_TEXT, say);
}

static void put_hints(ui *u, page *p) {
  struct item_state *s = &u->lesson.item;
  for (int i = 0; i < s->hints; i++) {
    char n[16];
    page_gap(p);
    char *head = words_fill(u->lang, "item.hint", words_int(n, i + 1), NULL);
    page_say(p, 0, ROLE_DIM, 0, head);
    free(head);
    put(u, p, 2, answer_text(&s->draw, &s->item->hints[i], u->lang));
  }
}

static bool has_text(const struct text2 *t, enum lang lang) { return t->in[lang] && *t->in[lang]; }

static void put_solution(ui *u, page *p) {
  struct item_state *s = &u->lesson.item;
  if (s->solution) {
    char *right = answer_right(&s->draw, u->lang);
    page_gap(p);
    page_say(p, 0, ROLE_TITLE, 0, strings_get(u->lang, "item.solution"));
    put(u, p, 2, right);
    if (has_text(&s->item->solution, u->lang)) {
      page_gap(p);
      put(u, p, 2, answer_text(&s->draw, &s->item->solution, u->lang));
    }
  }
  if (!s->solved || !has_text(&s->item->why, u->lang))
    return;
  char *why = answer_text(&s->draw, &s->item->why, u->lang);
  if (s->graded && s->said.say && strcmp(why, s->said.say) == 0) {
    free(why); /* the verdict was that very sentence */
    return;
  }
  page_gap(p);
  put(u, p, 0, why);
}

/* What can be done now, in one dim line. */
static void put_prompt(ui *u, page *p) {
  struct item_state *s = &u->lesson.item;
  char a[16], b[16];
  char *text;
  if (s->solved)
    return;
  if (s->hints < s->item->nhints)
    text = words_fill(u->lang, s->typing ? "item.ask_hint_field" : "item.ask_hint",
                      words_int(a, s->hints + 1), words_int(b, s->item->nhints), NULL);
  else
    text = words_fill(u->lang, s->typing ? "item.ask_solution_field" : "item.ask_solution", NULL);
  page_gap(p);
  if (is_numeric(s) && !s->typing)
    page_say(p, 0, ROLE_DIM, 0, strings_get(u->lang, "item.type"));
  if (is_order(s))
    page_say(p, 0, ROLE_DIM, 0, strings_get(u->lang, "item.order"));
  page_say(p, 0, ROLE_DIM, 0, text);
  free(text);
}

int lesson_item_page(ui *u, page *p) {
  struct item_state *s = &u->lesson.item;
  int field = -1;
  if (!s->item)
    return -1;
  page_gap(p);
  put(u, p, 0, answer_stem(&s->draw, u->lang));
  page_gap(p);
  if (is_order(s)) {
    put_order(u, p);
  } else if (is_choice(s)) {
    for (int i = 0; i < s->draw.noptions; i++)
      put_option(u, p, i);
  } else {
    field = page_space(p, 1);
  }
  put_verdict(u, p);
  put_hints(u, p);
  put_solution(u, p);
  put_prompt(u, p);
  return field;
}

void lesson_item_field(ui *u, canvas *cv, struct rect line) {
  struct item_state *s = &u->lesson.item;
  int x = line.x;
  x += canvas_text(cv, x, line.y, ROLE_DIM, 0, strings_get(u->lang, "item.answer")) + 2;
  const char *unit = s->item->unit ? s->item->unit : "";
  int room = line.x + line.w - x - utf8_width(unit) - 2;
  int cols = room < FIELD_COLS ? room : FIELD_COLS;
  if (cols < 4)
    cols = line.x + line.w - x;
  bool focus = s->typing && u->lesson.focus == PANE_TEXT;
  field_draw(&s->field, cv, x, line.y, cols, focus);
  if (room >= 4)
    canvas_text(cv, x + cols + 2, line.y, ROLE_DIM, 0, unit);
}
