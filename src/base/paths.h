/* Where files are (XDG, the data directory) and how they are read and written. */
#ifndef MM_BASE_PATHS_H
#define MM_BASE_PATHS_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Full path of a file of this program's config, state, data or cache directory
 * ($XDG_*_HOME/mmtutor/name; relative values are ignored; else below the home directory of $HOME or
 * the password file). NULL if there is no home. The caller frees. Nothing is created. */
char *paths_config(const char *name);
char *paths_state(const char *name);
char *paths_user_data(const char *name);
char *paths_cache(const char *name);

/* Remembers argv[0]'s directory for the data search; call once from main. */
void paths_set_program(const char *argv0);

/* The running program's own file, for exec. The caller frees. NULL if it cannot be known. */
char *paths_program(void);

/* The first directory that holds rel ("lessons"): $MMTUTOR_DATA, the executable's directory,
 * PREFIX/share/mmtutor. It is given without rel behind it. NULL if none has it, or if rel leads out
 * of a directory ("/etc", "../x"). The caller frees. */
char *paths_data(const char *rel);

/* Text of a shipped file ("assets/strings.json"): from the data directories, else the copy embedded
 * in the program. *n gets its bytes; the text is NUL-terminated; the caller frees. NULL: err. */
char *paths_asset(const char *rel, size_t *n, struct err *err);

/* Reads a regular file of at most max bytes, NUL-terminated. NULL with err. The caller frees. */
char *paths_read(const char *path, size_t max, size_t *n, struct err *err);

/* Writes through links: resolves the target, writes a temporary file beside it, fsync, rename,
 * fsync of the directory. Directories are made with 0700. False with err; the old file is then
 * untouched. */
bool paths_write(const char *path, const void *data, size_t n, struct err *err);

/* Moves a damaged file aside as NAME.bad-DATE and gives the new name (the caller frees) or NULL. */
char *paths_set_aside(const char *path, struct err *err);

/* An advisory lock on path + ".lock"; a descriptor to close, or -1 if another instance holds it or
 * it cannot be made (then err says so). */
int paths_lock(const char *path, struct err *err);

#endif
