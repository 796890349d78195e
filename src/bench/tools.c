#include "bench/tools.h"

#include "base/alloc.h"
#include "base/paths.h"
#include "bench/cuda_api.h"
#include "bench/nvrtc.h"
#include "bench/ref_cblas.h"
#include "bench/ref_cublas.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[TOOLS_COUNT] = {"cc",    "cblas",  "driver",
                                               "nvrtc", "cublas", "counters"};

const char *tools_name(enum tools_id id) { return names[id]; }

static void put(char *out, size_t size, const char *text) {
  snprintf(out, size, "%s", text ? text : "");
}

/* The first of the usual compiler names on $PATH. */
static void probe_cc(struct tools_thing *t) {
  static const char *const compilers[] = {"cc", "gcc", "clang"};
  const char *env = getenv("PATH");
  char *path = alloc_str(env ? env : "/usr/bin:/bin"), *save = NULL;
  for (char *dir = strtok_r(path, ":", &save); dir && !t->found[0];
       dir = strtok_r(NULL, ":", &save))
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers && !t->found[0]; i++) {
      char file[sizeof t->path];
      int n = snprintf(file, sizeof file, "%s/%s", dir, compilers[i]);
      if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0) {
        put(t->found, sizeof t->found, compilers[i]);
        put(t->path, sizeof t->path, file);
      }
    }
  free(path);
  if (!t->found[0])
    put(t->why, sizeof t->why,
        "No C compiler (cc, gcc, clang) is on the PATH; kernels of your own in C need one.");
}

static void probe_cblas(struct tools_thing *t) {
  struct err why = {""};
  char name[64], version[64];
  if (!ref_cblas_load(&why)) {
    put(t->why, sizeof t->why, why.text);
    return;
  }
  ref_cblas_name(name, version);
  snprintf(t->found, sizeof t->found, "%s %s", name, version);
}

static void probe_cuda(struct tools *tools) {
  struct err why = {""};
  char dir[1024] = "";
  struct tools_thing *t = &tools->thing[TOOLS_DRIVER];
  int version = 0;
  const struct cuda_api *cu = cuda_api_driver(&why);
  if (!cu)
    put(t->why, sizeof t->why, why.text);
  else if (cu->driver_version(&version) == CUDA_OK)
    snprintf(t->found, sizeof t->found, "for CUDA %d.%d", version / 1000, version % 1000 / 10);
  t = &tools->thing[TOOLS_NVRTC];
  const nvrtc *rtc = nvrtc_open(&why);
  if (rtc)
    snprintf(t->found, sizeof t->found, "NVRTC %s", nvrtc_version(rtc));
  else
    put(t->why, sizeof t->why, why.text);
  put(t->path, sizeof t->path, rtc ? nvrtc_include(rtc) : "");
  t = &tools->thing[TOOLS_CUBLAS];
  if (ref_cublas_probe(dir, &why)) {
    put(t->found, sizeof t->found, "cuBLAS");
    snprintf(t->path, sizeof t->path, "%.*s", (int)sizeof t->path - 1, dir);
  } else
    put(t->why, sizeof t->why, why.text);
}

static void probe_counters(struct tools_thing *t) {
  char *text = paths_read("/proc/driver/nvidia/params", 1 << 20, NULL, NULL);
  const char *line = text ? strstr(text, "RmProfilingAdminOnly:") : NULL;
  if (!line)
    put(t->why, sizeof t->why, "The NVIDIA driver does not say who may read hardware counters.");
  else if (strtol(line + strlen("RmProfilingAdminOnly:"), NULL, 10) == 0 || geteuid() == 0)
    put(t->found, sizeof t->found, "this account may read hardware counters");
  else
    put(t->why, sizeof t->why,
        "Only administrators may read hardware counters (RmProfilingAdminOnly is 1).");
  free(text);
}

void tools_probe(struct tools *t) {
  memset(t, 0, sizeof *t);
  probe_cc(&t->thing[TOOLS_CC]);
  probe_cblas(&t->thing[TOOLS_CBLAS]);
  probe_cuda(t);
  probe_counters(&t->thing[TOOLS_COUNTERS]);
}

cJSON *tools_to_json(const struct tools *t) {
  cJSON *o = cJSON_CreateObject();
  for (int i = 0; i < TOOLS_COUNT; i++) {
    cJSON *one = cJSON_AddObjectToObject(o, names[i]);
    const struct tools_thing *thing = &t->thing[i];
    if (thing->found[0])
      cJSON_AddStringToObject(one, "found", thing->found);
    if (thing->path[0])
      cJSON_AddStringToObject(one, "path", thing->path);
    if (thing->why[0])
      cJSON_AddStringToObject(one, "why", thing->why);
  }
  return o;
}

void tools_from_json(const cJSON *obj, struct tools *t) {
  memset(t, 0, sizeof *t);
  for (int i = 0; i < TOOLS_COUNT; i++) {
    const cJSON *one = json_get(obj, names[i]);
    struct tools_thing *thing = &t->thing[i];
    put(thing->found, sizeof thing->found, json_str(one, "found"));
    put(thing->path, sizeof thing->path, json_str(one, "path"));
    put(thing->why, sizeof thing->why, json_str(one, "why"));
  }
}
