/* Small readers that the loaders of lesson.json share: each checks a type and says file and line.
 */
#ifndef MM_LESSON_LOAD_H
#define MM_LESSON_LOAD_H

#include "lesson/lesson.h"

enum { LOAD_MAX_BYTES = 1 << 20, LOAD_STEPS = 64, LOAD_ITEMS = 64, LOAD_LIST = 64 };

/* Where a loader is: the document for messages, and the sentence. Functions return false once *err
 * is set, and nothing is freed: the owner frees the half-filled struct. */
struct load {
  const json_doc *doc;
  struct err *err;
};

/* "key" must be an array (of at most max); a missing one is *out = NULL, *n = 0 and true. */
bool load_array(const struct load *ld, const cJSON *obj, const char *key, int max,
                const cJSON **out, int *n);

/* A cleaned copy of a string member, not empty. Optional ones leave *out NULL. */
bool load_string(const struct load *ld, const cJSON *obj, const char *key, bool required,
                 char **out);

/* A string that is an id: a-z 0-9 - and (dots) '.', at most 63 bytes. */
bool load_id(const struct load *ld, const cJSON *obj, const char *key, bool dots, char **out);

/* A member {"en","zh"}, both there and not empty. An absent optional one leaves NULLs. */
bool load_text2(const struct load *ld, const cJSON *obj, const char *key, bool required,
                struct text2 *out);
bool load_text2_node(const struct load *ld, const cJSON *node, const char *what, struct text2 *out);
void load_text2_free(struct text2 *t);

/* A member that is an expression, as text; numbers are taken too. */
bool load_expr(const struct load *ld, const cJSON *obj, const char *key, bool required, char **out);
bool load_expr_node(const struct load *ld, const cJSON *node, const char *what, char **out);

/* An array of strings. */
bool load_strings(const struct load *ld, const cJSON *obj, const char *key, char ***out, int *n);
void load_strings_free(char **s, int n);

/* A number member that is finite and between low and high; absent: left as it is. */
bool load_number(const struct load *ld, const cJSON *obj, const char *key, double low, double high,
                 double *out);

/* An object of numbers. */
bool load_vars(const struct load *ld, const cJSON *obj, const char *key, struct expr_vars *out);

/* True if text is a name that expressions can use: a letter or _, then letters, digits, _. */
bool load_is_name(const char *text);

#endif
