#include "bench/worker_xray.h"

#include "base/utf8.h"
#include "bench/lines.h"
#include "bench/worker_job.h"
#include "bench/worker_out.h"
#include "bench/xray_job.h"
#include <stdlib.h>
#include <string.h>

enum { LOG_LIMIT = 128 * 1024, ROOM = 4096 };

static void on_compiled(void *ctx, const struct device_built *built) {
  const int *id = ctx;
  struct device_built b = *built;
  b.log = NULL;
  if (built->log && built->log[0]) {
    size_t n = strlen(built->log);
    b.log = utf8_clean(built->log, n > LOG_LIMIT ? LOG_LIMIT : n);
  }
  cJSON *ev = wire_event(*id, "compile");
  wire_built_put(ev, &b);
  worker_out_send(ev);
  free(b.log);
}

static void on_trace(void *ctx, const char *lines, size_t n) {
  const int *id = ctx;
  (void)n;
  cJSON *ev = wire_event(*id, "trace");
  cJSON_AddStringToObject(ev, "text", lines);
  worker_out_send(ev);
}

/* An event must fit into a line: texts of the source go first, then the lines. */
static void make_fit(cJSON *ev) {
  for (int step = 0; step < 2; step++) {
    char *text = json_print(ev);
    size_t n = strlen(text);
    free(text);
    if (n + ROOM < LINES_MAX)
      return;
    cJSON *lines = cJSON_GetObjectItemCaseSensitive(ev, "lines"), *l;
    if (step == 1)
      cJSON_DeleteItemFromObject(ev, "lines");
    else
      cJSON_ArrayForEach(l, lines) cJSON_DeleteItemFromObject(l, "text");
  }
}

cJSON *worker_xray(const catalog *kernels, int id, const cJSON *line, bool (*stopped)(void)) {
  struct xray_request q;
  struct err err;
  struct device_fault fault;
  if (!xray_request_read(line, &q, &err))
    return worker_job_refuse(id, err.text);
  const struct kernel *rung = q.source ? NULL : catalog_find(kernels, q.kernel);
  if (!q.source && !rung) {
    catalog_unknown(kernels, q.kernel, &err);
    wire_fault_set(&fault, "no_kernel", err.text, "", "`mmtutor run --list` names them all.");
    return worker_job_error(id, &fault);
  }
  struct xray_result result;
  const struct xray_job_sink sink = {&id, stopped, on_compiled, on_trace};
  cJSON *ev;
  if (xray_job_run(&q, rung, &sink, &result, &fault)) {
    ev = wire_event(id, "result");
    wire_merge(ev, xray_result_to_json(&result));
    make_fit(ev);
  } else {
    ev = worker_job_error(id, &fault);
  }
  xray_result_done(&result);
  return ev;
}
