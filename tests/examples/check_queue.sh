#!/bin/sh
# check_queue.sh - doc/examples/queue.c works: each line that goes in comes out
# once, in order, at one of the takers; also at one that was there before it.  A
# line may be long, and one that is refused is reported.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example queue

{
	seq 1 250
	seq 1 2000 | tr '\n' ' ' # in one line
	echo
	seq 252 500
} >"$work/lines"
(umask 077 && echo 'her:secret' >"$work/auth") || exit 99
run 60 <<RUN
"$kustos" barrier set --auth-file "$work/auth" --acl=creator /lines || exit 1
"$program" put <"$work/lines" 2>"$work/refused" && exit 1
"$kustos" barrier remove --auth-file "$work/auth" /lines || exit 1
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
grep -q "ACL forbids" "$work/refused" || fail "a refusal is not reported"
[ ! -s "$work/rest" ] || fail "a line comes twice"
diff "$work/lines" "$work/followed" || fail "not what was put while it followed"
exit 0
