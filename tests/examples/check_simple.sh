#!/bin/sh
# check_simple.sh - doc/examples/simple.c works: one process does the work,
# another leaves it alone, and the next night either may do it again.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example simple

run 60 <<RUN
mkfifo "$work/input" || exit 1
"$program" <"$work/input" >"$work/one" & one=\$!
exec 3>"$work/input"
n=0
until [ -s "$work/one" ]; do
	n=\$((n + 1))
	[ \$n -lt 300 ] || exit 1
	sleep 0.1
done
"$program" </dev/null 3>&- >"$work/two" || exit 1
"$kustos" ls /locks/nightly 3>&-
exec 3>&-
wait \$one && "$program" </dev/null >"$work/three"
RUN
grep -q ' node$\| node ' "$work/out" || fail "kustos ls does not see it"
[ "$(cat "$work/two")" = "another does it" ] || fail "two were at work"
cat "$work/one" "$work/three" >"$work/said"
tokens "$work/said" 2
