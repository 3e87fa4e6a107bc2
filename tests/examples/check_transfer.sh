#!/bin/sh
# check_transfer.sh - doc/examples/transfer.c works: it acquires both locks and
# releases them.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example transfer

run 60 <<RUN
"$program" && "$kustos" lock -n /accounts/1 /accounts/2 -- echo free
RUN
grep -qx free "$work/out" || fail "the locks were not given back"
tokens "$work/out" 2 # the first is taken first
