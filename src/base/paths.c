#include "base/paths.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { max_asset = 32 << 20, max_links = 40 };

static char *program_dir; /* from argv[0]; used only where /proc is not mounted */
static char *program_file;

/* ---- texts for messages */

/* A path as a sentence may hold it: no control characters, and short enough to leave room. */
static char *shown(const char *path) {
  size_t n = strlen(path), most = 300;
  char *tail = n > most ? alloc_printf("...%s", path + n - most) : alloc_str(path);
  for (char *c = tail; *c; c++)
    if (*c == '\n' || *c == '\r')
      *c = '?';
  char *clean = utf8_clean(tail, strlen(tail));
  free(tail);
  return clean;
}

static const char *next_step(int error) {
  switch (error) {
  case ENOENT:
    return "Check the name.";
  case EACCES:
  case EPERM:
    return "Check who owns it and its permissions (ls -l); a run with sudo may have left it.";
  case ENOSPC:
  case EDQUOT:
    return "Free some space and try again.";
  case EROFS:
    return "Point XDG_STATE_HOME or the command's file at a place that can be written.";
  case ENOTDIR:
    return "A file stands where a directory is needed; move it away.";
  default:
    return "Check the path and try again.";
  }
}

static bool fail_errno(struct err *err, const char *what, const char *path, int error) {
  char *name = shown(path);
  err_set(err, "Cannot %s %s: %s. %s", what, name, strerror(error), next_step(error));
  free(name);
  return false;
}

/* ---- XDG directories */

static char *home_dir(void) {
  const char *home = getenv("HOME");
  if (home && home[0] == '/')
    return alloc_str(home);
  const struct passwd *user = getpwuid(getuid());
  if (user && user->pw_dir && user->pw_dir[0] == '/')
    return alloc_str(user->pw_dir);
  return NULL;
}

static char *xdg(const char *variable, const char *below_home, const char *name) {
  const char *slash = name && *name ? "/" : "";
  const char *dir = getenv(variable);
  if (dir && dir[0] == '/')
    return alloc_printf("%s/mmtutor%s%s", dir, slash, name ? name : "");
  char *home = home_dir();
  if (!home)
    return NULL;
  char *path = alloc_printf("%s/%s/mmtutor%s%s", home, below_home, slash, name ? name : "");
  free(home);
  return path;
}

char *paths_config(const char *name) { return xdg("XDG_CONFIG_HOME", ".config", name); }
char *paths_state(const char *name) { return xdg("XDG_STATE_HOME", ".local/state", name); }
char *paths_user_data(const char *name) { return xdg("XDG_DATA_HOME", ".local/share", name); }
char *paths_cache(const char *name) { return xdg("XDG_CACHE_HOME", ".cache", name); }

/* ---- the program and its data */

/* The directory part: "." where there is none. */
static char *dir_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return alloc_str(".");
  return slash == path ? alloc_str("/") : alloc_strn(path, (size_t)(slash - path));
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void paths_set_program(const char *argv0) {
  free(program_dir);
  free(program_file);
  program_dir = program_file = NULL;
  if (!argv0 || !strchr(argv0, '/'))
    return;
  char *real = realpath(argv0, NULL);
  if (!real)
    return;
  program_file = real;
  program_dir = dir_of(real);
}

/* What a link says, or NULL where path is no link. */
static char *read_link(const char *path) {
  for (size_t size = 256; size <= 1 << 20; size *= 2) {
    char *text = alloc_zero(size, 1);
    ssize_t n = readlink(path, text, size);
    if (n >= 0 && (size_t)n < size)
      return text;
    free(text);
    if (n < 0)
      return NULL;
  }
  return NULL;
}

static char *self_exe(void) {
  char *exe = read_link("/proc/self/exe");
  return exe ? exe : program_file ? alloc_str(program_file) : NULL;
}

char *paths_program(void) {
  char *exe = self_exe();
  if (!exe || access(exe, X_OK) == 0)
    return exe;
  /* Rebuilt or removed while it runs: /proc still leads to the file that is running. */
  free(exe);
  return access("/proc/self/exe", X_OK) == 0 ? alloc_str("/proc/self/exe") : NULL;
}

static char *exe_dir(void) {
  char *exe = self_exe();
  if (!exe)
    return program_dir ? alloc_str(program_dir) : NULL;
  char *dir = dir_of(exe);
  free(exe);
  return dir;
}

/* rel stays below the directory that it is looked up in. */
static bool is_inside(const char *rel) {
  if (!*rel || *rel == '/')
    return false;
  for (const char *part = rel; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
      return false;
  }
  return true;
}

