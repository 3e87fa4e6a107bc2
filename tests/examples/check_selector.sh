#!/bin/sh
# check_selector.sh - doc/examples/selector.c works: two processes take turns in
# leading, and both end when they are told to.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example selector

run 60 <<RUN
: >"$work/said"
mkfifo "$work/one" "$work/two" || exit 1
"$program" one <"$work/one" >>"$work/said" & one=\$!
exec 3>"$work/one"
"$program" two <"$work/two" >>"$work/said" 3>&- & two=\$!
exec 4>"$work/two"
n=0
until [ "\$(grep -c ^one "$work/said")" -ge 2 ] &&
	[ "\$(grep -c ^two "$work/said")" -ge 2 ]; do
	n=\$((n + 1))
	[ \$n -lt 300 ] || exit 1
	sleep 0.1
done
"$kustos" ls /elections/reports 3>&- 4>&-
exec 3>&-
wait \$one || exit 1
exec 4>&-
wait \$two
RUN
cat "$work/said"
tokens "$work/said" "$(wc -l <"$work/said")"
