#include "app/nvrtc_advice.h"

#include "base/alloc.h"
#include "base/paths.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RELEASE_MAX = 64 * 1024 };

/* The value of a KEY=value line, without quotes; "" if it is not there. */
static void value_of(const char *text, const char *key, char out[64]) {
  size_t n = strlen(key);
  out[0] = '\0';
  for (const char *line = text; line && *line;) {
    const char *end = strchr(line, '\n');
    size_t len = end ? (size_t)(end - line) : strlen(line);
    if (len > n && strncmp(line, key, n) == 0 && line[n] == '=') {
      const char *v = line + n + 1;
      size_t k = len - n - 1;
      if (k >= 2 && (*v == '"' || *v == '\'')) {
        v++;
        k -= 2;
      }
      snprintf(out, 64, "%.*s", (int)k, v);
      return;
    }
    line = end ? end + 1 : NULL;
  }
}

static bool has_word(const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
      return true;
  return false;
}

/* How the distribution itself has it; "" where it does not, or only as a whole toolkit of another
 * source. Debian has it up to CUDA 12 and in a section that is off by default. */
static const char *own_package(const char *id, const char *like, double version) {
  if (strcmp(id, "debian") == 0)
    return version > 0 && version < 13
               ? "apt install libnvrtc11.2 (section non-free of Debian), or "
               : "apt install libnvrtc12 (section non-free of Debian), or ";
  if (strcmp(id, "ubuntu") == 0)
    return version > 0 && version < 24
               ? ""
               : "apt install libnvrtc12 (section multiverse of Ubuntu), or ";
  if (strcmp(id, "arch") == 0 || has_word(like, "arch"))
    return "pacman -S cuda (the whole toolkit), or ";
  return "";
}

char *nvrtc_advice(const char *os_release, size_t n, int driver_major) {
  char *text = os_release ? alloc_strn(os_release, n) : alloc_str("");
  char id[64], like[64], version[64];
  value_of(text, "ID", id);
  value_of(text, "ID_LIKE", like);
  value_of(text, "VERSION_ID", version);
  free(text);
  /* A driver of CUDA 12 does not take the machine code of NVRTC 13. */
  const char *wheel = driver_major == 12 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc";
  return alloc_printf("The smallest way: %spip install --user %s (a virtual environment that is "
                      "active is looked at too). Without it built-in kernels run, and the x-ray "
                      "takes a file as .ptx, made anywhere by nvcc -ptx -lineinfo.",
                      own_package(id, like, strtod(version, NULL)), wheel);
}

char *nvrtc_advice_here(int driver_major) {
  size_t n = 0;
  char *text = paths_read("/etc/os-release", RELEASE_MAX, &n, NULL);
  char *advice = nvrtc_advice(text, n, driver_major);
  free(text);
  return advice;
}
