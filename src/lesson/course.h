/* The course: the nineteen lessons in their order, written or not. */
#ifndef MM_LESSON_COURSE_H
#define MM_LESSON_COURSE_H

#include "lesson/lesson.h"

enum { COURSE_LESSONS = 19 };
struct course {
  struct course_entry {
    char dir[32], id[24];
    struct lesson *lesson; /* NULL: not written yet, or damaged */
    char *broken;          /* the sentence with file and line, or NULL */
    struct text2 title;    /* known even where the lesson is not written */
    int minutes;           /* 0 where not known */
  } entry[COURSE_LESSONS];
};

/* Loads all lessons below the data directory's lessons/ (or embedded). One damaged lesson does not
 * harm the others. Cannot fail. */
struct course *course_load(void);
void course_free(struct course *c);

/* By id ("tiling"), directory ("06-tiling") or order ("6"). NULL if unknown. */
const struct course_entry *course_find(const struct course *c, const char *id);

/* The directory that an id has in the course ("06-tiling"), NULL if it has none. */
const char *course_dir(const char *id);

#endif
