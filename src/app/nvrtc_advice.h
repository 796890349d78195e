/* The smallest way to get NVRTC on this machine's distribution. */
#ifndef MM_APP_NVRTC_ADVICE_H
#define MM_APP_NVRTC_ADVICE_H

#include <stddef.h>

/* Sentences for `doctor`, from the text of /etc/os-release (n bytes; NULL: the distribution is not
 * known) and the CUDA version that the driver is for (0: there is no driver). The caller frees. */
char *nvrtc_advice(const char *os_release, size_t n, int driver_major);

/* The same for this machine. */
char *nvrtc_advice_here(int driver_major);

#endif
