#!/bin/sh
# The shipped lessons pass the authors' check.
cd "$(dirname "$0")/../.." || exit 1
: "${MMTUTOR:=$PWD/mmtutor}"
out=$(MMTUTOR_DATA=$PWD "$MMTUTOR" check lessons/ 2>&1)
if [ $? = 0 ] && echo "$out" | tail -n 1 | grep -q '^[1-9][0-9]* lessons*, .*: 0 faults$'; then
  echo "ok 1 - $(echo "$out" | tail -n 1)"
else
  echo "not ok 1 - lessons/ has faults"
  echo "$out" | sed 's/^/# /'
fi
echo "1..1"
