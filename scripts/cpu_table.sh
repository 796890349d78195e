#!/bin/sh
# Build tool: the table of compiled CPU rungs. cpu_table.sh "LEVEL..." RUNG...
levels=$1
shift
echo '/* Made by scripts/cpu_table.sh. */'
echo '#include "kernels/catalog.h"'
for r in "$@"; do
  for l in $levels; do
    echo "int cpu_${r}__$l(const struct mm_args *);"
  done
done
echo 'const struct catalog_cpu catalog_cpu_table[] = {'
for r in "$@"; do
  printf '  {"cpu/%s", {' "$r"
  for l in $levels; do
    printf 'cpu_%s__%s, ' "$r" "$l"
  done
  echo '}},'
done
echo '  {0, {0}},'
echo '};'
