#!/bin/sh
# check_mutex.sh - doc/examples/mutex.c and first.c work, and README shows the
# middle part of first.c.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example first
first=$program

# The first block of C in README, about ten lines, is part of the program,
# unchanged.
sed -n '/^```c$/,/^```$/p' "$srcdir/README.md" | sed '1d;/^```$/,$d' \
	>"$work/shown"
lines=$(wc -l <"$work/shown")
[ "$lines" -ge 8 ] && [ "$lines" -le 12 ] ||
	fail "README.md shows an example of $lines lines"
grep -xF -A $((lines - 1)) -e "$(head -n 1 "$work/shown")" "$source" |
	diff "$work/shown" - || fail "README.md shows something else"
grep -q "^cc doc/examples/first\.c " "$srcdir/README.md" ||
	fail "README.md does not say how it is built"
example mutex

# Run four times on one server: each run finds the lock free and gets a greater
# token than the last.
run 60 <<RUN
"$program" && "$first" && "$program" && "$first" &&
	"$kustos" lock -n /locks/report -- echo free
RUN
grep -qx free "$work/out" || fail "the lock was not given back"
tokens "$work/out" 4
