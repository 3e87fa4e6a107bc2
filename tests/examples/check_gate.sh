#!/bin/sh
# check_gate.sh - doc/examples/gate.c works: nobody goes through a closed gate,
# and those who wait go on when it is opened.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example gate

misused shut
run 60 <<RUN
"$program" >"$work/before" || exit 1
"$program" close && "$program" close || exit 1
"$program" >"$work/one" & one=\$!
"$program" >"$work/two" & two=\$!
await 2 cat "$work/one" "$work/two"
"$kustos" barrier wait -w 0 /gates/database && exit 1
"$program" open && wait \$one && wait \$two
RUN
[ "$(cat "$work/before")" = "at work" ] || fail "an open gate is waited for"
for i in one two; do
	[ "$(cat "$work/$i")" = "the gate is closed
at work" ] || fail "$i did not wait, or not go on: $(cat "$work/$i")"
done
exit 0
