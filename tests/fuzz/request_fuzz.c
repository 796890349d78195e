/* Fuzz target: any line as a request for an x-ray and as its result; what was read is made again
 * and must be read again. */
#include "bench/xray_request.h"
#include "bench/xray_result.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void want(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "request_fuzz: %s\n", what);
  abort();
}

static void as_request(const cJSON *line) {
  struct xray_request q, again;
  struct err err = {{0}};
  if (!xray_request_read(line, &q, &err)) {
    want(err.text[0] != '\0', "refused without a sentence");
    return;
  }
  cJSON *made = xray_request_make(1, &q);
  want(xray_request_read(made, &again, &err), "what was made is refused");
  want(q.M == again.M && q.ndefines == again.ndefines && q.sample == again.sample,
       "what was made is something else");
  cJSON_Delete(made);
}

static void as_result(const cJSON *line) {
  struct xray_result r;
  struct err err = {{0}};
  xray_result_init(&r);
  if (xray_result_from_json(line, &r, &err)) {
    cJSON *made = xray_result_to_json(&r);
    char *text = cJSON_PrintUnformatted(made);
    want(text != NULL, "a result that cannot be written");
    free(text);
    cJSON_Delete(made);
    xray_result_done(&r);
  } else {
    want(err.text[0] != '\0', "refused without a sentence");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cJSON *line = cJSON_ParseWithLength((const char *)data, size);
  if (!line)
    return 0;
  as_request(line);
  as_result(line);
  cJSON_Delete(line);
  return 0;
}
