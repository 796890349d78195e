#include "bench/cuda_find.h"
#include "base/log.h"
#include "base/str.h"
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loads every file of dir that matches: dlopen of the same name by the library itself then finds
 * it, although the directory is on nobody's search path. */
static void load_companions(const char *dir, const char *pattern) {
  char path[1200];
  glob_t found;
  snprintf(path, sizeof path, "%s/%s", dir, pattern);
  if (glob(path, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (!dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_GLOBAL))
        log_line("%s: %s", found.gl_pathv[i], dlerror());
  globfree(&found);
}

static void *open_in(const struct cuda_find *what, const char *dir, char out[1024]) {
  char path[1200];
  for (int i = 0; what->sonames[i]; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, what->sonames[i]);
    FILE *f = fopen(path, "rb");
    if (!f)
      continue;
    fclose(f);
    if (what->companions[i])
      load_companions(dir, what->companions[i]);
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (handle) {
      snprintf(out, 1024, "%s", dir);
      return handle;
    }
    log_line("%s: %s", path, dlerror());
  }
  return NULL;
}

static void *open_matching(const struct cuda_find *what, const char *pattern, char out[1024]) {
  void *handle = NULL;
  glob_t found;
  if (glob(pattern, GLOB_ONLYDIR, NULL, &found) == 0)
    for (size_t i = found.gl_pathc; !handle && i > 0; i--)
      handle = open_in(what, found.gl_pathv[i - 1], out);
  globfree(&found);
  return handle;
}

static void directory_of(void *handle, char out[1024]) {
  struct link_map *map = NULL;
  out[0] = 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map || !strchr(map->l_name, '/'))
    return;
  snprintf(out, 1024, "%s", map->l_name);
  *strrchr(out, '/') = 0;
}

static void *open_by_loader(const struct cuda_find *what, char out[1024]) {
  for (int i = 0; what->sonames[i]; i++) {
    void *handle = dlopen(what->sonames[i], RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
      continue;
    directory_of(handle, out);
    if (what->companions[i] && out[0])
      load_companions(out, what->companions[i]);
    return handle;
  }
  return NULL;
}

/* $variable + tail, or NULL if the variable is not set. */
static void *open_below(const struct cuda_find *what, const char *variable, const char *tail,
                        char out[1024]) {
  const char *base = getenv(variable);
  if (!base || !*base)
    return NULL;
  char pattern[1024];
  snprintf(pattern, sizeof pattern, "%s/%s", base, tail);
  return open_matching(what, pattern, out);
}

static void *open_wheel(const struct cuda_find *what, char out[1024]) {
  static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "HOME"};
  static const char *const under[] = {"lib", "lib", ".local/lib"};
  static const char *const fixed[] = {
      "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages",
      "/usr/lib/python3*/dist-packages", "/opt/*/lib/python3*/site-packages",
      "/opt/*/.venv/lib/python3*/site-packages"};
  const char *wheels[] = {"cu13", what->wheel};
  void *handle = open_below(what, "CONDA_PREFIX", "lib", out);
  char tail[512];
  for (int w = 0; !handle && w < 2; w++) {
    for (int i = 0; !handle && i < 3; i++) {
      snprintf(tail, sizeof tail, "%s/python3*/site-packages/nvidia/%s/lib", under[i], wheels[w]);
      handle = open_below(what, variables[i], tail, out);
    }
    for (size_t i = 0; !handle && i < sizeof fixed / sizeof *fixed; i++) {
      snprintf(tail, sizeof tail, "%s/nvidia/%s/lib", fixed[i], wheels[w]);
      handle = open_matching(what, tail, out);
    }
  }
  return handle;
}

static void *open_named(const struct cuda_find *what, char out[1024], bool *named) {
  const char *path = what->variable ? getenv(what->variable) : NULL;
  *named = path && *path;
  if (!*named)
    return NULL;
  const char *slash = strrchr(path, '/');
  char dir[1024];
  snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 0, path);
  if (dir[0])
    for (int i = 0; what->sonames[i]; i++)
      if (what->companions[i] && !strcmp(slash + 1, what->sonames[i]))
        load_companions(dir, what->companions[i]);
  void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (handle)
    snprintf(out, 1024, "%s", dir);
  return handle;
}

void *cuda_find_open(const struct cuda_find *what, char dir[1024], struct err *err) {
  bool named;
  dir[0] = 0;
  void *handle = open_named(what, dir, &named);
  if (!handle && named) {
    err_set(err, "%s could not be opened from $%s: %s.", what->name, what->variable, dlerror());
    return NULL;
  }
  if (!handle)
    handle = open_below(what, "CUDA_HOME", "lib64", dir);
  if (!handle)
    handle = open_below(what, "CUDA_PATH", "lib64", dir);
  if (!handle)
    handle = open_by_loader(what, dir);
  if (!handle)
    handle = open_in(what, "/usr/local/cuda/lib64", dir);
  if (!handle)
    handle = open_wheel(what, dir);
  if (!handle) {
    struct str names = {0};
    for (int i = 0; what->sonames[i]; i++)
      str_addf(&names, "%s%s", i ? ", " : "", what->sonames[i]);
    err_set(err,
            "%s is not here: none of %s in $CUDA_HOME/lib64, on the loader's path, in "
            "/usr/local/cuda/lib64 or in a pip wheel.",
            what->name, names.data);
    str_free(&names);
  }
  return handle;
}