static bool holds(const char *dir, const char *rel) {
  char *path = alloc_printf("%s/%s", dir, rel);
  bool found = access(path, F_OK) == 0;
  free(path);
  return found;
}

char *paths_data(const char *rel) {
  if (!is_inside(rel))
    return NULL;
  const char *set = getenv("MMTUTOR_DATA");
  if (set && *set && holds(set, rel))
    return alloc_str(set);
  char *dir = exe_dir();
  if (dir && holds(dir, rel))
    return dir;
  free(dir);
  const char *shared = MMTUTOR_PREFIX "/share/mmtutor";
  return holds(shared, rel) ? alloc_str(shared) : NULL;
}

char *paths_asset(const char *rel, size_t *n, struct err *err) {
  char *dir = paths_data(rel);
  if (dir) {
    char *path = alloc_printf("%s/%s", dir, rel);
    char *text = paths_read(path, max_asset, n, err);
    free(path);
    free(dir);
    return text;
  }
  const struct embed_file *file = embed_find(rel);
  if (!file) {
    char *name = shown(rel);
    err_set(err, "%s is neither in the data directories nor in the program. Reinstall mmtutor.",
            name);
    free(name);
    return NULL;
  }
  if (n)
    *n = file->n;
  return alloc_strn(file->data, file->n);
}

/* ---- reading */

static bool too_big(struct err *err, const char *path, size_t max) {
  char *name = shown(path);
  err_set(err, "%s is larger than %zu bytes and was not read. Is it the right file?", name, max);
  free(name);
  return false;
}

/* Reads until the end and not by the size that stat told: files of /proc say 0. */
static char *read_all(int fd, const char *path, size_t max, size_t expect, size_t *n,
                      struct err *err) {
  size_t cap = expect + 2, len = 0;
  char *text = alloc_zero(cap, 1);
  for (;;) {
    ssize_t got = read(fd, text + len, cap - 1 - len);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      fail_errno(err, "read", path, errno);
      break;
    }
    len += (size_t)got;
    if (len > max) {
      too_big(err, path, max);
      break;
    }
    if (got == 0) {
      text[len] = '\0';
      if (n)
        *n = len;
      return text;
    }
    if (len == cap - 1)
      text = alloc_grow(text, cap *= 2, 1);
  }
  free(text);
  return NULL;
}

char *paths_read(const char *path, size_t max, size_t *n, struct err *err) {
  /* O_NONBLOCK: a fifo that nobody writes to must not stop the program. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    fail_errno(err, "open", path, errno);
    return NULL;
  }
  char *text = NULL;
  struct stat st;
  if (fstat(fd, &st) != 0)
    fail_errno(err, "read", path, errno);
  else if (!S_ISREG(st.st_mode)) {
    char *name = shown(path);
    err_set(err, "%s is %s and not a file. Give the name of a file.", name,
            S_ISDIR(st.st_mode) ? "a directory" : "a pipe or a device");
    free(name);
  } else if (st.st_size > 0 && (size_t)st.st_size > max)
    too_big(err, path, max);
  else
    text = read_all(fd, path, max, (size_t)st.st_size, n, err);
  close(fd);
  return text;
}

/* ---- writing */

/* Where a write to path ends up: follows links, also one whose target does not exist yet. */
static char *resolve(const char *path, struct err *err) {
  char *at = alloc_str(path);
  for (int i = 0; i < max_links; i++) {
    char *to = read_link(at);
    if (!to)
      return at;
    char *dir = dir_of(at);
    char *next = to[0] == '/' ? alloc_str(to) : alloc_printf("%s/%s", dir, to);
    free(dir);
    free(to);
    free(at);
    at = next;
  }
  free(at);
  fail_errno(err, "write", path, ELOOP);
  return NULL;
}

/* A run with sudo must not leave files that the user cannot write later. */
static void keep_owner(const char *path, const char *like) {
  struct stat st;
  if (geteuid() != 0 || stat(like, &st) != 0 || st.st_uid == 0)
    return;
  if (lchown(path, st.st_uid, st.st_gid) != 0)
    return; /* still a correct file, only with root as its owner */
}

static bool make_dirs(const char *dir, struct err *err) {
  struct stat st;
  if (stat(dir, &st) == 0) {
    if (S_ISDIR(st.st_mode))
      return true;
    return fail_errno(err, "use the directory", dir, ENOTDIR);
  }
  if (errno != ENOENT)
    return fail_errno(err, "use the directory", dir, errno);
  char *parent = dir_of(dir);
  bool ok = strcmp(parent, dir) == 0 || make_dirs(parent, err);
  if (ok && mkdir(dir, 0700) != 0 && errno != EEXIST)
    ok = fail_errno(err, "make the directory", dir, errno);
  else if (ok)
    keep_owner(dir, parent);
  free(parent);
  return ok;
}

static bool write_all(int fd, const char *data, size_t n) {
  while (n > 0) {
    ssize_t put = write(fd, data, n);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    data += put;
    n -= (size_t)put;
  }
  return true;
}

/* A new file beside the target, with the permissions of the old one if there is one. */
static int open_temp(const char *dir, const char *target, const struct stat *old, char **name) {
  static unsigned counter;
  for (int i = 0; i < 100; i++) {
    unsigned id = __atomic_fetch_add(&counter, 1u, __ATOMIC_RELAXED);
    *name = alloc_printf("%s/.%.200s.%ld-%u.tmp", dir, base_of(target), (long)getpid(), id);
    int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0) {
      if (old && fchmod(fd, old->st_mode & 0777) != 0) {
        close(fd);
        unlink(*name);
      } else
        return fd;
    }
    int error = errno;
    free(*name);
    *name = NULL;
    errno = error;
    if (error != EEXIST)
      break;
  }
  return -1;
}

