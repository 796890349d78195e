#!/bin/sh
# Runs every test and closes with `N passed, N failed[, N skipped]`. Each test prints TAP.
# CFG names the build; TESTS (space-separated) picks some by path.
cd "$(dirname "$0")/.." || exit 1
CFG=${CFG:-release}
B=build/$CFG
export CFG B CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8 LANG=C.UTF-8
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0} UBSAN_OPTIONS=print_stacktrace=1
unset LINES COLUMNS NO_COLOR MMTUTOR_DATA XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME="$scratch/home" TMPDIR="$scratch/tmp" # what a killed worker leaves goes with it
mkdir -p "$HOME" "$TMPDIR"
case $CFG in
  asan) MMTUTOR=$PWD/$B/mmtutor ;;
  *) MMTUTOR=$PWD/mmtutor ;;
esac
export MMTUTOR

passed=0 failed=0 skipped=0
one() { # label command...
  label=$1
  shift
  start=$(date +%s)
  timeout "${LIMIT:-240}" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  rc=$?
  s=$(grep -cE '^(not )?ok .*# *[Ss][Kk][Ii][Pp]' "$scratch/out")
  p=$(grep -E '^ok ' "$scratch/out" | grep -vcE '# *[Ss][Kk][Ii][Pp]')
  f=$(grep -E '^not ok ' "$scratch/out" | grep -vcE '# *[Ss][Kk][Ii][Pp]')
  if [ $rc != 0 ] && [ "$f" = 0 ] || [ $((p + f + s)) = 0 ]; then
    f=$((f + 1))
    echo "FAIL $label: exit $rc and no test that failed"
  fi
  if [ "$f" != 0 ]; then
    echo "FAIL $label"
    grep -vE '^ok ' "$scratch/out" | head -n "${SHOW:-60}"
    head -n "${SHOW:-60}" "$scratch/err"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  echo "$label: $p passed, $f failed, $s skipped ($(($(date +%s) - start)) s)"
  [ "$s" = 0 ] || sed -n 's/^\(ok .*\)\{0,1\}# SKIP \(.*[ :].*\)/  skipped: \2/p' "$scratch/out" "$scratch/err" | sort -u
}

if [ -z "${TESTS:-}" ]; then
  TESTS="$(ls "$B"/tests/unit/*_test 2>/dev/null) $(ls tests/*/*_test.sh tests/*/*_test.py 2>/dev/null)"
fi
for t in $TESTS; do
  case $t in
    *.sh) one "$t" sh "$t" ;;
    *.py) one "$t" /usr/bin/python3 "$t" ;;
    *) one "$t" "$t" ;;
  esac
done
if [ "$skipped" != 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ] && [ "$passed" != 0 ]
