/* Any text as PTX: no crash, nothing beyond the budget, no memory kept. */
#include "../fuzz/replay.h"
#include "../fuzz/xray_fuzz.c"

static const struct replay_plan plan = {{"tests/fuzz/corpus/xray"}, ".ptx", 140, 3000};

#include "../fuzz/replay_test.h"
