#include "lesson/progress.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "base/utf8.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA = 1, MAX_ANSWERS = 200, MAX_BYTES = 64 << 20 };

/* The file itself is kept as JSON, so that members which this version does not know survive. */
struct progress {
  cJSON *root;
  char *path; /* NULL: memory only */
  int lock;   /* -1 if none */
  bool changed;
};

/* ---- opening */

static cJSON *fresh(void) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddNumberToObject(root, "schema", SCHEMA);
  return root;
}

static void memory_only(progress *p) {
  free(p->path);
  p->path = NULL;
  if (p->lock >= 0)
    close(p->lock);
  p->lock = -1;
}

static void set_aside(progress *p, const char *why, struct err *notice) {
  struct err err = {""};
  char *kept = paths_set_aside(p->path, &err);
  if (kept) {
    err_set(notice, "The progress file was damaged and is kept as %s; a new one begins. (%s)", kept,
            why);
  } else {
    memory_only(p);
    err_set(notice, "The progress file is damaged and cannot be moved: %s Nothing will be saved.",
            err.text);
  }
  free(kept);
}

/* Sub-objects of another type than an object would be lost or crash later: that is damage. */
static bool sound(const cJSON *root) {
  static const char *const objects[] = {"lessons", "items", "settings"};
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
    const cJSON *o = json_get(root, objects[i]);
    if (o && !cJSON_IsObject(o))
      return false;
  }
  return true;
}

/* Without the lock the file belongs to another instance and is only read. */
static void take_file(progress *p, struct err *notice) {
  struct err err = {""};
  struct stat st;
  if (stat(p->path, &st) != 0 && errno == ENOENT)
    return;
  json_doc *doc = json_load(p->path, MAX_BYTES, &err);
  const cJSON *root = doc ? json_root(doc) : NULL;
  double schema = root ? json_num(root, "schema", -1) : -1;
  if (schema > SCHEMA) {
    err_set(notice,
            "%s was written by a newer mmtutor (schema %.0f). It is left as it is, and "
            "nothing will be saved; update mmtutor.",
            p->path, schema);
    memory_only(p);
  } else if (doc && cJSON_IsObject(root) && schema == SCHEMA && sound(root)) {
    cJSON_Delete(p->root);
    p->root = cJSON_Duplicate(root, true);
  } else if (!doc && access(p->path, R_OK) != 0) {
    memory_only(p);
    err_set(notice, "%s Nothing will be saved.", err.text);
  } else if (p->lock >= 0) {
    set_aside(p, doc ? "not the form of a progress file" : err.text, notice);
  }
  json_free(doc);
}

progress *progress_open(bool in_memory, struct err *notice) {
  progress *p = alloc_zero(1, sizeof *p);
  struct err err = {""};
  if (notice)
    notice->text[0] = '\0';
  p->root = fresh();
  p->lock = -1;
  if (in_memory)
    return p;
  p->path = paths_state("progress.json");
  if (!p->path) {
    err_set(notice, "There is no home directory, so progress will not be saved. Set HOME or "
                    "XDG_STATE_HOME.");
    return p;
  }
  p->lock = paths_lock(p->path, &err);
  if (p->lock < 0) {
    err_set(notice, "Progress will not be saved: %s", err.text);
    take_file(p, NULL);
    memory_only(p);
    return p;
  }
  take_file(p, notice);
  return p;
}

bool progress_save(progress *p, struct err *err) {
  if (!p->path || !p->changed)
    return true;
  char *text = json_print(p->root);
  bool ok = paths_write(p->path, text, strlen(text), err);
  free(text);
  p->changed = !ok;
  return ok;
}

void progress_close(progress *p) {
  if (!p)
    return;
  progress_save(p, NULL);
  memory_only(p);
  cJSON_Delete(p->root);
  free(p);
}

/* ---- members, made on the way */

/* cJSON has no const to take away, but json_get returns const for readers; this one is for writers.
 */
static cJSON *member(cJSON *obj, const char *key) {
  cJSON *m = cJSON_GetObjectItemCaseSensitive(obj, key);
  if (m && cJSON_IsObject(m))
    return m;
  cJSON_DeleteItemFromObjectCaseSensitive(obj, key);
  return cJSON_AddObjectToObject(obj, key);
}

static void set(progress *p, cJSON *obj, const char *key, cJSON *value) {
  cJSON_DeleteItemFromObjectCaseSensitive(obj, key);
  cJSON_AddItemToObject(obj, key, value);
  p->changed = true;
}

static cJSON *lesson_of(progress *p, const char *lesson) {
  return member(member(p->root, "lessons"), lesson);
}

static const cJSON *lesson_read(const progress *p, const char *lesson) {
  return json_get(json_get(p->root, "lessons"), lesson);
}

/* ---- steps */

void progress_step_done(progress *p, const char *lesson, const char *step) {
  if (!progress_step_is_done(p, lesson, step))
    set(p, member(lesson_of(p, lesson), "done"), step, cJSON_CreateTrue());
}

