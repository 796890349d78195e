/* Runs a test program under the stand-ins for NVIDIA's libraries (tests/fixtures/fake). */
#ifndef MM_TESTS_FAKE_LIBS_H
#define MM_TESTS_FAKE_LIBS_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Builds the stand-ins and starts this program again with them on the library path and FAKE_DIR
 * set. Returns only if that cannot be: with the exit code. */
static inline int fake_libs_start(char **argv, const char *what) {
  char dir[] = "/tmp/mmtutor-fake-XXXXXX", command[512], file[256];
  if (!mkdtemp(dir))
    return 1;
  snprintf(command, sizeof command, "sh tests/fixtures/fake/build.sh %s >&2", dir);
  if (system(command)) {
    printf("1..1\nok 1 - %s # SKIP the stand-ins cannot be built here\n", what);
    return 0;
  }
  snprintf(file, sizeof file, "%s/compilations", dir);
  setenv("FAKE_NVRTC_COUNT", file, 1);
  setenv("FAKE_DIR", dir, 1);
  setenv("LD_LIBRARY_PATH", dir, 1);
  setenv("XDG_CACHE_HOME", dir, 1);
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  unsetenv("CUDA_VISIBLE_DEVICES");
  execv("/proc/self/exe", argv);
  return 1;
}

/* Takes them away; the exit code. */
static inline int fake_libs_end(int failed) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", getenv("FAKE_DIR"));
  return system(command) ? 1 : failed;
}

#endif
