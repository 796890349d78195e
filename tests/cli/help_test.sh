#!/bin/sh
# Help, version and usage errors of every command; commands of the READMEs that end by themselves. TAP.
cd "$(dirname "$0")/../.." || exit 1
: "${MMTUTOR:=$PWD/mmtutor}"
export LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work"
n=0
check() {
  n=$((n + 1))
  what=$1
  shift
  if "$@"; then echo "ok $n - $what"; else
    echo "not ok $n - $what"
    sed 's/^/# /' "$work/out" "$work/err"
  fi
}
mm() {
  "$MMTUTOR" "$@" >"$work/out" 2>"$work/err" </dev/null
  rc=$?
}
is_help() { # exit code 0, on stdout alone, and it fits 80x24 (a terminal wraps at 80)
  [ "$rc" = 0 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ] &&
    [ "$(fold -w 80 "$work/out" | wc -l)" -le 24 ]
}
is_usage() { # exit code 2, on stderr alone, with a next step
  [ "$rc" = 2 ] && [ ! -s "$work/out" ] && grep -q "$1" "$work/err"
}

mm --help
check '--help' is_help
commands=$(sed -n 's/^  mmtutor \([a-z]*\).*/\1/p' "$work/out" | grep .)
mm -h
check '-h' is_help
mm --version
check '--version' [ "$rc" = 0 ]
check 'it gives the version of the Makefile' \
  grep -qx "mmtutor $(sed -n 's/^VERSION := //p' Makefile)" "$work/out"
check 'the man page is of that version' grep -q "$(sed -n 's/^VERSION := //p' Makefile)" man/mmtutor.1

for c in $commands; do
  case $c in lesson | worker) continue ;; esac
  mm "$c" --help
  check "$c --help" is_help
  mm "$c" --no-such-option
  check "$c --no-such-option" is_usage '[Ss]ee\|help\|usage'
done
mm no-such-command
check 'a command that is not there' is_usage 'mmtutor --help'
mm --no-such-option
check 'an option that is not there' is_usage 'mmtutor --help'
mm --lang
check 'an option without its value' is_usage 'mmtutor --help'

# Lines of the READMEs: those that read and print, as they stand.
for readme in README.md README.zh-CN.md; do
  # shellcheck disable=SC2016
  sed -n '/^```sh/,/^```/p' "$readme" | sed 's/#.*//' |
    grep -E '^mmtutor (read|frame|check|run --list|doctor)' >"$work/lines"
  check "$readme has commands to try" [ "$(wc -l <"$work/lines")" -ge 5 ]
  while read -r _ line; do
    # shellcheck disable=SC2086
    mm $line
    check "$readme: mmtutor $line" [ "$rc" = 0 ]
  done <"$work/lines"
done
echo "1..$n"
