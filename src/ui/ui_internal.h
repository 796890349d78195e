/* What the model and its views share. Only src/ui/ui.c, src/ui/header.c and src/ui/views include
 * this. */
#ifndef MM_UI_UI_INTERNAL_H
#define MM_UI_UI_INTERNAL_H

#include "lesson/answer.h"
#include "ui/field.h"
#include "ui/live.h"
#include "ui/simview.h"
#include "ui/ui.h"
#include "ui/views/lesson_layout.h"

enum view { VIEW_HOME, VIEW_LESSON, VIEW_SIM };

/* What the middle pane of a lesson shows. */
enum picture { PICTURE_NONE, PICTURE_SIM, PICTURE_CODE, PICTURE_FIGURE };

struct home_state {
  int at;  /* the chosen lesson, 0 .. COURSE_LESSONS - 1 */
  int top; /* first line of the list that is shown */
};

/* The question of an item step. */
struct item_state {
  const struct item *item; /* NULL: the step has none */
  struct answer_draw draw;
  struct field field;    /* numeric */
  bool typing;           /* the field has the focus */
  bool graded, solution; /* `said` holds a verdict; the solution is shown */
  bool solved;           /* answered right, or the solution was shown: nothing more is asked */
  struct answer_graded said;
  unsigned tried;          /* choice: bit i = shown option i was wrong */
  int picked;              /* choice: the shown option graded last, -1 none */
  int order[8], norder;    /* order: shown positions in the places filled so far */
  char given[FIELD_BYTES]; /* numeric, order: the answer that `said` is about */
  int given_order[8];
  int hints; /* how many are shown */
};

struct lesson_state {
  const struct lesson *lesson;
  int step;
  bool entering; /* the step's panes still have to be chosen for the size of the screen */
  enum pane focus, other;
  int scroll, lines, rows; /* text pane: first line, and what the last frame had */
  bool follow;             /* the next frame shows the end of the text */
  int live_step;           /* step whose experiment the live pane has, -1 none */
  int code_scroll, code_lines, code_rows;
  int sim_step;         /* step whose walk is open, -1 none */
  struct err sim_error; /* why it is not; "" otherwise */
  bool searching;       /* the search field has the focus */
  struct field search;
  char needle[FIELD_BYTES]; /* "" = no search */
  int find, hit; /* line to search from in the next frame, -1 none; line of the hit, -1 */
  struct item_state item;
};

struct ui {
  struct ui_options o;
  char *worker_command;
  enum lang lang;
  const struct theme *theme;
  bool ascii;
  catalog *catalog;
  client *client;
  recorded *recorded;    /* NULL where it is missing */
  char recorded_tag[48]; /* "(H200)" */
  progress *progress;
  struct course *course;
  char *notice; /* progress will not be saved, and why; "" otherwise */
  simview *sim;
  live *live;
  enum view view;
  bool help; /* the help screen is over the view */
  int help_top, help_lines, help_rows;
  bool explain; /* the explanation of a number is open */
  int explain_at, asks;
  int cols, rows; /* of the last frame; 0 before the first */
  bool drawn, greeted;
  bool more; /* events are left for the next tick */
  bool measuring; /* the roofs are */
  bool roofs_wanted; /* they were cancelled with a run; measured after the next result */
  int roofs_id;   /* request in flight, 0 none */
  struct err worker_error;
  struct home_state home;
  struct lesson_state lesson;
};

#endif
