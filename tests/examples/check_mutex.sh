#!/bin/sh
# check_mutex.sh - doc/examples/mutex.c and first.c work, and the second is what
# README shows.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example first
first=$program

# The first block of C in README.
sed -n '/^```c$/,/^```$/p' "$srcdir/README.md" | sed '1d;/^```$/,$d' \
	>"$work/shown"
[ -s "$work/shown" ] || fail "README.md shows no example"
diff "$work/shown" "$source" || fail "README.md shows something else"
example mutex

# Four times on one server: each finds the lock free, and each token is
# greater than the last.
run 60 <<RUN
"$program" && "$first" && "$program" && "$first" &&
	"$kustos" lock -n /locks/report -- echo free
RUN
grep -qx free "$work/out" || fail "the lock was not given back"
tokens "$work/out" 4
