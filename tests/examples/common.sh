# shellcheck shell=sh disable=SC2034 # for those who source it
# common.sh - what tests of examples share.  They begin with
#
#	: "${srcdir=.}"
#	. "$srcdir/tests/examples/common.sh"
#	example NAME
#
# and then run SECONDS <<RUN a script with a server of its own.  They are run by
# make check, in the build folder; by hand: srcdir=. tests/examples/check_NAME.sh
kustos=${KUSTOS-./kustos}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

fail() {
	echo "$(basename "$0"): $*"
	exit 1
}

# example NAME: that program, and its source.
example() {
	program=doc/examples/$1
	source=$srcdir/doc/examples/$1.c
	# As a user's program, it knows only what is installed.
	! grep '#include "' "$source" || fail "$source includes a private header"
}

# run SECONDS: run the script on standard input; it must succeed within that
# time.  Its output is in $work/out.  Without a server the test is skipped.  The
# script can use: await COUNT COMMAND..., which waits until the command prints
# so many lines.
run() {
	cat >"$work/run" <<'AWAIT'
await() {
	count=$1
	shift
	n=0
	until [ "$("$@" 2>/dev/null | wc -l)" -ge "$count" ]; do
		n=$((n + 1))
		[ $n -lt 600 ] || exit 1
		sleep 0.1
	done
}
AWAIT
	cat >>"$work/run"
	timeout "$1" "$kustos" server -- sh "$work/run" >"$work/out" 2>&1
	set -- $?
	cat "$work/out"
	[ "$1" = 0 ] && return
	grep -q '^kustos: no \(ZooKeeper server\|Java\)' "$work/out" &&
		exit 77
	fail "exit code $1"
}

# misused ARGUMENT...: with these arguments the example prints its usage and
# does nothing.
misused() {
	"$program" "$@" >"$work/out" 2>&1 </dev/null
	[ $? = 2 ] || fail "'$*' is not refused"
	grep -q '^usage: ' "$work/out" || fail "'$*' gets no usage"
}

# tokens FILE COUNT: so many lines of the file end in a token, each greater than
# the one before.
tokens() {
	sed -n 's/.*, token \([1-9][0-9]*\)$/\1/p' "$1" >"$work/tokens"
	[ "$(wc -l <"$work/tokens")" = "$2" ] || fail "not $2 tokens"
	sort -nuc "$work/tokens" || fail "the tokens do not grow"
}
