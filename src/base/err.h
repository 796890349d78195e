/* A failure told as one full sentence that also names the next step. Library code fills one of
 * these and returns false or NULL; it never prints and never exits. */
#ifndef MM_BASE_ERR_H
#define MM_BASE_ERR_H

struct err {
  char text[1024];
};

/* Writes the sentence, cleaned for a screen (utf8_clean) and clipped at the buffer on a UTF-8
 * boundary. err may be NULL. Always returns
 * false, so that `return err_set(err, ...)` reads well. */
_Bool err_set(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before the sentence that is there already. err may be NULL. Returns false. */
_Bool err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
