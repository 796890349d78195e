/* What `mmtutor xray` says, in both languages. */
#ifndef MM_APP_XRAY_WORDS_H
#define MM_APP_XRAY_WORDS_H

#include "lesson/lesson.h"
#include "sim/xray/xray.h"

enum xray_word {
  XW_KERNEL,
  XW_LAUNCH,
  XW_COMPILED,
  XW_OCCUPANCY,
  XW_TOOK,
  XW_VERIFY,
  XW_EXACT_LABEL,
  XW_PRINTED,
  XW_LEFT,
  XW_NOTE,
  XW_BLOCKS, /* %3: the plural's s */
  XW_ALL_RUN,
  XW_SAMPLED,
  XW_SOME_RUN,
  XW_FOR_ARCH,
  XW_MS,
  XW_REGISTERS,
  XW_SHARED,
  XW_NO_SPILL,
  XW_SPILL,
  XW_DYNAMIC,
  XW_PER_SM,
  XW_ONE_PER_SM,
  XW_HELD_BY,
  XW_RIGHT,
  XW_WRONG,
  XW_NOT_CHECKED,
  XW_NOT_FINISHED,
  XW_ASKED_NONE,
  XW_ERROR_BOUND,
  XW_CHECKED,
  XW_IS_EXACT,
  XW_IS_PTX,
  XW_IS_OTHER,
  XW_IS_PTX_FFMA,
  XW_IS_PTX_MIX,
  XW_NOT_CERTIFIED,
  XW_GLOBAL,
  XW_SHARED_MEMORY,
  XW_COL_REQUESTS,
  XW_COL_SECTORS,
  XW_COL_WAVES,
  XW_COL_CONFLICTS,
  XW_COL_FMA,
  XW_COL_FLOP,
  XW_LEGEND_REQUESTS,
  XW_LEGEND_SECTORS,
  XW_LEGEND_WAVES,
  XW_LEGEND_CONFLICTS,
  XW_LEGEND_HOT,
  XW_NO_LINES,
  XW_TOTALS,
  XW_T_REQUESTS,
  XW_T_SECTORS,
  XW_T_EACH,
  XW_T_WAVES,
  XW_T_CONFLICTS,
  XW_GLD,
  XW_GST,
  XW_LDS,
  XW_STS,
  XW_WORK,
  XW_FMA,
  XW_EXECUTED,
  XW_NEEDED,
  XW_CONTROL,
  XW_BARRIERS,
  XW_DIVERGENT,
  XW_PTX_MARK,
  XW_NO_PROBLEM,
  XW_NO_PROBLEM_SEEN,
  XW_PROBLEMS,
  XW_PROBLEM,
  XW_WARNING,
  XW_AT,
  XW_TIMES,
  XW_LEFT_N,
  XW_LEFT_LIST,
  XW_COUNTS,
  XW_TRACED,
  XRAY_WORDS
};

/* The words with %1 to %4 filled in (NULL: ""). The caller frees. */
char *xray_words(enum xray_word w, enum lang lang, const char *a, const char *b, const char *c,
                 const char *d);

/* What a problem of this kind means, and what to do about it: one or two sentences. Static. */
const char *xray_words_title(enum xray_kind k, enum lang lang);
const char *xray_words_advice(enum xray_kind k, enum lang lang);

#endif
