#!/bin/sh
# Installs what is missing here to build mmtutor. deps.sh [--tests | --screens]
# Says first what it will install, and as whom; uses sudo only where the package manager needs it.
set -eu
what=${1:-}

have_pkg() { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$@" 2>/dev/null; }
have() { command -v "$1" >/dev/null 2>&1; }
want() { missing="$missing $1"; }
python() { # the one that runs the tests (tests/run.sh)
  if [ -x "${MMTUTOR_PYTHON:-/usr/bin/python3}" ]; then "${MMTUTOR_PYTHON:-/usr/bin/python3}" "$@"; else return 1; fi
}

missing=
have cc || want cc
have pkg-config || want pkgconfig
have_pkg ncursesw || want ncurses
have_pkg libcjson || want cjson
have_pkg md4c || want md4c
have_pkg libutf8proc || want utf8proc
have_pkg libmd || want libmd
case $what in
  '') ;;
  --tests)
    have_pkg cmocka || want cmocka
    have tmux || want tmux
    python -c 'import pyte, wcwidth' 2>/dev/null || want pyte
    ;;
  --screens)
    have rsvg-convert || want rsvg
    have pngquant || want pngquant
    ;;
  *)
    echo "usage: deps.sh [--tests | --screens]" >&2
    exit 2
    ;;
esac
[ -n "$missing" ] || exit 0

if have apt-get; then manager=apt
elif have dnf; then manager=dnf
elif have pacman; then manager=pacman
elif have brew; then manager=brew
else
  echo "mmtutor needs:$missing. There is no apt, dnf, pacman or brew here:" >&2
  echo "install them by hand, then run make again with DEPS=no." >&2
  exit 1
fi

name() { # the packages that bring $1 under this manager
  case "$manager:$1" in
    apt:cc) echo "gcc libc6-dev" ;;
    *:cc) echo gcc ;;
    apt:pkgconfig) echo pkg-config ;;
    *:pkgconfig) echo pkgconf ;;
    apt:ncurses) echo libncurses-dev ;;
    dnf:ncurses) echo ncurses-devel ;;
    apt:cjson | apt:utf8proc | apt:libmd | apt:cmocka) echo "lib${1#lib}-dev" ;;
    apt:md4c) echo libmd4c-dev ;;
    dnf:cjson | dnf:md4c | dnf:utf8proc | dnf:libmd) echo "$1-devel" ;;
    dnf:cmocka) echo libcmocka-devel ;;
    pacman:utf8proc) echo libutf8proc ;;
    apt:pyte | dnf:pyte) echo "python3 python3-pyte python3-wcwidth" ;;
    pacman:pyte) echo "python python-pyte python-wcwidth" ;;
    *:pyte) echo python ;; # brew has no pyte: pip brings it
    apt:rsvg) echo "librsvg2-bin fonts-dejavu-core fonts-noto-cjk" ;;
    dnf:rsvg) echo "librsvg2-tools dejavu-sans-mono-fonts google-noto-sans-cjk-fonts" ;;
    pacman:rsvg) echo "librsvg ttf-dejavu noto-fonts-cjk" ;;
    *:rsvg) echo librsvg ;;
    *) echo "$1" ;;
  esac
}
list=
for m in $missing; do list="$list $(name "$m")"; done

as_root() { # why this script cannot do it
  case $manager in
    apt) command="apt-get install" ;;
    dnf) command="dnf install" ;;
    *) command="pacman -S" ;;
  esac
  echo "mmtutor needs packages that are not here, and $1. As root:" >&2
  echo "  $command$list" >&2
  echo "Then run make again." >&2
  exit 1
}

sudo=
if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
  have sudo || as_root "there is no sudo"
  sudo=sudo
fi
echo "Installing with $manager${sudo:+ (by sudo)}:$list"
echo "(make DEPS=no installs nothing.)"
[ -z "$sudo" ] || sudo true || as_root "sudo refused"
# $list is words; env, because sudo drops the variable.
# shellcheck disable=SC2086
case $manager in
  apt)
    apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get"
    # Without its lists (a fresh container) apt-get knows no package; they are fetched then.
    $apt install -y -qq --no-install-recommends $list >/dev/null 2>&1 || {
      $apt update -qq
      said=$($apt install -y -qq --no-install-recommends $list 2>&1) || {
        rc=$?
        echo "$said" >&2
        exit $rc
      }
    }
    ;;
  dnf) $sudo dnf install -y -q $list ;;
  pacman) $sudo pacman -S --needed --noconfirm $list ;;
  brew) brew install $list ;;
esac
