#!/bin/sh
# Installs what building mmtutor needs and what is missing. deps.sh [--tests]
# Says what it will install first; uses sudo only where the package manager needs it.
set -eu
tests=${1:-}

have_pkg() { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$@" 2>/dev/null; }
want() { missing="$missing $1"; }
missing=
command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || want cc
command -v pkg-config >/dev/null 2>&1 || want pkgconfig
have_pkg ncursesw || want ncurses
have_pkg libcjson || want cjson
have_pkg md4c || want md4c
have_pkg libutf8proc || want utf8proc
have_pkg libmd || want libmd
if [ -n "$tests" ]; then
  have_pkg cmocka || want cmocka
  command -v tmux >/dev/null 2>&1 || want tmux
  /usr/bin/env python3 -c 'import pyte' 2>/dev/null || /usr/bin/python3 -c 'import pyte' 2>/dev/null || want pyte
fi
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then manager=apt
elif command -v dnf >/dev/null 2>&1; then manager=dnf
elif command -v pacman >/dev/null 2>&1; then manager=pacman
elif command -v brew >/dev/null 2>&1; then manager=brew
else
  echo "mmtutor needs:$missing. No package manager known here (apt, dnf, pacman, brew): install them by hand," >&2
  echo "then run make again with DEPS=no." >&2
  exit 1
fi

name() { # the package that brings $1 under this manager
  case "$manager:$1" in
    apt:cc) echo "gcc libc6-dev" ;;       dnf:cc|pacman:cc) echo gcc ;;            brew:cc) echo gcc ;;
    apt:pkgconfig) echo pkg-config ;;     dnf:pkgconfig|pacman:pkgconfig|brew:pkgconfig) echo pkgconf ;;
    apt:ncurses) echo libncurses-dev ;;   dnf:ncurses) echo ncurses-devel ;;       *:ncurses) echo ncurses ;;
    apt:cjson) echo libcjson-dev ;;       dnf:cjson) echo cjson-devel ;;           *:cjson) echo cjson ;;
    apt:md4c) echo libmd4c-dev ;;         dnf:md4c) echo md4c-devel ;;             *:md4c) echo md4c ;;
    apt:utf8proc) echo libutf8proc-dev ;; dnf:utf8proc) echo utf8proc-devel ;;     pacman:utf8proc) echo libutf8proc ;;
    *:utf8proc) echo utf8proc ;;
    apt:libmd) echo libmd-dev ;;          dnf:libmd) echo libmd-devel ;;           *:libmd) echo libmd ;;
    apt:cmocka) echo libcmocka-dev ;;     dnf:cmocka) echo libcmocka-devel ;;      *:cmocka) echo cmocka ;;
    apt:pyte) echo "python3 python3-pyte" ;; dnf:pyte) echo "python3 python3-pyte" ;; pacman:pyte) echo "python python-pyte" ;;
    *:pyte) echo python ;;
    *) echo "$1" ;;
  esac
}
list=
for m in $missing; do list="$list $(name "$m")"; done
sudo=
if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null 2>&1 || { echo "Please install as root:$list" >&2; exit 1; }
  sudo=sudo
fi
echo "Installing with $manager:$list"
case $manager in
  apt)
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    $sudo apt-get install -y -qq --no-install-recommends $list >/dev/null 2>&1 || {
      $sudo apt-get update -qq
      $sudo apt-get install -y -qq --no-install-recommends $list >/dev/null
    } ;;
  # shellcheck disable=SC2086
  dnf) $sudo dnf install -y -q $list ;;
  # shellcheck disable=SC2086
  pacman) $sudo pacman -S --needed --noconfirm $list ;;
  # shellcheck disable=SC2086
  brew) brew install $list ;;
esac
