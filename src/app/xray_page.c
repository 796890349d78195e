#include "app/xray_page.h"

#include "base/alloc.h"
#include "base/units.h"
#include "base/utf8.h"
#include <math.h>
#include <stdlib.h>

enum { MARGIN = 12 };

void xray_page_pad(struct xray_page *p, int n) {
  while (n-- > 0)
    str_addc(&p->out, ' ');
}

void xray_page_ink(struct xray_page *p, enum xray_ink ink, const char *text) {
  static const char *const codes[] = {"", "2", "1;36", "1;31", "32"};
  if (!p->colour || ink == INK_PLAIN || !*text) {
    str_add(&p->out, text);
    return;
  }
  str_addf(&p->out, "\x1b[%sm%s\x1b[0m", codes[ink], text);
}

void xray_page_left(struct xray_page *p, enum xray_ink ink, const char *text, int cols) {
  xray_page_ink(p, ink, text);
  xray_page_pad(p, cols - utf8_width(text));
}

void xray_page_right(struct xray_page *p, enum xray_ink ink, const char *text, int cols) {
  xray_page_pad(p, cols - utf8_width(text));
  xray_page_ink(p, ink, text);
}

/* Wraps text; the first line stands where the page is now, at column `indent`. */
static void wrapped(struct xray_page *p, int indent, enum xray_ink ink, const char *text) {
  struct utf8_line *lines;
  size_t n = utf8_wrap(text, p->width - indent < 20 ? 20 : p->width - indent, &lines);
  for (size_t i = 0; i < n; i++) {
    char *line = alloc_strn(text + lines[i].start, lines[i].len);
    xray_page_pad(p, i && lines[i].len ? indent : 0);
    xray_page_ink(p, ink, line);
    str_addc(&p->out, '\n');
    free(line);
  }
  free(lines);
}

void xray_page_item(struct xray_page *p, enum xray_word label, enum xray_ink ink,
                    const char *text) {
  char *name = xray_page_say(p, label, NULL, NULL);
  xray_page_left(p, INK_DIM, name, MARGIN);
  wrapped(p, MARGIN, ink, text);
  free(name);
}

void xray_page_text(struct xray_page *p, int indent, enum xray_ink ink, const char *text) {
  xray_page_pad(p, indent);
  wrapped(p, indent, ink, text);
}

const char *xray_page_mark(const struct xray_page *p, bool wrong) {
  return wrong ? (p->glyphs ? "✗" : "x") : p->glyphs ? "▸" : ">";
}

char *xray_page_clip(const struct xray_page *p, const char *text, int cols) {
  if (utf8_width(text) <= cols)
    return alloc_str(text);
  size_t fit = utf8_clip(text, cols - 1, NULL);
  return alloc_printf("%.*s%s", (int)fit, text, p->glyphs ? "…" : "~");
}

char *xray_page_say(const struct xray_page *p, enum xray_word w, const char *a, const char *b) {
  return xray_words(w, p->lang, a, b, NULL, NULL);
}

char *xray_page_exact(double v) { return units_exact(round(v)); }

char *xray_page_short(double v) {
  static const char prefix[] = " kMGTPE";
  int k = 0;
  if (v < 9999.5)
    return alloc_printf("%.0f", v);
  while (v >= 999.5 && k + 2 < (int)sizeof prefix) {
    v /= 1000;
    k++;
  }
  return alloc_printf("%.*f%c", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, prefix[k]);
}

char *xray_page_ratio(double over, double under) {
  if (!(under > 0))
    return alloc_str("");
  double v = over / under;
  return alloc_printf("%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
}

void xray_page_print(struct xray_page *p, FILE *f) {
  char *ascii = p->ascii && p->out.data ? utf8_ascii(p->out.data) : NULL;
  const char *text = ascii ? ascii : p->out.data;
  if (text)
    fputs(text, f);
  free(ascii);
  str_clear(&p->out);
}