bool progress_step_is_done(const progress *p, const char *lesson, const char *step) {
  return json_bool(json_get(lesson_read(p, lesson), "done"), step, false);
}

int progress_steps_done(const progress *p, const struct lesson *l) {
  int n = 0;
  for (int i = 0; i < l->nsteps; i++)
    n += progress_step_is_done(p, l->id, l->steps[i].id);
  return n;
}

void progress_set_at(progress *p, const char *lesson, const char *step) {
  set(p, lesson_of(p, lesson), "at", cJSON_CreateString(step));
  set(p, p->root, "last", cJSON_CreateString(lesson));
}

const char *progress_at(const progress *p, const char *lesson) {
  return json_str(lesson_read(p, lesson), "at");
}

const char *progress_last_lesson(const progress *p) { return json_str(p->root, "last"); }

/* ---- answers */

/* A copy that fits and is clean: typed text may hold anything. */
static cJSON *clean_string(const char *text) {
  char *clean = utf8_clean(text, strlen(text));
  cJSON *s = cJSON_CreateString(clean);
  free(clean);
  return s;
}

void progress_answer(progress *p, const char *item, const struct progress_answer *a) {
  cJSON *of = member(member(p->root, "items"), item), *one = cJSON_CreateObject();
  cJSON *list = cJSON_GetObjectItemCaseSensitive(of, "answers");
  char seed[24], date[24];
  if (!cJSON_IsArray(list)) {
    cJSON_DeleteItemFromObjectCaseSensitive(of, "answers");
    list = cJSON_AddArrayToObject(of, "answers");
  }
  clock_iso(date, sizeof date);
  snprintf(seed, sizeof seed, "%llu",
           (unsigned long long)a->seed); /* over 2^53 no number holds it */
  cJSON_AddItemToObject(one, "text", clean_string(a->text));
  cJSON_AddStringToObject(one, "seed", seed);
  cJSON_AddBoolToObject(one, "right", a->right);
  if (a->tag[0])
    cJSON_AddItemToObject(one, "tag", clean_string(a->tag));
  cJSON_AddStringToObject(one, "date", a->date[0] ? a->date : date);
  cJSON_AddItemToArray(list, one);
  while (cJSON_GetArraySize(list) > MAX_ANSWERS)
    cJSON_DeleteItemFromArray(list, 0);
  double total = json_num(of, "total", 0);
  set(p, of, "total", cJSON_CreateNumber(total + 1));
}

static const cJSON *answers_of(const progress *p, const char *item) {
  return json_get(json_get(json_get(p->root, "items"), item), "answers");
}

int progress_answers(const progress *p, const char *item) {
  const cJSON *list = answers_of(p, item);
  double total = json_num(json_get(json_get(p->root, "items"), item), "total", 0);
  int kept = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
  return total > kept && total < 1e9 ? (int)total : kept;
}

static void copy(char *to, size_t size, const char *from) {
  size_t n = 0;
  if (from) { /* whole characters only */
    char *clean = utf8_clean(from, strlen(from));
    n = strlen(clean);
    if (n >= size)
      for (n = size - 1; n > 0 && ((unsigned char)clean[n] & 0xC0) == 0x80;)
        n--;
    memcpy(to, clean, n);
    free(clean);
  }
  to[n] = '\0';
}

bool progress_last_answer(const progress *p, const char *item, struct progress_answer *out) {
  const cJSON *list = answers_of(p, item);
  if (!cJSON_IsArray(list) || !list->child)
    return false;
  const cJSON *last = list->child->prev; /* cJSON keeps the tail there */
  const char *seed = json_str(last, "seed");
  memset(out, 0, sizeof *out);
  copy(out->text, sizeof out->text, json_str(last, "text"));
  copy(out->tag, sizeof out->tag, json_str(last, "tag"));
  copy(out->date, sizeof out->date, json_str(last, "date"));
  out->seed = seed ? strtoull(seed, NULL, 10) : 0;
  out->right = json_bool(last, "right", false);
  return true;
}

/* ---- predictions: a number, or "none" for 'no idea' */

void progress_predict(progress *p, const char *lesson, const char *step, double value) {
  cJSON *v = isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateString("none");
  set(p, member(lesson_of(p, lesson), "predictions"), step, v);
}

bool progress_prediction(const progress *p, const char *lesson, const char *step, double *value) {
  const cJSON *v = json_get(json_get(lesson_read(p, lesson), "predictions"), step);
  if (!cJSON_IsNumber(v) && !cJSON_IsString(v))
    return false;
  *value = cJSON_IsNumber(v) ? v->valuedouble : NAN;
  return true;
}

/* ---- settings */

char *progress_get_setting(const progress *p, const char *name) {
  const char *value = json_str(json_get(p->root, "settings"), name);
  return value ? alloc_str(value) : NULL;
}

void progress_set_setting(progress *p, const char *name, const char *value) {
  set(p, member(p->root, "settings"), name, clean_string(value));
}
