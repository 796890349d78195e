#!/bin/sh
# Compares views with the text in tests/golden; GENERATE=1 writes it anew (look at each before you commit).
cd "$(dirname "$0")/../.." || exit 1
MMTUTOR=${MMTUTOR:-$PWD/mmtutor}
MMTUTOR_FAKE_CLOCK=1
export MMTUTOR MMTUTOR_FAKE_CLOCK
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
n=0
# What the x-ray counts of the lesson's two kernels: mmtutor xray KERNEL --sample --json at the sizes of
# lesson.json; times and lines are left out.
xray=tests/fixtures/xray/tiling.json

frame() { # name view options...
  name=$1 view=$2
  shift 2
  n=$((n + 1))
  want=tests/golden/$name.txt
  if ! "$MMTUTOR" frame "$view" "$@" >"$scratch/got" 2>"$scratch/err"; then
    echo "not ok $n - $name: $(cat "$scratch/err")"
  elif [ -n "${GENERATE:-}" ]; then
    cp "$scratch/got" "$want"
    echo "ok $n - $name written"
  elif cmp -s "$scratch/got" "$want"; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    diff "$want" "$scratch/got" | head -n 20 | sed 's/^/# /'
  fi
}

for lang in en zh; do
  frame home_80x24_$lang home --size 80x24 --lang $lang
  frame home_160x45_$lang home --size 160x45 --lang $lang
  frame help_80x24_$lang help --size 80x24 --lang $lang
  for id in flops roofline tiling cpu-gpu; do
    for step in 1 2 3; do
      frame ${id}_${step}_80x24_$lang lesson/$id:$step --size 80x24 --lang $lang
      frame ${id}_${step}_160x45_$lang lesson/$id:$step --size 160x45 --lang $lang
    done
  done
  frame tiling_kernel_100x30_$lang lesson/tiling:kernel --size 100x30 --lang $lang
  frame tiling_predict_80x24_$lang lesson/tiling:predict --size 80x24 --lang $lang --pane live
  for size in 80x24 160x45; do
    frame tiling_xray_${size}_$lang lesson/tiling:run --size $size --lang $lang --pane live --live "$xray"
  done
done
for view in home help lesson/flops:1 lesson/roofline:2 lesson/tiling:2 lesson/cpu-gpu:2; do
  name=$(echo "$view" | tr '/:' '__')
  frame ${name}_60x20_ascii "$view" --size 60x20 --ascii --lang en
done
frame tiling_xray_60x20_ascii lesson/tiling:run --size 60x20 --ascii --lang en --pane live --live "$xray"
frame home_1x1 home --size 1x1 --lang en
frame lesson_tiling_2_1x1 lesson/tiling:2 --size 1x1 --lang en
frame lesson_tiling_2_39x9 lesson/tiling:2 --size 39x9 --lang en

# With --ascii an English frame has no byte above 0x7f.
n=$((n + 1))
if LC_ALL=C grep -l '[^ -~]' tests/golden/*_ascii.txt >"$scratch/bad"; then
  echo "not ok $n - ASCII frames are ASCII: $(tr '\n' ' ' <"$scratch/bad")"
else
  echo "ok $n - ASCII frames are ASCII"
fi
echo "1..$n"
