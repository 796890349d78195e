/* Sentences of the libraries in Chinese. The layers below the screen make English sentences, which
 * logs and --json keep; what shows one to a learner asks here for it in the language of the screen.
 * assets/sentences.json holds the templates: [{"en":"{0} must be from {1} to {2}.","zh":"..."}].
 * {n} stands for one or more bytes, as few as fit; the Chinese may give them in another order, and
 * writes {n+} where the value is a sentence itself and has a template of its own. */
#ifndef MM_BASE_SENTENCES_H
#define MM_BASE_SENTENCES_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

/* The text in Chinese if zh, else as it is. A text that matches no template as a whole is tried
 * line by line and sentence by sentence, also behind "NAME: "; what is not known stays
 * English. Of several templates that match, the one with the most words of its own counts. The
 * caller frees. Cannot fail: without the file, or with a damaged one, everything stays English. For
 * one thread only, the one that draws. */
char *sentences_in(const char *english, bool zh);

/* The same with templates of one's own. sentences_read gives NULL, and what is wrong in err, if the
 * text is no list; an entry that is no template is left out: without both texts, with hardly a word
 * between its places, or with a place in the Chinese that the English lacks. */
typedef struct sentences sentences;
sentences *sentences_read(const char *json, size_t n, struct err *err);
int sentences_count(const sentences *s);
char *sentences_say(const sentences *s, const char *english);
void sentences_free(sentences *s);

#endif
