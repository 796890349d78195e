#!/bin/sh
# Our own CUDA declarations against the toolkit's headers and libraries, where there is a toolkit.
cd "$(dirname "$0")/../.." || exit 1
cuda=${CUDA_HOME:-/usr/local/cuda}
if ! [ -f "$cuda/include/cuda.h" ] || ! command -v g++ >/dev/null; then
  echo "ok 1 - prototypes and values # SKIP no CUDA headers or no g++ here"
  echo "1..1"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
say() { # status text
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}
check() { g++ -std=c++17 -fsyntax-only -w "$@" -Isrc -I"$cuda/include" >"$work/out" 2>&1; }

check tests/fixtures/cuda_headers.cc
rc=$?
[ $rc = 0 ] || grep -m 5 'error' "$work/out" | sed 's/^/# /'
say $rc "prototypes and values are those of $cuda/include"

# The comparison must be able to fail: one parameter less, one value off.
mkdir -p "$work/bench"
sed '/cuMemAlloc_v2/s/size_t bytes/unsigned bytes/' src/bench/cuda_api.h >"$work/bench/cuda_api.h"
check -I"$work" tests/fixtures/cuda_headers.cc
grep -q 'prototype of cuMemAlloc_v2' "$work/out"
say $? "a wrong size of a parameter is noticed"
sed 's/CUDA_ATTR_SMS = 16/CUDA_ATTR_SMS = 15/' src/bench/cuda_api.h >"$work/bench/cuda_api.h"
check -I"$work" tests/fixtures/cuda_headers.cc
grep -q 'static assertion failed: CUDA_ATTR_SMS' "$work/out"
say $? "a wrong value is noticed"

stub=$cuda/lib64/stubs/libcuda.so
if [ -f "$stub" ] && command -v nm >/dev/null; then
  nm -D --defined-only "$stub" | awk '{print $3}' | sort -u >"$work/have"
  sed -n 's/^  X([a-z_]*, \(cu[A-Z][A-Za-z0-9_]*\),.*/\1/p' src/bench/cuda_api.h |
    sort -u >"$work/want"
  missing=$(comm -13 "$work/have" "$work/want" | tr '\n' ' ')
  [ -z "$missing" ] && [ "$(wc -l <"$work/want")" -ge 30 ]
  say $? "the driver exports every symbol${missing:+ but $missing}"
fi
echo "1..$n"
