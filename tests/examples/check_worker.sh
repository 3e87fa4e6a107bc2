#!/bin/sh
# check_worker.sh - doc/examples/worker.c works: the item of a worker that dies
# is processed by another worker.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example worker

# A session that its worker has not ended lasts 4 s.  The next worker begins
# after that: a claim that is granted just as its caller gives up would count as
# the second try.
run 120 <<RUN
ulimit -c 0
work() {
	"$program" >>"$work/said" 2>>"$work/died"
}
"$program" one die two || exit 1
work
work
while "$kustos" queue ls --json /jobs/queue | grep -q taken_by; do
	sleep 0.1
done
work
exit 0
RUN
grep '^doing' "$work/said" >"$work/done"
cat >"$work/expected" <<LIST
doing one, for time 1
doing die, for time 1
doing two, for time 1
doing die, for time 2
LIST
sort "$work/expected" >"$work/a"
sort "$work/done" >"$work/b"
diff "$work/a" "$work/b" || fail "not each was done as often as it should"
exit 0
