#!/bin/sh
# check_consumer.sh - doc/examples/consumer.c works: items come in the order of
# their priorities, one that fails comes again, and a put waits for room.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example consumer

# Ten items are all that there may be.
misused 1
run 60 <<RUN
"$program" 7 a b c d e f g h || exit 1
"$program" -7 fail z || exit 1
timeout 1 "$program" 9 none
[ \$? = 124 ] || exit 1
"$program" 9 last & put=\$!
: >"$work/said"
await 13 cat "$work/said" | "$program" >"$work/said" || exit 1
wait \$put || exit 1
"$kustos" queue ls -k priority /jobs/tasks >"$work/left"
RUN
[ "$(grep -c '^doing fail, priority -7$' "$work/said")" = 3 ] ||
	fail "what fails does not come again"
{
	echo "doing z, priority -7"
	for i in a b c d e f g h; do
		echo "doing $i, priority 7"
	done
	echo "doing last, priority 9"
} >"$work/expected"
grep -v fail "$work/said" | diff "$work/expected" - ||
	fail "not each was done, or not in order"
[ ! -s "$work/left" ] || fail "what was done is still there"
exit 0
