#!/bin/sh
# check_latch.sh - doc/examples/latch.c works: one leads, and when it ends, or is
# killed, the next one does.
#
# Run by make check in the build folder; by hand:
# srcdir=. tests/examples/check_latch.sh
set -u

: "${srcdir=.}"
kustos=${KUSTOS-./kustos}
program=doc/examples/latch
source=$srcdir/doc/examples/latch.c
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

fail() {
	echo "check_latch.sh: $*"
	exit 1
}

# It is a user's program: what is installed is all that it knows.
! grep '#include "' "$source" || fail "$source includes a private header"

"$kustos" server -- true >"$work/server" 2>&1 || {
	cat "$work/server"
	grep -q 'no ZooKeeper server\|no Java' "$work/server" && exit 77
	fail "no server could be started"
}

# Three come one after the other.  The first ends when its input does, the second
# is killed, and the third leads when that one's session is over.
cat >"$work/run" <<RUN
await() { # COUNT COMMAND...: until the command prints so many lines
	count=\$1
	shift
	n=0
	until [ "\$("\$@" 2>/dev/null | wc -l)" -ge \$count ]; do
		n=\$((n + 1))
		[ \$n -lt 600 ] || exit 1
		sleep 0.1
	done
}
line() { # the candidates
	"$kustos" ls /elections/scheduler | grep -e -latch-
}
: >"$work/said"
mkfifo "$work/one" "$work/two" "$work/three" || exit 1
"$program" one <"$work/one" >>"$work/said" & one=\$!
exec 3>"$work/one"
await 1 cat "$work/said"
"$program" two <"$work/two" >>"$work/said" 3>&- & two=\$!
exec 4>"$work/two"
await 2 line
"$program" three <"$work/three" >>"$work/said" 3>&- 4>&- & three=\$!
exec 5>"$work/three"
await 3 line
exec 3>&-
wait \$one && await 3 cat "$work/said"
kill -9 \$two
await 4 cat "$work/said"
exec 5>&-
wait \$three
RUN
timeout 120 "$kustos" server -- sh "$work/run" >"$work/out" 2>&1
status=$?
cat "$work/out" "$work/said"
[ $status = 0 ] || fail "exit code $status"
sed 's/[0-9]*$//' "$work/said" >"$work/words"
diff - "$work/words" <<WANTED || fail "they led in another way"
one leads, token 
one has stopped
two leads, token 
three leads, token 
three has stopped
WANTED
sed -n 's/.*token \([1-9][0-9]*\)$/\1/p' "$work/said" >"$work/tokens"
[ "$(wc -l <"$work/tokens")" = 3 ] || fail "not three led"
sort -nuc "$work/tokens" || fail "the tokens do not grow"
