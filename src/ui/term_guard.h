/* Gives the terminal back however the program ends, and turns signals into bytes that a poll loop
 * can wait for. No curses here; one terminal per process. */
#ifndef MM_UI_TERM_GUARD_H
#define MM_UI_TERM_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the modes of terminal `fd` and the bytes (at most 256) that undo what the screen will
 * switch on, and takes over the signals. INT TERM HUP QUIT WINCH TSTP CONT come out of
 * term_guard_take (a second one of the first four, while the first waits, ends the process at
 * once); those ignored from outside stay so. SEGV BUS FPE ILL ABRT restore the terminal, print a
 * line to report and end the process by that signal. What is printed to stderr meanwhile is kept
 * and shown by term_guard_stop, if stderr is a terminal. False if there are no descriptors left. */
bool term_guard_start(int fd, const char *undo, size_t n);

/* Whether the screen is in use now, that is, whether there is something to give back. */
void term_guard_screen(bool on);

/* The descriptor to poll; the next signal that came, 0 if none. */
int term_guard_fd(void);
int term_guard_take(void);

/* Stops the process as TSTP would have done (the screen is given back already); returns when it
 * goes on. */
void term_guard_suspend(void);

/* Signals as they were before, stderr as it was, kept lines printed. */
void term_guard_stop(void);

#endif
