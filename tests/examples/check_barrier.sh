#!/bin/sh
# check_barrier.sh - doc/examples/barrier.c works: three processes enter and
# leave together, and a single one waits for the others.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example barrier

run 60 <<RUN
for i in 1 2; do "$program" 3 >"$work/\$i" & done
"$program" 3 >"$work/3" || exit 1
wait
timeout 1 "$program" 3 >"$work/alone"
[ \$? = 124 ]
RUN
[ -s "$work/alone" ] && fail "one did not wait for the others"
for i in 1 2 3; do
	[ "$(cat "$work/$i")" = "all are there
all are done" ] || fail "$i was not in and out: $(cat "$work/$i")"
done
exit 0
