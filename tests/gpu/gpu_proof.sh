#!/bin/sh
# gpu_proof.sh: what only a real GPU can show. Writes to $OUT (default build/gpu_proof):
#   runs.jsonl   every measured run, one JSON object a line
#   log.txt      every command, its exit code, its time and what it said
#   summary.txt  the table, and what was not as expected
# MMTUTOR names the program (default build/gpu/mmtutor.sh, see pack.sh, else ./mmtutor).
# PARTS picks parts: machine faults shapes cache table flat ptx wrong tools
# SIZES and SECONDS_EACH make it shorter.
cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-build/gpu_proof}
mkdir -p "$OUT"
if [ -z "${MMTUTOR:-}" ]; then
  if [ -x build/gpu/mmtutor.sh ]; then MMTUTOR=build/gpu/mmtutor.sh; else MMTUTOR=./mmtutor; fi
fi
PARTS=${PARTS:-machine faults shapes cache table flat ptx wrong tools}
SIZES=${SIZES:-512 1024 2048 4096 8192}
SECONDS_EACH=${SECONDS_EACH:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache" XDG_STATE_HOME="$scratch/state"
export XDG_CONFIG_HOME="$scratch/config"
export MMTUTOR_DATA="$PWD"
runs=$OUT/runs.jsonl log=$OUT/log.txt odd=$scratch/odd
: >"$runs"
: >"$log"
: >"$odd"

now() { date +%s.%N; }

# try WANT LABEL command...: WANT is the exit code that is right, or "any".
try() {
  want=$1 label=$2
  shift 2
  start=$(now)
  timeout -k 5 "${LIMIT:-90}" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  rc=$?
  took=$(awk "BEGIN{printf \"%.2f\", $(now) - $start}")
  {
    echo "== $label (exit $rc, $took s): $*"
    cut -c1-2000 "$scratch/out"
    cat "$scratch/err"
  } >>"$log"
  grep '^{"schema"' "$scratch/out" >>"$runs"
  if [ "$want" != any ] && [ "$rc" != "$want" ]; then
    text=$(cat "$scratch/err" "$scratch/out" | head -c 400 | tr '\n' ' ')
    echo "$label: exit $rc, not $want: $text" >>"$odd"
  fi
}
measure() { # WANT kernel arguments...
  w=$1
  shift
  try "$w" "run $*" "$MMTUTOR" run "$@" --json --seconds "$SECONDS_EACH" \
    ${WARMUP:+--warmup "$WARMUP"}
}
square() { # kernel n arguments...
  k=$1 n=$2
  shift 2
  measure 0 "$k" -M "$n" -N "$n" -K "$n" "$@"
}
said() { # text: the last command must have said it
  grep -q "$1" "$scratch/out" "$scratch/err" || echo "$label did not say '$1'" >>"$odd"
}

part_machine() {
  try any nvidia-smi nvidia-smi
  try any "nvidia-smi -q" nvidia-smi --format=csv \
    --query-gpu=name,driver_version,clocks.max.sm,power.limit,persistence_mode
  try 0 version "$MMTUTOR" --version
  try 0 doctor "$MMTUTOR" doctor
  try any hello sh -c \
    "{ echo '{\"id\":1,\"req\":\"hello\",\"v\":1}'; sleep 5; } | '$MMTUTOR' worker"
  said '"cuda:0"'
}
part_faults() {
  try 1 "no visible device" env CUDA_VISIBLE_DEVICES= "$MMTUTOR" run cuda/naive --device cuda:0
  said CUDA_VISIBLE_DEVICES
  try 1 "cuda:63" "$MMTUTOR" run cuda/naive --device cuda:63
  try 1 "out of memory" "$MMTUTOR" run cuda/add -M 131072 -N 131072
  said bytes
  try any "grid y too large" "$MMTUTOR" run cuda/naive -M 2097153 -N 1 -K 1
  said 65535
  try 0 "right after the faults" "$MMTUTOR" run cuda/naive -M 64 -N 64 -K 64 --seconds 0.1
}
part_shapes() {
  usual=$SECONDS_EACH SECONDS_EACH=0.05 WARMUP=0.05
  for size in "1 1 1" "17 33 65" "1000 1 1000" "1 1000 7" "4097 31 129" "33 4097 1"; do
    set -- $size
    for k in uncoalesced naive tiled; do
      measure 0 "cuda/$k" -M "$1" -N "$2" -K "$3"
    done
    measure 0 cuda/gemv -M "$1" -K "$3"
    measure 0 cuda/add -M "$1" -N "$2"
    measure 0 cuda/copy -M "$1" -N "$2"
  done
  SECONDS_EACH=$usual WARMUP=
}
part_cache() {
  rm -rf "$XDG_CACHE_HOME"
  try 0 "first start" "$MMTUTOR" run cuda/tiled -M 512 -N 512 -K 512 --seconds 0.1
  try 0 "second start" "$MMTUTOR" run cuda/tiled -M 512 -N 512 -K 512 --seconds 0.1
  said cache
}
part_table() {
  for n in $SIZES; do
    square cuda/naive "$n"
    for t in 8 16 32; do square cuda/tiled "$n" --param "T=$t"; done
    square cuda/uncoalesced "$n"
  done
}
part_flat() {
  try 0 roofline "$MMTUTOR" roofline --device cuda:0 --json # the runs after it have a roof
  measure 0 cuda/copy -M 16384 -N 16384
  measure 0 cuda/add -M 16384 -N 16384
  measure 0 cuda/copy -M 32768 -N 16384
  measure 0 cuda/gemv -M 16384 -K 16384
  measure 0 cuda/gemv -M 4096 -K 4096
  measure 0 cuda/fma -M 1081344 -N 4096
}
part_ptx() {
  MMTUTOR_NVRTC=/nonexistent/libnvrtc.so
  export MMTUTOR_NVRTC
  square cuda/tiled 1024
  said 'shipped PTX'
  square cuda/naive 1024
  said 'shipped PTX'
  try 1 "own file without NVRTC" "$MMTUTOR" run tests/fixtures/wrong/cuda/last_k_dropped.cu \
    --device cuda:0
  said 'pip install'
  unset MMTUTOR_NVRTC
}
part_wrong() {
  for f in tests/fixtures/wrong/cuda/*.cu; do
    case $f in
      *endless*) continue ;;
    esac
    try 1 "wrong $(basename "$f")" "$MMTUTOR" run "$f" -M 100 -N 90 -K 80 \
      --device cuda:0 --seconds 0.2
  done
  LIMIT=6
  try any "endless, stopped by SIGINT after 3 s" timeout -s INT 3 "$MMTUTOR" run \
    tests/fixtures/wrong/cuda/endless.cu -M 100 -N 90 -K 80 --device cuda:0
  LIMIT=
  try 0 "right after the wrong ones" "$MMTUTOR" run cuda/tiled -M 256 -N 256 -K 256 --seconds 0.1
}
part_tools() {
  command -v compute-sanitizer >/dev/null || return
  for tool in memcheck racecheck initcheck synccheck; do
    for k in naive tiled gemv; do
      try any "$tool $k" compute-sanitizer --tool $tool --target-processes all "$MMTUTOR" \
        run "cuda/$k" -M 100 -N 90 -K 70 --seconds 0.02 --warmup 0.02 --no-reference
      grep -h 'ERROR SUMMARY\|RACECHECK SUMMARY' "$scratch/out" "$scratch/err" |
        sed "s/^/$tool cuda\/$k /" >>"$OUT/summary.txt"
    done
  done
}

: >"$OUT/summary.txt"
for p in $PARTS; do
  part_start=$(now)
  "part_$p"
  echo "part $p: $(awk "BEGIN{printf \"%.1f\", $(now) - $part_start}") s" | tee -a "$OUT/summary.txt"
done

command -v python3 >/dev/null && python3 tests/gpu/proof_table.py "$runs" >>"$OUT/summary.txt"
if [ -s "$odd" ]; then
  { echo "NOT AS EXPECTED:"; cat "$odd"; } >>"$OUT/summary.txt"
else
  echo "everything as expected" >>"$OUT/summary.txt"
fi
cat "$OUT/summary.txt"
[ ! -s "$odd" ]
