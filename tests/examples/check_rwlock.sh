#!/bin/sh
# check_rwlock.sh - doc/examples/rwlock.c works: a reader never sees half of
# what a writer writes.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example rwlock

# One writer, and meanwhile two readers that look up at least 20 times each.
# What was written last is what is there in the end.
run 120 <<RUN
look() {
	n=0
	while [ ! -e "$work/done" ] || [ \$n -lt 20 ]; do
		"$program" || exit 1
		n=\$((n + 1))
	done
}
"$program" one 1 || exit 1
look >"$work/first" & first=\$!
look >"$work/second" & second=\$!
for n in 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2; do
	case \$n in
	1) "$program" one 1 ;;
	2) "$program" two 2 ;;
	esac || exit 1
done
: >"$work/done"
wait \$first && wait \$second && "$program" >"$work/last"
RUN
sort "$work/first" "$work/second" | uniq -c
for seen in first second; do
	[ "$(wc -l <"$work/$seen")" -ge 20 ] || fail "too few were looked up"
	! grep -qvx 'one:1\|two:2' "$work/$seen" || fail "half of a change was seen"
done
misused one
misused one 1 more
[ "$(cat "$work/last")" = two:2 ] || fail "the last change is not there"
