/* The command line of `mmtutor xray`, read into a request. */
#ifndef MM_APP_XRAY_ARGS_H
#define MM_APP_XRAY_ARGS_H

#include "bench/xray_request.h"
#include "lesson/lesson.h"

struct xray_args {
  struct xray_request request; /* strings belong to argv, or to this struct */
  const char *name, *worker, *trace;
  char *source, *dir, *file; /* of a file: text, directory, name without directory */
  enum lang lang;
  int width;  /* 0: of the terminal */
  int colour; /* 1 always, 0 auto, -1 never */
  bool json, verbose, ascii, help, list;
};

/* Reads argv. 0, or 2 after the sentence was printed. */
int xray_args_read(int argc, char **argv, struct xray_args *a);

/* Reads the file, or finds the kernel, that a->name names. False with a sentence. */
bool xray_args_load(struct xray_args *a, struct err *err);
void xray_args_done(struct xray_args *a);

#endif
