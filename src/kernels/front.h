/* Reads the front matter of a kernel file (docs/contracts.md 1) into a struct kernel. */
#ifndef MM_KERNELS_FRONT_H
#define MM_KERNELS_FRONT_H

#include "base/json.h"
#include "kernels/kernel.h"

/* Where the front matter lies in a source: bytes [json, json_end) are the JSON object, `end` is the
 * first byte behind the comment. False if the source does not begin with one. */
struct front_span {
  size_t json, json_end, end;
};
bool front_find(const char *source, size_t n, struct front_span *span);

/* Parses the JSON so that its lines are those of the file. NULL with "path:line: what" in err; free
 * with json_free. */
json_doc *front_json(const char *source, size_t n, const char *path, struct err *err);

/* Fills k (zeroed, with target and source set) from the document; variant NULL or "" is the plain
 * rung. False with "path:line: what"; what was filled is still the kernel's to free. */
bool front_fill(struct kernel *k, const json_doc *doc, const char *variant, struct err *err);

#endif
