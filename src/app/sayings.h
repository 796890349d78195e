/* The sentences of `read` and of the plain tutor, in both languages. */
#ifndef MM_APP_SAYINGS_H
#define MM_APP_SAYINGS_H

#include "lesson/lesson.h"

enum saying {
  SAY_MINUTES,    /* n */
  SAY_STEP,       /* i, n, title */
  SAY_STEP_PLAIN, /* i, n */
  SAY_SIM,        /* kernel, sizes */
  SAY_SIM_SHOW,   /* command */
  SAY_FIGURE,     /* name, command */
  SAY_CODE,       /* kernel */
  SAY_CODE_MARKED,
  SAY_NO_KERNEL, /* kernel */
  SAY_PREDICT,   /* question */
  SAY_RUN,       /* as, kernel, sizes */
  SAY_ORDER,
  SAY_UNIT,   /* unit */
  SAY_ANSWER, /* answer */
  SAY_WHY,
  SAY_SOLUTION,
  SAY_HINT,     /* i */
  SAY_RECORDED, /* tag, card, date */
  SAY_MENU,
  SAY_MENU_ASK,
  SAY_NOT_WRITTEN,
  SAY_BROKEN,  /* sentence */
  SAY_DONE,    /* k, n */
  SAY_UNKNOWN, /* word */
  SAY_KEYS,
  SAY_KEYS_CHOICE, /* last letter */
  SAY_KEYS_NUMBER,
  SAY_KEYS_ORDER,
  SAY_KEYS_PREDICT,
  SAY_KEYS_RUN,
  SAY_NO_MORE_HINTS,
  SAY_LAST_STEP,
  SAY_FIRST_STEP,
  SAY_RIGHT,
  SAY_WRONG,
  SAY_PREDICTED, /* value */
  SAY_NO_IDEA,
  SAY_FIRST_PREDICT,
  SAY_RUNNING,    /* kernel */
  SAY_RAN,        /* kernel, speed, time */
  SAY_RAN_ROOF,   /* share, roof */
  SAY_RUN_FAILED, /* what */
  SAY_RUN_WRONG,  /* what was wrong */
  SAY_CANCELLED,
  SAY_COUNTED, /* name, sectors, sectors a request */
  SAY_SAMPLED, /* blocks run, blocks */
  SAY_COUNTED_ALL,
  SAY_AGAINST_COUNT,
  SAY_MEASURED,    /* value */
  SAY_AGAINST,     /* predicted, factor */
  SAY_IN_BAND,     /* low, high */
  SAY_OUT_OF_BAND, /* low, high */
  SAY_BYE,
  SAYINGS
};

/* The sentence with %1, %2 and %3 replaced (NULL counts as ""). What SAY_BROKEN and SAY_RUN_WRONG
 * are given is a sentence of the layers below, in English. The caller frees. */
char *sayings_fill(enum saying s, enum lang lang, const char *a, const char *b, const char *c);

#endif
