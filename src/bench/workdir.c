#include "bench/workdir.h"

#include "base/alloc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "mmtutor-"

/* The process in "mmtutor-PID-xxxxxx", 0 if it is another name. */
static long owner(const char *name) {
  if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
    return 0;
  char *end;
  long pid = strtol(name + sizeof PREFIX - 1, &end, 10);
  return *end == '-' && pid > 0 ? pid : 0;
}

static bool dead(long pid) { return kill((pid_t)pid, 0) != 0 && errno == ESRCH; }

/* A directory of this user's, and not a link to one. */
static bool ours(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Only files are in there; anything else keeps the directory. */
static bool remove_dir(const char *path) {
  DIR *d = opendir(path);
  if (!d)
    return false;
  for (struct dirent *e; (e = readdir(d));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      unlinkat(dirfd(d), e->d_name, 0);
  closedir(d);
  return rmdir(path) == 0;
}

int workdir_sweep(const char *tmp) {
  DIR *d = opendir(tmp);
  int n = 0;
  if (!d)
    return 0;
  for (struct dirent *e; (e = readdir(d));) {
    long pid = owner(e->d_name);
    if (!pid || !dead(pid))
      continue;
    char *path = alloc_printf("%s/%s", tmp, e->d_name);
    n += ours(path) && remove_dir(path);
    free(path);
  }
  closedir(d);
  return n;
}

char *workdir_make(const char *tmp) {
  workdir_sweep(tmp);
  char *dir = alloc_printf("%s/" PREFIX "%ld-XXXXXX", tmp, (long)getpid());
  if (mkdtemp(dir))
    return dir;
  int why = errno;
  free(dir);
  errno = why;
  return NULL;
}
