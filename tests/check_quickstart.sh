#!/bin/sh
# check_quickstart.sh - quickstart says why it stops.  It runs on machines that
# are only a folder of commands, so that it neither sees nor changes what is
# installed here.
set -u

: "${srcdir=.}"
. "$srcdir/tests/complain.sh"

# machine NAME COMMAND...: a tree with quickstart in it, and a folder with these
# commands of the real machine.
machine() {
	here=$work/$1
	shift
	mkdir -p "$here/tree" "$here/bin"
	cp "$srcdir/quickstart" "$here/tree"
	for command in sh env dirname mkdir cat grep sed tail tr rm "$@"; do
		at=$(command -v "$command") && ln -s "$at" "$here/bin/$command"
	done
}

# pretend NAME: a command, the script of which is on standard input.
pretend() {
	rm -f "$here/bin/$1" # it may be a link
	{
		echo '#!/bin/sh'
		cat
	} >"$here/bin/$1"
	chmod +x "$here/bin/$1"
}

# stops WITH PATTERN [ARGUMENT...]: quickstart ends with 1, and its last line is
# the reason.
stops() {
	pattern=$1
	shift
	PATH=$here/bin "$here/tree/quickstart" "$@" >"$here/out" 2>&1 </dev/null
	code=$?
	last=$(tail -n 1 "$here/out")
	# shellcheck disable=SC2254 # a pattern
	case $code:$last in
	"1:quickstart: FAILED: "$pattern)
		echo "ok: $last"
		;;
	*)
		echo "FAILED: wanted 1 and \"$pattern\", not $code and"
		sed 's/^/	/' "$here/out"
		status=1
		;;
	esac
}

# ends_well: quickstart ends with 0, and says so.
ends_well() {
	PATH=$here/bin "$here/tree/quickstart" >"$here/out" 2>&1 </dev/null &&
		tail -n 1 "$here/out" | grep -q '^quickstart: OK: ' && return
	echo "FAILED: it should have ended well"
	sed 's/^/	/' "$here/out"
	status=1
}

has() {
	grep -qF "$1" "$here/$2" && return
	echo "FAILED: no \"$1\" in $2"
	sed 's/^/	/' "$here/$2"
	status=1
}

has_not() {
	grep -qF "$1" "$here/$2" || return 0
	echo "FAILED: \"$1\" in $2"
	sed 's/^/	/' "$here/$2"
	status=1
}

nothing_installed() {
	pretend dpkg-query </dev/null
}

machine bare
stops 'not found here: cc make autoconf automake libtoolize pkg-config java *'
has 'zookeeper/zookeeper.h' out
has 'This is not a Debian system' out

# With "check" it needs more.
machine elsewhere
for command in cc make autoconf automake libtoolize; do
	pretend $command </dev/null
done
echo '[ "$*" != "--exists check" ]' | pretend pkg-config
stops 'not found here: java*'
has_not 'libcheck' out
stops 'not found here: java* libcheck' check
for used in g++ javac Curator kazoo; do
	has "$used" out
done
echo 'exit 0' | pretend pkg-config
stops 'not found here: java*' check
tail -n 1 "$here/out" >"$here/last"
has_not 'libcheck' last

machine plain-user
nothing_installed
pretend apt-get </dev/null
echo 'echo 1000' | pretend id
stops 'not root, and no sudo; as root: apt-get install gcc *'

# With "check" it would install more, and a tool for plots unless one is here.
stops 'not root, *python3-kazoo*' check
stops 'not root, * gnuplot-nox'
echo 'exit 0' | pretend gnuplot
stops 'not root, * libzookeeper-st-dev'

machine no-network
nothing_installed
pretend apt-get <<END
echo "\$*" >>$here/asked
echo "cannot resolve the name"
exit 100
END
echo 'echo 0' | pretend id
# shellcheck disable=SC2016 # for the command
echo 'shift; [ "$1" != mkdir ] && exec "$@"' | pretend env
stops 'could not install the packages; the whole log is *'
has 'refreshing the list of packages first' out
has 'cannot resolve the name' out
has 'install --no-install-recommends gcc' asked
has 'update' asked

machine configured-in-place
echo 'echo installed' | pretend dpkg-query
pretend apt-get </dev/null
: >"$here/tree/config.status"
stops 'this tree was configured in place; run "make distclean" first'

machine broken-build
echo 'echo installed' | pretend dpkg-query
pretend apt-get </dev/null
printf '#!/bin/sh\necho "no such compiler"\nexit 77\n' >"$here/tree/configure"
chmod +x "$here/tree/configure"
stops 'configure --enable-odd; the whole log is *' --enable-odd
has 'no such compiler' out

# Everything is there and built, or claims to be.
machine works sleep setsid
echo 'echo installed' | pretend dpkg-query
pretend apt-get </dev/null
pretend make </dev/null
printf '#!/bin/sh\n: >Makefile\n' >"$here/tree/configure"
chmod +x "$here/tree/configure"
mkdir -p "$here/tree/build/quickstart"
ln -s "$here/tree/build/quickstart" "$here/made"
# shellcheck disable=SC2016 # for the command
echo 'for last; do :; done; echo "a plot of $*" >"$last"' |
	pretend ../made/kustos
echo 'echo all well' | pretend ../made/kustos-demo
ends_well
has 'left out: there is no gnuplot' out
echo 'exit 0' | pretend gnuplot
ends_well
has '/kustos bench ' out
has 'a plot of server -- ' out

# interrupted COMMAND: quickstart gets TERM while this command runs, and while a
# process that the command started holds a pipe open.
interrupted() {
	mkfifo "$here/alive"
	pretend "$1" <<-END
		exec >$here/alive
		echo started
		sleep 100 &
		wait
	END
	PATH=$here/bin "$here/tree/quickstart" >"$here/out" 2>&1 </dev/null &
	# Reads to the end of the pipe, which comes once no process has it open
	# any more.
	# shellcheck disable=SC2016 # for the inner shell
	timeout 30 sh -c 'exec <"$1"; read -r _ && kill -TERM "$0" && cat' \
		$! "$here/alive" || complain "$1: what it started still runs"
	wait $!
	code=$?
	last=$(tail -n 1 "$here/out")
	[ "$code:$last" = '1:quickstart: FAILED: interrupted' ] ||
		complain "interrupted in $1: $code, and at last \"$last\""
	rm "$here/alive"
}

# Without setsid, quickstart can end only the processes that it started itself.
if command -v setsid >/dev/null; then
	interrupted make # whose output goes to the log
	pretend make </dev/null
	interrupted ../made/kustos-demo
	echo 'echo all well' | pretend ../made/kustos-demo
else
	echo 'note: without setsid, it was not interrupted'
fi

echo 'exit 3' | pretend ../made/kustos
stops 'kustos bench ended with exit code 3'

machine no-room
: >"$here/tree/build"
stops 'cannot write to *'

exit $status