static void sync_dir(const char *dir) {
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  (void)fsync(fd); /* some file systems cannot sync directories; the file itself is safe */
  close(fd);
}

static bool replace(const char *dir, const char *target, const struct stat *old, const void *data,
                    size_t n, struct err *err) {
  char *temp = NULL;
  int fd = open_temp(dir, target, old, &temp);
  if (fd < 0)
    return fail_errno(err, "write", target, errno);
  bool ok = write_all(fd, data, n) && fsync(fd) == 0;
  int error = errno;
  if (close(fd) != 0 && ok) {
    error = errno;
    ok = false;
  }
  if (ok) {
    keep_owner(temp, old ? target : dir);
    ok = rename(temp, target) == 0;
    error = errno;
  }
  if (ok)
    sync_dir(dir);
  else {
    unlink(temp);
    fail_errno(err, "write", target, error);
  }
  free(temp);
  return ok;
}

static bool write_target(const char *target, const void *data, size_t n, struct err *err) {
  struct stat st;
  bool exists = lstat(target, &st) == 0;
  if (!exists && errno != ENOENT)
    return fail_errno(err, "write", target, errno);
  if (exists && !S_ISREG(st.st_mode)) {
    char *name = shown(target);
    err_set(err, "%s is not a regular file, so it is not replaced. Move it away.", name);
    free(name);
    return false;
  }
  /* rename() would replace a write-protected file without a word. */
  if (exists && access(target, W_OK) != 0)
    return fail_errno(err, "write", target, errno);
  char *dir = dir_of(target);
  bool ok = make_dirs(dir, err) && replace(dir, target, exists ? &st : NULL, data, n, err);
  free(dir);
  return ok;
}

bool paths_write(const char *path, const void *data, size_t n, struct err *err) {
  size_t len = strlen(path);
  if (len == 0 || path[len - 1] == '/')
    return err_set(err, "\"%s\" names no file to write. Give the name of a file.", path);
  char *target = resolve(path, err);
  if (!target)
    return false;
  bool ok = write_target(target, data, n, err);
  free(target);
  return ok;
}

char *paths_set_aside(const char *path, struct err *err) {
  char *from = resolve(path, err);
  if (!from)
    return NULL;
  char date[32], digits[32];
  clock_iso(date, sizeof date);
  size_t n = 0;
  for (const char *c = date; *c; c++)
    if (*c != ':' && *c != '-')
      digits[n++] = *c;
  digits[n] = '\0';
  char *to = alloc_printf("%s.bad-%s", from, digits);
  struct stat st;
  for (int i = 2; i < 1000 && lstat(to, &st) == 0; i++) {
    free(to);
    to = alloc_printf("%s.bad-%s.%d", from, digits, i);
  }
  if (rename(from, to) != 0) {
    fail_errno(err, "move aside", from, errno);
    free(to);
    to = NULL;
  }
  free(from);
  return to;
}

int paths_lock(const char *path, struct err *err) {
  char *name = alloc_printf("%s.lock", path);
  char *dir = dir_of(name);
  int fd = -1;
  if (make_dirs(dir, err)) {
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
      fail_errno(err, "lock", name, errno);
    else
      keep_owner(name, dir);
  }
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      err_set(err, "Another mmtutor is running and holds %s. Close it to save from here.", path);
    else
      fail_errno(err, "lock", name, errno);
    close(fd);
    fd = -1;
  }
  free(dir);
  free(name);
  return fd;
}
