#!/bin/sh
# check_semaphore.sh - doc/examples/semaphore.c works: two processes work, and
# the third begins when one of them has ended.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example semaphore

run 60 <<RUN
mkfifo "$work/in1" "$work/in2" || exit 1
: >"$work/one" >"$work/two" >"$work/three"
"$program" <"$work/in1" >"$work/one" & one=\$!
exec 3>"$work/in1"
await 1 grep rendering "$work/one"
"$program" <"$work/in2" >"$work/two" 3>&- & two=\$!
exec 4>"$work/in2"
await 1 grep rendering "$work/two"
"$program" </dev/null >"$work/three" 3>&- 4>&- & three=\$!
await 1 grep waiting "$work/three"
"$kustos" ls /jobs/render 3>&- 4>&-
grep rendering "$work/three" && exit 1
exec 3>&-
wait \$one && wait \$three || exit 1
exec 4>&-
wait \$two
RUN
grep -q '/jobs/render: 2 hold' "$work/out" || fail "kustos ls does not see them"
cat "$work/one" "$work/two" "$work/three" >"$work/said"
tokens "$work/said" 3
