#!/bin/sh
# full.sh: all that a GPU machine can show, in one go (about five minutes): proof and table, times of a
# cancel, the tour of the interface in tmux. Needs build/gpu (pack.sh). Results under $OUT.
cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-build/gpu_proof}
mkdir -p "$OUT"
export OUT MMTUTOR="$PWD/build/gpu/mmtutor.sh" MMTUTOR_DATA="$PWD"
WARMUP=3 SECONDS_EACH=1 PARTS="machine faults cache flat table ptx wrong shapes tools" \
  timeout -k 5 "${PROOF_LIMIT:-300}" sh tests/gpu/gpu_proof.sh
timeout 40 python3 tests/gpu/cancel_times.py "$MMTUTOR" 3 | tee "$OUT/cancel.txt"
mkdir -p "$OUT/tour"
TOUR_SHOTS=$OUT/tour TOUR_LIMIT=30 timeout 90 python3 tests/tty/tour_test.py >"$OUT/tour.txt" 2>&1
grep -v '^#' "$OUT/tour.txt"
tar -C "$OUT" -cf "$OUT/tour.tar" tour && rm -rf "$OUT/tour"
