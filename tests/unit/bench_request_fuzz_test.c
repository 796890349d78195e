/* Any line as a request for an x-ray, or as its result. */
#include "../fuzz/replay.h"
#include "../fuzz/request_fuzz.c"

static const struct replay_plan plan = {{"tests/fuzz/corpus/request"}, ".json", 5, 20000};

#include "../fuzz/replay_test.h"
