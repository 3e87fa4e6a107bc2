#!/bin/sh
# check_countdown.sh - doc/examples/countdown.c works: the waiter continues when
# the third piece is done, and not when one piece is done twice.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example countdown

run 60 <<RUN
"$program" one && "$program" two && "$program" two || exit 1
timeout 1 "$program" >"$work/early"
[ \$? = 124 ] || exit 1
"$program" >"$work/said" &
"$program" three && wait \$!
RUN
[ -s "$work/early" ] && fail "two pieces were enough"
[ "$(cat "$work/said")" = "all is done" ] || fail "$(cat "$work/said")"
exit 0
