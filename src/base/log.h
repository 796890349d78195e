/* A log file for fault reports ($MMTUTOR_LOG, or none). Never the terminal. */
#ifndef MM_BASE_LOG_H
#define MM_BASE_LOG_H

void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
