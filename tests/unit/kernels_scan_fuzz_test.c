/* Any text as a learner's file. */
#include "../fuzz/replay.h"
#include "../fuzz/scan_fuzz.c"

static const struct replay_plan plan = {
    {"tests/fuzz/corpus/scan", "tests/fixtures/learner"}, ".cu", 20, 20000};

#include "../fuzz/replay_test.h"
