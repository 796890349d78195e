#!/bin/sh
# Makes assets/ptx: the PTX of every built-in CUDA kernel, for drivers without a compiler beside them, and
# assets/ptx_code.json: registers and instructions of its machine code, for machines without CUDA.
# Needs NVRTC and ptxas (CUDA toolkit). B is the build directory (default build/release).
set -eu
cd "$(dirname "$0")/.."
B=${B:-build/release}
PTXAS=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
make -s B="$B" "$B/libkernels.a" "$B/libbase.a"
mkdir -p assets/ptx "$B/tools"
# shellcheck disable=SC2046
${CC:-gcc} -std=c11 -D_GNU_SOURCE -Isrc -Iscripts -O1 -o "$B/tools/make_ptx" scripts/make_ptx.c \
  "$B/libkernels.a" "$B/libbase.a" $(pkg-config --cflags --libs ncursesw libcjson libutf8proc libmd) -ldl -lm
rm -f assets/ptx/*.ptx
"$B/tools/make_ptx" > "$B/tools/ptx.list"

# An older driver takes only what its PTX version allows: the lowest version that ptxas accepts.
versions="6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0"
while read -r f target; do
  lowest=
  for v in $versions; do
    sed "s/^\\.version .*/.version $v/" "$f" > "$B/tools/try.ptx"
    if "$PTXAS" --gpu-name "$target" -o /dev/null "$B/tools/try.ptx" 2>/dev/null; then
      lowest=$v
      break
    fi
  done
  [ -n "$lowest" ] || { echo "$f: ptxas accepts no version" >&2; exit 1; }
  cp "$B/tools/try.ptx" "$f"
  echo "$f: PTX $lowest for $target"
done < "$B/tools/ptx.list"

make -s B="$B" "$B/libbench.a" "$B/liblesson.a" "$B/libsim.a" "$B/libkernels.a" "$B/libbase.a"
# shellcheck disable=SC2046
${CC:-gcc} -std=c11 -D_GNU_SOURCE -Isrc -Iscripts -O1 -o "$B/tools/make_ptx_code" scripts/make_ptx_code.c \
  "$B/libbench.a" "$B/liblesson.a" "$B/libsim.a" "$B/libkernels.a" "$B/libbase.a" \
  $(pkg-config --cflags --libs ncursesw libcjson md4c libutf8proc libmd) -lpthread -ldl -lm
"$B/tools/make_ptx_code"
