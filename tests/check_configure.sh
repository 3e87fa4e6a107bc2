#!/bin/sh
# check_configure.sh - what configure is asked for is what it does.
set -u

: "${srcdir=.}" "${CC=cc}"
. "$srcdir/tests/complain.sh"

# It does not work beside a tree that was configured in place.
[ ! -e "$srcdir/config.status" ] || exit 77
configure=$(cd "$srcdir" && pwd)/configure
[ -e "$configure" ] || exit 77
cd "$work" || exit 99

# run ARGUMENT...: another time, it knows most already.
run() {
	"$configure" CC="$CC" --config-cache "$@" >out 2>&1
}

# Like any "yes" this is no folder; and what is to be linked with everything is.
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
