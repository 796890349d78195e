#!/bin/sh
# Build tool: the table of compiled CPU rungs. cpu_table.sh "LEVEL..." RUNG...
# An entry is NULL where a level was not compiled; the levels are those of enum catalog_isa.
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
    case $l in
      plain) i=ISA_PLAIN ;;
      avx2) i=ISA_AVX2 ;;
      avx512) i=ISA_AVX512 ;;
      *) echo "cpu_table.sh: unknown level $l" >&2; exit 1 ;;
    esac
    printf '[%s] = cpu_%s__%s, ' "$i" "$r" "$l"
  done
  echo '}},'
done
echo '  {0, {0}},'
echo '};'
