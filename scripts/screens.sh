#!/bin/sh
# Draws the pictures of assets/screens: every view below at three sizes, in both languages and in
# three themes, as SVG and as PNG. screens.sh MMTUTOR BUILD-DIRECTORY
# The live pane shows a result that this machine measures first.
set -eu
cd "$(dirname "$0")/.."
program=${1:-./mmtutor}
build=${2:-build/release}
out=assets/screens
work=$build/screens
mkdir -p "$out" "$work"

for tool in rsvg-convert pngquant; do
  command -v $tool >/dev/null 2>&1 || {
    echo "screens.sh: $tool is missing; sh scripts/deps.sh --screens installs it." >&2
    exit 1
  }
done

# No state and no settings of the person who runs this.
HOME=$(cd "$work" && pwd)/home
export HOME LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME MMTUTOR_DATA NO_COLOR
rm -rf "$HOME"
mkdir -p "$HOME"

echo "measuring the roofs and cpu/ikj for the live pane"
"$program" roofline --device cpu >/dev/null
"$program" run cpu/ikj -M 1024 -N 1024 -K 1024 --json >"$work/result.json"

# A view that no longer exists leaves no picture behind.
rm -f "$out"/*.svg "$out"/*.png
picture() { # name size lang theme, then the arguments of frame
  file=$out/$1-$2-$3-$4
  size=$2 lang=$3 theme=$4
  shift 4
  "$program" frame "$@" --size "$size" --lang "$lang" --theme "$theme" --svg >"$file.svg"
  rsvg-convert "$file.svg" | pngquant 64 --speed 1 - >"$file.png"
}

for size in 160x45 100x30 80x24; do
  for lang in en zh; do
    for theme in dark light contrast; do
      picture home "$size" "$lang" "$theme" home
      for lesson in flops roofline tiling cpu-gpu; do
        picture "lesson-$lesson" "$size" "$lang" "$theme" "lesson/$lesson"
      done
      picture lesson-tiling-sim "$size" "$lang" "$theme" lesson/tiling:strips --pane sim
      picture simulator "$size" "$lang" "$theme" sim/cuda/tiled:9
      picture live "$size" "$lang" "$theme" lesson/cpu-gpu:run --pane live --live "$work/result.json"
      picture live-xray "$size" "$lang" "$theme" lesson/tiling:run --pane live \
        --live tests/fixtures/xray/tiling.json
    done
  done
  echo "$size done"
done
du -sh "$out"
