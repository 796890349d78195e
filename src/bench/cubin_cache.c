#include "bench/cubin_cache.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/str.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is one line "mmtutor-cubin 1 SHA LOGBYTES", LOGBYTES of log, then the image; SHA is over
 * both. */
static const char magic[] = "mmtutor-cubin 1 ";
enum { MAX_FILE = 64 << 20, MAX_ENTRIES = 400 };

static char *path_of(const char *key) {
  char name[128];
  snprintf(name, sizeof name, "cubin/%.64s", key);
  return paths_cache(name);
}

void cubin_cache_key(const char *source, const char *const *options, int noptions, const char *cc,
                     const char *compiler, const char *driver, char key[65]) {
  struct str all = {0};
  str_addf(&all, "1\n%s\n%s\n%s\n", cc, compiler, driver);
  for (int i = 0; i < noptions; i++)
    str_addf(&all, "%s\n", options[i]);
  str_addf(&all, "\n%s", source);
  hash_sha256(all.data, all.len, key);
  str_free(&all);
}

static bool unpack(const char *data, size_t n, char **image, size_t *size, char **log) {
  char sha[65], found[65];
  size_t nlog;
  int used = 0;
  if (n < sizeof magic || memcmp(data, magic, sizeof magic - 1) ||
      sscanf(data + sizeof magic - 1, "%64s %zu%n", sha, &nlog, &used) != 2)
    return false;
  size_t head = sizeof magic - 1 + (size_t)used + 1;
  if (head > n || nlog >= n - head)
    return false;
  hash_sha256(data + head, n - head, found);
  if (strcmp(sha, found))
    return false;
  *log = nlog ? alloc_strn(data + head, nlog) : NULL;
  *size = n - head - nlog;
  *image = alloc_zero(*size + 1, 1);
  memcpy(*image, data + head + nlog, *size);
  return true;
}

bool cubin_cache_get(const char *key, char **image, size_t *size, char **log) {
  char *path = path_of(key);
  if (!path)
    return false;
  size_t n = 0;
  char *data = access(path, R_OK) ? NULL : paths_read(path, MAX_FILE, &n, NULL);
  bool ok = data && unpack(data, n, image, size, log);
  if (data && !ok) {
    log_line("cache entry %s is damaged and was removed", path);
    unlink(path);
  }
  free(data);
  free(path);
  return ok;
}

/* Removes the oldest entry when there are many: a cache must not grow for ever. */
static void trim(const char *path) {
  char *dir = alloc_str(path);
  *strrchr(dir, '/') = 0;
  DIR *d = opendir(dir);
  char oldest[512] = "";
  time_t when = 0;
  int count = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    char name[512];
    struct stat st;
    if (snprintf(name, sizeof name, "%s/%.64s", dir, e->d_name) >= (int)sizeof name ||
        stat(name, &st) || !S_ISREG(st.st_mode))
      continue;
    if (!count++ || st.st_mtime < when) {
      when = st.st_mtime;
      strcpy(oldest, name);
    }
  }
  if (d)
    closedir(d);
  if (count > MAX_ENTRIES)
    unlink(oldest);
  free(dir);
}

void cubin_cache_put(const char *key, const char *image, size_t size, const char *log) {
  char *path = path_of(key);
  if (!path)
    return;
  size_t nlog = log ? strlen(log) : 0;
  struct str body = {0}, file = {0};
  char sha[65];
  str_addn(&body, log ? log : "", nlog);
  str_addn(&body, image, size);
  hash_sha256(body.data, body.len, sha);
  str_addf(&file, "%s%s %zu\n", magic, sha, nlog);
  str_addn(&file, body.data, body.len);
  struct err err;
  if (paths_write(path, file.data, file.len, &err))
    trim(path);
  else
    log_line("cache: %s", err.text);
  str_free(&body);
  str_free(&file);
  free(path);
}

void cubin_cache_drop(const char *key) {
  char *path = path_of(key);
  if (path)
    unlink(path);
  free(path);
}
