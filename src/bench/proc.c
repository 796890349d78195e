#include "bench/proc.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* A pipe whose ends are above 2 (a parent may run without stdin) and close-on-exec. */
static bool pipe_above(int fd[2]) {
  int raw[2];
  if (pipe(raw) != 0)
    return false;
  for (int i = 0; i < 2; i++)
    fd[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
  close(raw[0]);
  close(raw[1]);
  if (fd[0] >= 0 && fd[1] >= 0)
    return true;
  for (int i = 0; i < 2; i++)
    if (fd[i] >= 0)
      close(fd[i]);
  return false;
}

/* A file without a name: it never fills up and never blocks its writer. */
static int nameless_file(void) {
#ifdef __linux__
  int fd = memfd_create("mmtutor-worker-stderr", MFD_CLOEXEC);
#else
  char name[] = "/tmp/mmtutor-XXXXXX";
  int fd = mkstemp(name);
  if (fd >= 0)
    unlink(name);
#endif
  if (fd < 0)
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return -1;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return high;
}

/* In the child, between fork and exec: only async-signal-safe calls. */
static void child_exec(const char *const *argv, pid_t parent, const int fd[4]) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent)
    _exit(126);
  for (int i = 0; i < 3; i++)
    if (dup2(fd[i], i) < 0)
      _exit(126);
  static const int reset[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGPIPE,
                              SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
  for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
    signal(reset[i], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  union {
    const char *const *in;
    char *const *out;
  } args = {.in = argv}; /* execv's type is older than const */
  execv(argv[0], args.out);
  int e = errno;
  ssize_t told = write(fd[3], &e, sizeof e);
  _exit(told == (ssize_t)sizeof e ? 127 : 126);
}

static void close_all(int *fd, int n) {
  for (int i = 0; i < n; i++)
    if (fd[i] >= 0)
      close(fd[i]);
}

/* fd: in read, in write, out read, out write, status read, status write. */
static bool fork_child(const char *const *argv, struct proc *p, int *fd, struct err *err) {
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) {
    const int use[4] = {fd[0], fd[3], p->err, fd[5]};
    child_exec(argv, parent, use);
  }
  close(fd[5]);
  fd[5] = -1;
  if (pid < 0)
    return err_set(err, "No process could be started (%s). Close some programs and try again.",
                   strerror(errno));
  int e = 0;
  ssize_t n;
  do
    n = read(fd[4], &e, sizeof e);
  while (n < 0 && errno == EINTR);
  if (n > 0) {
    waitpid(pid, NULL, 0);
    return err_set(err, "%s could not be started: %s. Check that the file is there and executable.",
                   argv[0], strerror(e));
  }
  p->pid = pid;
  return true;
}

bool proc_spawn(const char *const *argv, struct proc *p, struct err *err) {
  int fd[6] = {-1, -1, -1, -1, -1, -1};
  *p = (struct proc){.pid = 0, .in = -1, .out = -1, .err = nameless_file()};
  if (p->err < 0 || !pipe_above(fd) || !pipe_above(fd + 2) || !pipe_above(fd + 4)) {
    err_set(err, "No pipe could be made (%s). Close some programs and try again.", strerror(errno));
    close_all(fd, 6);
    proc_close(p);
    return false;
  }
  if (!fork_child(argv, p, fd, err)) {
    close_all(fd, 6);
    proc_close(p);
    return false;
  }
  close(fd[0]);
  close(fd[3]);
  close(fd[4]);
  p->in = fd[1];
  p->out = fd[2];
  fcntl(p->in, F_SETFL, O_WRONLY | O_NONBLOCK);
  fcntl(p->out, F_SETFL, O_RDONLY | O_NONBLOCK);
  return true;
}

void proc_kill(const struct proc *p) {
  if (p->pid > 1 && kill(-p->pid, SIGKILL) != 0)
    kill(p->pid, SIGKILL);
}

void proc_close(struct proc *p) {
  close_all((int[]){p->in, p->out, p->err}, 3);
  p->in = p->out = p->err = -1;
}

bool proc_reap(pid_t pid, int *status) {
  pid_t got;
  do
    got = waitpid(pid, status, WNOHANG);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    *status = 0; /* someone else reaped it: nothing is known */
  return got != 0;
}

void proc_describe(int status, char *out, size_t size) {
  if (!WIFSIGNALED(status)) {
    snprintf(out, size, "exit code %d", WEXITSTATUS(status));
    return;
  }
  int sig = WTERMSIG(status);
  char name[64];
  snprintf(name, sizeof name, "%s", strsignal(sig));
  name[0] = (char)tolower((unsigned char)name[0]);
  snprintf(out, size, "signal %d (%s)", sig, name);
}

char *proc_last_words(const struct proc *p) {
  struct stat st;
  enum { TAIL = 400 };
  if (p->err < 0 || fstat(p->err, &st) != 0 || st.st_size <= 0)
    return alloc_str("");
  char buf[TAIL];
  off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
  ssize_t n = pread(p->err, buf, sizeof buf, from);
  size_t skip = 0;
  while (n > 0 && from > 0 && skip < (size_t)n && ((unsigned char)buf[skip] & 0xC0) == 0x80)
    skip++;
  char *text = utf8_clean(buf + skip, n > 0 ? (size_t)n - skip : 0);
  for (size_t len = strlen(text); len > 0 && isspace((unsigned char)text[len - 1]); len--)
    text[len - 1] = '\0';
  return text;
}
