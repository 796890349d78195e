#!/bin/sh
# make install and uninstall under a DESTDIR, and the installed program away from its source. TAP.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
check() {
  n=$((n + 1))
  what=$1
  shift
  if "$@"; then echo "ok $n - $what"; else
    echo "not ok $n - $what"
    sed 's/^/# /' "$work/out"
  fi
}
share=$work/usr/local/share
: >"$work/out"
make_it() { make -s B="$B" CFG="${CFG:-release}" DEPS=no DESTDIR="$work" "$@" >"$work/out" 2>&1; }
same_files() { # under the tree, relative to share/mmtutor
  (cd "$share/mmtutor" && find . -type f | sed 's|^\./||' | sort) >"$work/installed"
  git ls-files 'lessons/*.json' 'lessons/*.md' 'assets/*.json' 'assets/ptx/*.ptx' 'src/kernels/cuda/*.cu' \
    'src/kernels/cpu/*.c' src/kernels/mm_args.h 2>/dev/null | sort >"$work/tracked"
  [ -s "$work/tracked" ] || return 0
  comm -13 "$work/installed" "$work/tracked" >"$work/out"
  [ ! -s "$work/out" ]
}
is_file() { for f in "$@"; do [ -s "$f" ] || return 1; done; }
modes() { [ -z "$(find "$share" -type f ! -perm 644)" ] && [ -z "$(find "$work/usr" -type d ! -perm 755)" ]; }

umask 022
check 'make install' make_it install
check 'the program' [ -x "$work/usr/local/bin/mmtutor" ]
check 'man page and completions' is_file "$share/man/man1/mmtutor.1" \
  "$share/bash-completion/completions/mmtutor" "$share/zsh/site-functions/_mmtutor" \
  "$share/fish/vendor_completions.d/mmtutor.fish"
check 'every lesson, asset and kernel' same_files
check 'modes 644 and 755' modes

away() { # the installed program, from another directory and with a home of its own
  (cd / && env -u MMTUTOR_DATA HOME="$work/home" LC_ALL=C.UTF-8 "$work/usr/local/bin/mmtutor" "$@") \
    >"$work/out" 2>&1
}
away read --list
check 'it finds its lessons' grep -q tiling "$work/out"
away run cpu/ikj -M 64 -N 64 -K 64 --seconds 0.05 --warmup 0.01 --no-reference
check 'it runs a kernel in its worker' grep -q '^verify *right' "$work/out"
away frame sim/cuda/tiled:9 --size 100x30
check 'it draws' [ "$(wc -l <"$work/out")" = 30 ]
(cd / && env HOME="$work/home" MMTUTOR_DATA="$share/mmtutor" "$work/usr/local/bin/mmtutor" run --list) >"$work/out" 2>&1
check 'the installed kernels are read without a complaint' [ "$(grep -c '^src/' "$work/out")" = 0 ]
check 'and they are all there' [ "$(grep -cE '^(cuda|cpu)/' "$work/out")" = \
  "$(find src/kernels/cuda src/kernels/cpu -name '*.c' -o -name '*.cu' | wc -l)" ]

check 'a second install over the first' make_it install
check 'make uninstall' make_it uninstall
check 'it leaves no file behind' [ -z "$(find "$work/usr" -type f)" ]
echo "1..$n"
