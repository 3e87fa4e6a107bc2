#!/bin/sh
# check_configure.sh - configure does what its options ask for.
set -u

: "${srcdir=.}" "${CC=cc}"
. "$srcdir/tests/complain.sh"

# A build outside the source tree is impossible if the source tree itself was
# configured.
[ ! -e "$srcdir/config.status" ] || exit 77
configure=$(cd "$srcdir" && pwd)/configure
[ -e "$configure" ] || exit 77
cd "$work" || exit 99

# run ARGUMENT...: the second run takes most answers from the cache.
run() {
	"$configure" CC="$CC" --config-cache "$@" >out 2>&1
}

# "yes" is not a folder, so it must not become a search path; and LIBS given by
# the user must be kept.
if run --with-zookeeper=yes LIBS=-lm; then
	grep -q '^LIBS = .*-lm' Makefile || complain 'LIBS is not kept'
	! grep -e -Iyes -e -Lyes Makefile || complain 'yes is no folder'
else
	cat out
	complain '--with-zookeeper=yes LIBS=-lm'
fi
! run --with-zookeeper=no LIBS=-lm || complain 'without ZooKeeper'
grep -q 'nothing without the C client' out || complain "$(tail -n 3 out)"
exit $status
