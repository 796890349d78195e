#!/bin/sh
# scripts/deps.sh with package managers that only write down what they were asked. TAP.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
check() { # description, then a command
  n=$((n + 1))
  what=$1
  shift
  if "$@"; then echo "ok $n - $what"; else
    echo "not ok $n - $what"
    sed 's/^/# out: /' "$work/out"
    sed 's/^/# asked: /' "$work/asked"
  fi
}
said() { grep -qF -- "$1" "$work/out"; }
asked() { grep -qxF -- "$1" "$work/asked"; }
nothing_asked() { ! [ -s "$work/asked" ]; }
order() { [ "$(cat "$work/asked")" = "$1" ]; }
code() { [ "$rc" = "$1" ]; }

# A PATH with a shell and nothing else, then what a test puts there.
machine() { # uid, then the stubs
  rm -rf "${work:?}/bin"
  mkdir -p "$work/bin"
  for tool in sh env cat; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
  stub id "echo $1"
  shift
  for tool in "$@"; do stub "$tool" "echo \"$tool \$*\" >>'$work/asked'"; done
}
stub() { # name, body
  printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
deps() {
  : >"$work/asked"
  env -i PATH="$work/bin" MMTUTOR_PYTHON="$work/bin/python3" "$work/bin/sh" scripts/deps.sh "$@" \
    >"$work/out" 2>&1
  rc=$?
}
build_apt='gcc libc6-dev pkg-config libncurses-dev libcjson-dev libmd4c-dev libutf8proc-dev libmd-dev'

machine 0 apt-get
deps
check 'apt: what the build needs' asked "apt-get install -y -qq --no-install-recommends $build_apt"
check 'it says what it installs before it does' said "Installing with apt: $build_apt"
check 'it says how to leave it' said 'DEPS=no'
check 'exit code 0' code 0

deps --tests
check 'apt: what the tests need' \
  asked "apt-get install -y -qq --no-install-recommends $build_apt libcmocka-dev tmux python3 python3-pyte python3-wcwidth"
deps --screens
check 'apt: what the pictures need' \
  asked "apt-get install -y -qq --no-install-recommends $build_apt librsvg2-bin fonts-dejavu-core fonts-noto-cjk pngquant"

# A fresh container: the first install fails, because apt-get has no lists.
machine 0
stub apt-get "echo \"apt-get \$*\" >>'$work/asked'
case \$1 in update) : >'$work/lists' ;; install) [ -e '$work/lists' ] ;; esac"
rm -f "$work/lists"
deps
check 'apt without lists: install, update, install' order "apt-get install -y -qq --no-install-recommends $build_apt
apt-get update -qq
apt-get install -y -qq --no-install-recommends $build_apt"
stub apt-get 'case $1 in install) echo "dpkg is locked" >&2; exit 100 ;; esac'
deps
check 'apt that fails: so does deps' code 100
check 'and what apt said is shown' said 'dpkg is locked'

machine 1000 apt-get
deps
check 'not root and no sudo: nothing is run' nothing_asked
check 'and it says what root should do' said "  apt-get install $build_apt"
check 'and exit code 1' code 1

stub sudo "echo \"sudo \$*\" >>'$work/asked'"
deps
check 'not root: by sudo, with apt quiet' \
  asked "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $build_apt"
check 'and it says so' said 'Installing with apt (by sudo):'
stub sudo 'exit 1'
deps
check 'sudo refuses: apt is not tried' nothing_asked
check 'and it says what root should do' said "  apt-get install $build_apt"
check 'and exit code 1' code 1

machine 0 dnf
deps --tests
check 'dnf' asked 'dnf install -y -q gcc pkgconf ncurses-devel cjson-devel md4c-devel utf8proc-devel libmd-devel libcmocka-devel tmux python3 python3-pyte python3-wcwidth'
machine 0 pacman
deps --tests
check 'pacman' asked 'pacman -S --needed --noconfirm gcc pkgconf ncurses cjson md4c libutf8proc libmd cmocka tmux python python-pyte python-wcwidth'
machine 1000 brew
deps
check 'brew, never by sudo' asked 'brew install gcc pkgconf ncurses cjson md4c utf8proc libmd'

machine 0
deps
check 'no package manager: exit code 1' code 1
check 'and what is missing, and what next' said 'DEPS=no'

machine 0 apt-get cc
stub pkg-config 'case $* in *libmd) exit 1 ;; esac'
deps
check 'only what is missing' asked 'apt-get install -y -qq --no-install-recommends libmd-dev'

machine 0 apt-get cc tmux
stub pkg-config 'exit 0'
stub python3 'exit 0'
deps --tests
check 'all there: nothing is run' nothing_asked
check 'and nothing is said' [ ! -s "$work/out" ]
check 'and exit code 0' code 0
deps --all
check 'an option it does not know: exit code 2' code 2

: >"$work/asked"
PATH="$work/bin:$PATH" make -s deps test-deps DEPS=no >"$work/out" 2>&1
check 'make DEPS=no looks for nothing' nothing_asked

# Before the packages are there, make itself must not complain of pkg-config.
machine 0 apt-get
for tool in make uname find mkdir dirname; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
: >"$work/asked"
env -i PATH="$work/bin" make -s deps >"$work/out" 2>&1
rc=$?
check 'make deps works before pkg-config is there' code 0
check 'and only deps.sh speaks' [ "$(grep -cv -e '^Installing' -e 'DEPS=no' "$work/out")" = 0 ]

# And a build that was started without them says in one sentence what to do.
for tool in cmp touch getconf; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
env -i PATH="$work/bin" make -s B="$work/build" DEPS=no "$work/build/mmtutor" >"$work/out" 2>&1
check 'a build without the packages names make deps' said 'make deps installs them'
check 'and make adds one line' [ "$(grep -c . "$work/out")" = 2 ]

# Every Python module of the tests is one of Python's own or one that deps.sh asks for.
: >"$work/out"
/usr/bin/python3 - >"$work/out" <<'EOF'
import ast, glob, re, sys
wanted = set(re.search(r"import ([\w, ]+)'", open("scripts/deps.sh").read()).group(1).split(", "))
here = {p.split("/")[-1][:-3] for p in glob.glob("tests/**/*.py", recursive=True)}
for path in glob.glob("tests/**/*.py", recursive=True):
    for node in ast.walk(ast.parse(open(path).read())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in {x.split(".")[0] for x in names} - wanted - here - set(sys.stdlib_module_names):
            print(f"{path} imports {name}, which deps.sh --tests does not bring")
EOF
check 'deps.sh brings every Python module of the tests' [ ! -s "$work/out" ]
echo "1..$n"
