#include "ui/term_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

enum { SIGNALS = 12 };

static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct {
  int fd, pipe[2], stderr_was, kept; /* descriptors; -1 = none */
  struct termios modes;
  bool has_modes, at_exit;
  char undo[256];
  size_t undo_len;
  struct sigaction before[SIGNALS];
  volatile sig_atomic_t screen, ending, started;
} guard;

static char crash_stack[64 * 1024];

/* ---- what a signal handler may do: only write, read, lseek, tcsetattr, signal, raise */

static void write_all(int fd, const char *s, size_t n) {
  while (n > 0) {
    ssize_t k = write(fd, s, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return;
    s += k;
    n -= (size_t)k;
  }
}

static void restore(void) {
  if (!guard.screen)
    return;
  guard.screen = 0;
  write_all(guard.fd, guard.undo, guard.undo_len);
  if (guard.has_modes)
    tcsetattr(guard.fd, TCSANOW, &guard.modes);
}

/* Puts stderr back and shows what was printed to it meanwhile. */
static void show_kept(void) {
  if (guard.kept < 0)
    return;
  char part[512];
  ssize_t k;
  dup2(guard.stderr_was, STDERR_FILENO);
  lseek(guard.kept, 0, SEEK_SET);
  while ((k = read(guard.kept, part, sizeof part)) > 0)
    write_all(STDERR_FILENO, part, (size_t)k);
  close(guard.kept);
  guard.kept = -1;
}

static void end_by(int sig) {
  sigset_t one;
  signal(sig, SIG_DFL);
  sigemptyset(&one);
  sigaddset(&one, sig);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  raise(sig);
}

static const char *crash_name(int sig) {
  switch (sig) {
  case SIGSEGV:
    return "SIGSEGV";
  case SIGBUS:
    return "SIGBUS";
  case SIGFPE:
    return "SIGFPE";
  case SIGILL:
    return "SIGILL";
  default:
    return "SIGABRT";
  }
}

static void say_crash(int sig) {
  static const char a[] = "mmtutor " MMTUTOR_VERSION " ended by a fault of its own (",
                    b[] = "). Please report this line with what you did last.\n";
  const char *name = crash_name(sig);
  write_all(STDERR_FILENO, a, sizeof a - 1);
  write_all(STDERR_FILENO, name, strlen(name));
  write_all(STDERR_FILENO, b, sizeof b - 1);
}

static void on_crash(int sig) {
  restore();
  show_kept();
  say_crash(sig);
  end_by(sig);
}

static bool ends(int sig) {
  return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static void on_signal(int sig) {
  int saved = errno;
  if (ends(sig) && guard.ending) {
    /* The loop has not answered the first one. */
    restore();
    show_kept();
    end_by(sig);
  }
  if (ends(sig))
    guard.ending = 1;
  unsigned char byte = (unsigned char)sig;
  if (write(guard.pipe[1], &byte, 1) < 0) {
    /* Full: there are enough signals waiting already. */
  }
  errno = saved;
}

/* ---- the rest */

static void at_exit(void) {
  restore();
  if (guard.started)
    show_kept();
}

static void keep_stderr(void) {
  guard.kept = guard.stderr_was = -1;
  if (!isatty(STDERR_FILENO))
    return;
  int was = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  int kept = was < 0 ? -1 : memfd_create("mmtutor-stderr", MFD_CLOEXEC);
  if (kept < 0) {
    if (was >= 0)
      close(was);
    return;
  }
  guard.stderr_was = was;
  guard.kept = kept;
  dup2(kept, STDERR_FILENO);
}

static void take_signals(void) {
  struct sigaction act = {.sa_handler = on_signal};
  int n = 0;
  sigfillset(&act.sa_mask);
  act.sa_flags = SA_RESTART;
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++, n++) {
    sigaction(asked[i], NULL, &guard.before[n]);
    if (guard.before[n].sa_handler != SIG_IGN || asked[i] == SIGWINCH)
      sigaction(asked[i], &act, NULL);
  }
  stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
  sigaltstack(&stack, NULL);
  act.sa_handler = on_crash;
  act.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++, n++)
    sigaction(crashes[i], &act, &guard.before[n]);
}

bool term_guard_start(int fd, const char *undo, size_t n) {
  if (pipe2(guard.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
    return false;
  guard.fd = fd;
  guard.has_modes = tcgetattr(fd, &guard.modes) == 0;
  guard.undo_len = n < sizeof guard.undo ? n : sizeof guard.undo;
  memcpy(guard.undo, undo, guard.undo_len);
  guard.screen = guard.ending = 0;
  keep_stderr();
  take_signals();
  if (!guard.at_exit)
    atexit(at_exit);
  guard.at_exit = true;
  guard.started = 1;
  return true;
}

void term_guard_screen(bool on) { guard.screen = on; }

int term_guard_fd(void) { return guard.pipe[0]; }

int term_guard_take(void) {
  unsigned char byte;
  return read(guard.pipe[0], &byte, 1) == 1 ? byte : 0;
}

void term_guard_suspend(void) {
  struct sigaction handler, plain = {.sa_handler = SIG_DFL};
  sigaction(SIGTSTP, &plain, &handler);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &handler, NULL);
}

void term_guard_stop(void) {
  int n = 0;
  restore();
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
    sigaction(asked[i], &guard.before[n++], NULL);
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
    sigaction(crashes[i], &guard.before[n++], NULL);
  show_kept();
  if (guard.stderr_was >= 0)
    close(guard.stderr_was);
  guard.stderr_was = -1;
  close(guard.pipe[0]);
  close(guard.pipe[1]);
  guard.started = 0;
}
