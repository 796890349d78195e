/* JSON by libcjson, read with limits: size, depth, duplicate keys, embedded NUL, invalid UTF-8 and
 * numbers that are not JSON or overflow are refused with file:line. */
#ifndef MM_BASE_JSON_H
#define MM_BASE_JSON_H

#include "base/err.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct json_doc json_doc;

/* Parses n bytes; name stands in messages ("lessons/06-tiling/lesson.json"). One BOM is accepted.
 * Limits: max_bytes (8 MiB if 0), depth 64. NULL with "name:line: what" in err. Free with
 * json_free. */
json_doc *json_parse(const char *text, size_t n, const char *name, size_t max_bytes,
                     struct err *err);

/* Reads and parses a file; a file over max_bytes is refused before it is read. */
json_doc *json_load(const char *path, size_t max_bytes, struct err *err);
void json_free(json_doc *doc);

/* Cleans every string and name in it for a screen (utf8_clean): text of another machine. */
void json_clean(json_doc *doc);
const cJSON *json_root(const json_doc *doc);
const char *json_name(const json_doc *doc);

/* The line (from 1) on which a node of this document begins. */
int json_line(const json_doc *doc, const cJSON *node);

/* Fills err with "name:line: sentence". Returns false. */
bool json_fail(const json_doc *doc, const cJSON *node, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Members of an object: NULL, or the fallback, if absent or of another type. */
const cJSON *json_get(const cJSON *obj, const char *key);
const char *json_str(const cJSON *obj, const char *key); /* NULL if it is no string */
double json_num(const cJSON *obj, const char *key, double fallback);
bool json_bool(const cJSON *obj, const char *key, bool fallback);

/* Adds a number only if it is finite: what is not known is absent. */
void json_put_num(cJSON *obj, const char *key, double value);

/* One line, no spaces, no NUL; integers up to 2^53 in full. The caller frees with free(). */
char *json_print(const cJSON *node);

#endif
