/* The parts of the worker protocol (docs/contracts.md 4) as C values and as JSON, in both
 * directions. */
#ifndef MM_BENCH_WIRE_H
#define MM_BENCH_WIRE_H

#include "bench/client.h"

enum { WIRE_VERSION = 1 };

/* A request as the worker understood it. Strings belong to the parsed line. */
struct wire_request {
  int id;
  const char *req;
  int of;     /* cancel */
  bool tools; /* hello */
};

/* False with a sentence for a line that is no request; r->id is then the id if one could be read,
 * else 0. */
bool wire_request(const cJSON *line, struct wire_request *r, struct err *err);

/* Members of a request by their key: *out is the fallback (NULL, for a text) where it is absent or
 * null; false with a sentence that names the key if it is of another kind or outside of [min, max].
 * A fallback of NAN means that the whole number must be there. */
bool wire_want_whole(const cJSON *obj, const char *key, double min, double max, double fallback,
                     double *out, struct err *err);
bool wire_want_number(const cJSON *obj, const char *key, double min, double max, double fallback,
                      double *out, struct err *err);
bool wire_want_bool(const cJSON *obj, const char *key, bool fallback, bool *out, struct err *err);
bool wire_want_text(const cJSON *obj, const char *key, bool needed, const char **out,
                    struct err *err);

/* A run request. Strings belong to the parsed line. */
struct wire_run {
  const char *device, *kernel, *source, *target; /* source and target may be NULL */
  const cJSON *params;                           /* an object of numbers, or NULL */
  int64_t M, N, K;
  double seconds, warmup_s, prediction;
  bool reference, cold, counters;
  int threads;
  bool isa_auto;
  enum catalog_isa isa;
  uint64_t seed;
};

/* Reads and checks a run request's fields; false with a sentence that names the field. */
bool wire_run_read(const cJSON *line, struct wire_run *run, struct err *err);

/* The request line of a run; the caller deletes. */
cJSON *wire_run_make(int id, const struct client_run *run);

/* {"id":id,"ev":ev}; the caller deletes. */
cJSON *wire_event(int id, const char *ev);

/* Moves every member of `from` into `to` and deletes `from`. */
void wire_merge(cJSON *to, cJSON *from);

void wire_built_put(cJSON *ev, const struct device_built *built);
void wire_built_read(const cJSON *ev,
                     struct device_built *built); /* log is a copy; the caller frees */
void wire_verify_put(cJSON *ev, const struct result_verify *v);
void wire_verify_read(const cJSON *ev, struct result_verify *v);
void wire_fault_put(cJSON *ev, const struct device_fault *fault);
void wire_fault_read(const cJSON *ev, struct device_fault *fault);

/* A fault from a code and sentences; why and next may be "". */
void wire_fault_set(struct device_fault *fault, const char *code, const char *what, const char *why,
                    const char *next);

#endif
