/* Any bytes as a cubin. */
#include "../fuzz/replay.h"
#include "../fuzz/sass_fuzz.c"

static const struct replay_plan plan = {{"tests/fuzz/corpus/sass"}, ".cubin", 2, 20000};

#include "../fuzz/replay_test.h"
