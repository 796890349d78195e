#include "bench/xray_trace.h"

#include "base/json.h"
#include <stdlib.h>
#include <string.h>

static void add_text(struct str *out, const char *key, const char *text) {
  cJSON *s = cJSON_CreateString(text);
  char *quoted = json_print(s);
  str_addf(out, ",\"%s\":%s", key, quoted);
  free(quoted);
  cJSON_Delete(s);
}

void xray_trace_add(struct str *out, const struct xray_event *e) {
  const char *slash = strrchr(e->file, '/');
  str_addf(out, "{\"block\":[%lld,%lld,%lld],\"warp\":%d", (long long)e->block[0],
           (long long)e->block[1], (long long)e->block[2], e->warp);
  add_text(out, "op", e->op);
  if (e->line > 0) {
    add_text(out, "file", slash ? slash + 1 : e->file);
    str_addf(out, ",\"line\":%d", e->line);
  }
  str_addf(out, ",\"mask\":%u", e->mask);
  if (e->address) {
    add_text(out, "array", e->array);
    str_addf(out, ",\"bytes\":%d,\"offsets\":[", e->bytes);
    for (int i = 0; i < 32; i++) {
      str_add(out, i ? "," : "");
      if (e->mask >> i & 1)
        str_addf(out, "%lld", (long long)e->address[i]);
      else
        str_add(out, "null");
    }
    str_addc(out, ']');
  }
  str_add(out, "}\n");
}
