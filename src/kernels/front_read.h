/* What the readers of front matter share: checks of one JSON value, each refused with its line. */
#ifndef MM_KERNELS_FRONT_READ_H
#define MM_KERNELS_FRONT_READ_H

#include "base/json.h"
#include "kernels/kernel.h"

/* What every reader of one file needs. */
struct front_reader {
  struct kernel *k; /* being filled */
  const json_doc *doc;
  struct err *err;
};

/* Letters, digits, _ and those of `extra`, no digit first, 1 to max characters. */
bool front_read_is_name(const char *s, size_t max, const char *extra);

/* Whether s is in a list that ends with NULL. */
bool front_read_in_list(const char *s, const char *const *list);

/* A whole number from lo to hi. */
bool front_read_whole(const cJSON *node, double lo, double hi);

/* Refuses members whose key is not in the list, and what is no object; `what` names the object. */
bool front_read_only(const struct front_reader *r, const cJSON *obj, const char *what,
                     const char *const *keys);

/* A member that must be a string; it belongs to the document. NULL where it is none. */
const char *front_read_string(const struct front_reader *r, const cJSON *obj, const char *key);

/* Takes a string or a number as an expression over M N K, parameters, sms and smem_sm. *out gets a
 * copy, to be freed by the caller whether it is right or not. */
bool front_read_expr(const struct front_reader *r, const cJSON *node, const char *what, char **out);

/* An array of strings; *list gets copies, which the caller frees. No node is an empty list. */
bool front_read_strings(const struct front_reader *r, const cJSON *node, const char *what,
                        char ***list, int *n);

#endif
