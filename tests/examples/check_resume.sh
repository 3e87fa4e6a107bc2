#!/bin/sh
# check_resume.sh - doc/examples/resume.c and follow.c work.  A leader that is
# restarted continues its term, while another candidate waits.  A follower sees
# only one leader.  Without the file, another candidate leads next.
set -u

: "${srcdir=.}"
. "$srcdir/tests/examples/common.sh"
example follow
follow=$program
example resume

run 120 <<RUN
: >"$work/said"
mkfifo "$work/follow" "$work/one" "$work/two" || exit 1
"$follow" <"$work/follow" >"$work/seen" & follow=\$!
exec 3>"$work/follow"
await 1 cat "$work/seen"
begin() { # NAME: with input that does not end yet
	"$program" "\$1" "$work/\$1.ticket" <"$work/\$1" >>"$work/said" 3>&- &
}
candidates() {
	"$kustos" ls /elections/scheduler | grep -e -latch-
}
begin one
one=\$!
exec 4>"$work/one"
await 2 cat "$work/seen"
begin two 4>&-
two=\$!
exec 5>"$work/two"
await 2 candidates
exec 4>&-
wait \$one || exit 1
begin one 5>&-
one=\$!
exec 4>"$work/one"
await 2 cat "$work/said"
rm "$work/one.ticket"
exec 4>&-
wait \$one || exit 1
await 3 cat "$work/said"
await 1 grep two "$work/seen"
exec 5>&-
wait \$two || exit 1
exec 3>&-
wait \$follow
RUN
cat "$work/said"
sed 's/[0-9]*$//' "$work/said" >"$work/words"
diff - "$work/words" <<WANTED || fail "they led in another way"
one leads, token 
one leads, token 
two leads, token 
WANTED
uniq "$work/said" >"$work/terms"
tokens "$work/terms" 2
misused one
grep -v '^nobody leads$' "$work/seen" | uniq | diff "$work/terms" - ||
	fail "who followed has seen other terms"
