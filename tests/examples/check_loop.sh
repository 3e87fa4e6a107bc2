#!/bin/sh
# check_loop.sh - doc/examples/loop.c works.  Of two processes one is at work,
# and both answer meanwhile.  A process that loses the lock joins the line
# again.  Each ends when its input does.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example loop

run 60 <<RUN
at() {
	"$kustos" ls /locks/daemon | grep "\$1"
}
mkfifo "$work/in1" "$work/in2" || exit 1
"$program" <"$work/in1" >"$work/one" & one=\$!
exec 3>"$work/in1"
await 1 grep '^at work, token' "$work/one"
"$program" <"$work/in2" >"$work/two" 3>&- & two=\$!
exec 4>"$work/in2"
await 1 at ^waits
echo >&3
echo >&4
await 1 grep '^at work, [0-9]* steps' "$work/one"
await 1 grep '^waiting, 0 steps' "$work/two"
"$kustos" break -y /locks/daemon || exit 1
await 1 grep '^at work, token' "$work/two"
await 1 at ^waits
exec 4>&-
wait \$two || exit 1
await 2 grep '^at work, token' "$work/one"
exec 3>&-
wait \$one || exit 1
"$kustos" ls /locks/daemon
RUN
grep -qx '/locks/daemon: free' "$work/out" || fail 'a node was left behind'
grep -qx lost "$work/one" || fail 'the first was not told of its loss'
! grep -qx lost "$work/two" || fail 'the second lost something'
grep -h '^at work, token' "$work/one" >"$work/said"
tokens "$work/said" 2
