#!/bin/sh
# check_man.sh - kustos(1) and each --help have the same options and exit codes.
#
# Run by make check in the build folder; by hand:
#	srcdir=. tests/tools/check_man.sh
set -u

: "${srcdir=.}"
kustos=${KUSTOS-./kustos}
page=$srcdir/doc/man/kustos.1
. "$srcdir/tests/complain.sh"

# words: the options in a text.
words() {
	grep -oE '(^|[ ,])--?[a-zA-Z][-a-z]*' | tr -d ' ,'
}

[ -r "$page" ] || complain "there is no $page"
"$kustos" help >"$work/overview" || complain "'kustos help' fails"
subcommands=$(sed -n 's/^  kustos \([a-z]*\) .*/\1/p' "$work/overview")
[ -n "$subcommands" ] || complain "'kustos help' names no subcommand"

# In mdoc "Fl x" is -x and "Fl -long" is --long; an exit code is "It 120".
"${AWK-awk}" '/^\.It/ { for (i = 1; i < NF; i++)
	if ($i == "Fl") print "-" $(i + 1) }' "$page" | sort -u >"$work/page"

for name in $subcommands; do
	"$kustos" "$name" --help >"$work/text" ||
		complain "'kustos $name --help' fails"
	"$kustos" help "$name" | cmp -s - "$work/text" ||
		complain "'kustos help $name' says something else"
	sed -n '/^  *-/p' "$work/text" | sed 's/  [^ -].*//' | words \
		>"$work/$name"
	cat "$work/$name" >>"$work/all"
	grep -q "^\.Ss .*kustos $name\|^\.Ic $name" "$page" ||
		complain "$page does not describe 'kustos $name'"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$page" |
		grep -q "^\.Cm $name\>" ||
		complain "the synopsis of $page has no 'kustos $name'"
	grep -oE '\b(11[0-9]|12[0-7])\b' "$work/text" | sort -u |
		while read -r code; do
			grep -q "^\.It $code\$" "$page" || echo "$code"
		done >"$work/codes"
	[ ! -s "$work/codes" ] || complain "'kustos $name --help' names exit" \
		"codes that $page does not: $(tr '\n' ' ' <"$work/codes")"
done

sort -u "$work/all" >"$work/help"
missing=$(comm -23 "$work/help" "$work/page" | tr '\n' ' ')
[ -z "$missing" ] || complain "$page does not describe $missing"
stale=$(comm -13 "$work/help" "$work/page" | tr '\n' ' ')
[ -z "$stale" ] || complain "no --help knows $stale"
[ "$(wc -l <"$work/help")" -ge 20 ] || complain "hardly any option was found"
exit $status
