#!/bin/sh
# check_mutex.sh - doc/examples/mutex.c is what README shows, and it works.
#
# Run by make check in the build folder; by hand:
# srcdir=. tests/examples/check_mutex.sh
set -u

: "${srcdir=.}"
kustos=${KUSTOS-./kustos}
program=doc/examples/mutex
source=$srcdir/doc/examples/mutex.c
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

fail() {
	echo "check_mutex.sh: $*"
	exit 1
}

# The first block of C in README.
sed -n '/^```c$/,/^```$/p' "$srcdir/README.md" | sed '1d;/^```$/,$d' \
	>"$work/shown"
[ -s "$work/shown" ] || fail "README.md shows no example"
diff "$work/shown" "$source" || fail "README.md shows something else"

# It is a user's program: what is installed is all that it knows.
! grep '#include "' "$source" || fail "$source includes a private header"

"$kustos" server -- true >"$work/server" 2>&1 || {
	cat "$work/server"
	grep -q 'no ZooKeeper server\|no Java' "$work/server" && exit 77
	fail "no server could be started"
}

# Three times on one server: each finds the lock free, and each token is
# greater than the last.
cat >"$work/run" <<RUN
"$program" && "$program" && "$program" &&
	"$kustos" lock -n /locks/report -- echo free
RUN
timeout 60 "$kustos" server -- sh "$work/run" >"$work/out" 2>&1
status=$?
cat "$work/out"
[ $status = 0 ] || fail "exit code $status"
grep -qx free "$work/out" || fail "the lock was not given back"
sed -n 's/^writing the report, token \([1-9][0-9]*\)$/\1/p' "$work/out" \
	>"$work/tokens"
[ "$(wc -l <"$work/tokens")" = 3 ] || fail "not three reports were written"
sort -nuc "$work/tokens" || fail "the tokens do not grow"
