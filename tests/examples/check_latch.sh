#!/bin/sh
# check_latch.sh - doc/examples/latch.c works: one process leads, and when it
# ends or is killed, the next one leads.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example latch

# Three processes start one after the other.  The first ends when its input
# does.  The second is killed, and the third leads once the session of the
# second is over.
run 120 <<RUN
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
cat "$work/said"
sed 's/[0-9]*$//' "$work/said" >"$work/words"
diff - "$work/words" <<WANTED || fail "they led in another way"
one leads, token 
one has stopped
two leads, token 
three leads, token 
three has stopped
WANTED
tokens "$work/said" 3
