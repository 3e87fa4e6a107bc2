#!/bin/sh
# check_queue.sh - doc/examples/queue.c works: each line that goes in comes out
# once, in order, at one of the takers; also at one that was there before it.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example queue

seq 1 500 >"$work/lines"
run 60 <<RUN
"$program" put <"$work/lines" || exit 1
"$program" take >"$work/taken" || exit 1
"$program" take >"$work/rest"
mkfifo "$work/end"
"$program" follow <"$work/end" >"$work/followed" &
exec 3>"$work/end"
"$program" put <"$work/lines" || exit 1
await 500 cat "$work/followed"
exec 3>&-
wait \$!
RUN
diff "$work/lines" "$work/taken" || fail "not what was put, or not in order"
[ ! -s "$work/rest" ] || fail "a line comes twice"
diff "$work/lines" "$work/followed" || fail "not what was put while it followed"
exit 0
