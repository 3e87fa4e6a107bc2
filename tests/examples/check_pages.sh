#!/bin/sh
# check_pages.sh - the manual pages describe what the headers declare.
#
# Each function marked KUSTOS_API is in the NAME and the SYNOPSIS of one page,
# with exactly the type that the header gives it.  Each option and each constant
# is in some page.  kustos(7) has each error with its number, each header with
# what to link, and each page.  Whatever a page refers to exists.  mandoc, where
# it is installed, has no complaints.  Run by make check; by hand: srcdir=.
# core_headers=... recipe_headers=... tests/examples/check_pages.sh
set -u

: "${srcdir=.}" "${CC=cc}" "${AWK=awk}" "${core_headers?}" "${recipe_headers?}"
pages=$srcdir/doc/man
. "$srcdir/tests/complain.sh"

# same WHAT ONE OTHER: complain about lines that only one of two files has.
same() {
	diff "$work/$2" "$work/$3" >"$work/diff" && return
	complain "$1 (<$2 only, >$3 only):"
	grep '^[<>]' "$work/diff"
}

# A header without its comments and directives, as one line.
bare() {
	grep -v '^#' "$1" | tr '\n\t' '  ' |
		sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g'
}

for header in $core_headers $recipe_headers; do
	cat "$srcdir/$header" >>"$work/raw"
	bare "$srcdir/$header" >>"$work/bare"
	printf '#include <kustos/%s>\n' "$(basename "$header")" >>"$work/page.c"
done
grep -o 'KUSTOS_API [^;(]*(' "$work/bare" |
	sed 's/.*[ *]\([a-z0-9_]*\)($/\1/' | sort >"$work/declared"
[ -s "$work/declared" ] || complain 'no function was found in the headers'

# The names of each page are exactly those of which it has a prototype.
for page in "$pages"/*.3; do
	name=$(basename "$page")
	sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' "$page" |
		sort >"$work/names"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.F[no] \([a-z0-9_]*\).*/\1/p' \
		"$page" | sort >"$work/synopsis"
	same "$name: NAME and SYNOPSIS" names synopsis
	cat "$work/names" >>"$work/all"
done
sort "$work/all" >"$work/described"
same 'headers and pages' declared described

# The pages' prototypes become a program that compiles only if they are those of
# the headers.
$AWK '/^\.Sh/ { inside = /SYNOPSIS/ }
	!inside { next }
	{ gsub(/"/, "") }
	/^\.Ft/ { type = substr($0, 5) }
	/^\.Fn/ { name = $2; sub(/^\.Fn [^ ]* /, "")
		print type " " name "(" $0 ");" }
	/^\.Fo/ { line = type " " $2 "("; between = "" }
	/^\.Fa/ { line = line between substr($0, 5); between = ", " }
	/^\.Fc/ { print line ");" }
	/^\.Bd/ { text = 1; next }
	/^\.Ed/ { text = 0 }
	text' "$pages"/*.3 >>"$work/page.c"
# shellcheck disable=SC2086 # CC may hold options
$CC -std=c11 -Wall -Wstrict-prototypes -Werror -fsyntax-only \
	-I"$srcdir/lib" -I"$srcdir/recipes" "$work/page.c" ||
	complain 'a prototype differs from its header'

grep -o 'KUSTOS_[A-Z]* *= *[0-9]*' "$work/bare" | tr -d ' ' |
	grep -E '^KUSTOS_(OK|E[A-Z]*)=' | sed 's/=/ /' | sort >"$work/errors"
sed -n 's/^\.It Dv \(KUSTOS_[A-Z]*\) No (\([0-9]*\))$/\1 \2/p' \
	"$pages/kustos.7" | sort >"$work/listed"
[ -s "$work/errors" ] || complain 'no error was found in the headers'
same 'errors and kustos.7' errors listed

# Every constant that a page names exists.
grep -hv '^\.Dt' "$pages"/*.[37] | grep -oE '\bKUSTOS_[A-Z_]+\b' | sort -u |
	while read -r word; do
		grep -q "\<$word\>" "$work/raw" || echo "$word"
	done >"$work/unknown"
[ ! -s "$work/unknown" ] ||
	complain "pages name what no header does: $(tr '\n' ' ' <"$work/unknown")"

# Every constant is named by a page.  (Not the kinds of policies, which are made
# by calls.)
grep -hoE '^#define KUSTOS_[A-Z_]+ [^\]|\bKUSTOS_[A-Z_]+ =' "$work/raw" |
	grep -oE 'KUSTOS_[A-Z_]+' |
	grep -vE '_RETRY_|_(API|CHECK|BEGIN|END|INIT|H)$' | sort -u >"$work/constants"
[ "$(wc -l <"$work/constants")" -ge 60 ] ||
	complain 'hardly any constant was found'
while read -r word; do
	grep -qw "$word" "$pages"/*.[37] || complain "no page names $word"
done <"$work/constants"

# A struct that a page shows is that of the header, line by line.
structs() {
	tr -s ' ' <"$1" | grep -o 'struct kustos_[a-z_]* {[^}]*}'
}
sed -n '/^struct kustos_[a-z_]* {/,/^};/p' "$pages"/*.3 >"$work/displayed"
bare "$work/displayed" >"$work/bare_displayed"
structs "$work/bare_displayed" | sort >"$work/shown_structs"
structs "$work/bare" | sort >"$work/structs"
comm -13 "$work/structs" "$work/shown_structs" >"$work/diff"
[ ! -s "$work/diff" ] ||
	complain "a page shows what no header has: $(cat "$work/diff")"

# Of any other struct each field, and so each option, is in a page of its
# header.  (Not of a policy, which is made by calls; nor what is reserved.)
for header in $core_headers $recipe_headers; do
	of=$(grep -l "^\.In kustos/$(basename "$header")\>" "$pages"/*.3)
	bare "$srcdir/$header" >"$work/one"
	structs "$work/one" | grep -vxF -f "$work/shown_structs" |
		grep -v '^struct kustos_retry ' |
		sed 's/.*{//; s/ }//; s/(\*\([a-z_]*\))([^)]*)/\1/g' |
		tr ';' '\n' | tr ',' '\n' | sed 's/.*[ *]\([a-z_0-9]*\)$/\1/' |
		grep -vx -e size -e reserved -e '' | while read -r field; do
		# shellcheck disable=SC2086 # names of pages
		grep -qw "$field" $of || echo "$(basename "$header"):$field"
	done
done >"$work/unsaid"
[ ! -s "$work/unsaid" ] ||
	complain "fields in no page: $(tr '\n' ' ' <"$work/unsaid")"

# kustos(7) has each header below the library to link with, and each page.
for header in $core_headers $recipe_headers; do
	name=kustos/$(basename "$header")
	link=$(sed -n 's/^ \* Link with -l\([a-z-]*\) .*/\1/p' \
		"$srcdir/$header" | head -n 1)
	: "${link:=kustos}"
	sed -n "/^\.It Fl l$link\$/,/^\.El/p" "$pages/kustos.7" |
		sed '1d' | sed '/^\.It/,$d' | grep -q "^\.In $name\>" ||
		complain "kustos.7 does not say that $name is of -l$link"
done
sed -n '/^\.Sh SEE ALSO/,/^\.Sh CAV/p' "$pages/kustos.7" >"$work/also"
sed -n '/^\.Sh DESCRIPTION/,/^\.Ss/p' "$pages/kustos.7" >"$work/told"
for page in "$pages"/*.3; do
	name=$(basename "$page" .3)
	grep -q "^\.Xr $name 3" "$work/also" ||
		complain "kustos.7 does not refer to $name(3)"
	grep -q "^\.It Xr $name 3" "$work/told" ||
		complain "kustos.7 does not say what $name(3) is"
done

grep -q '^\.Xr kustos_cpp 7' "$work/also" ||
	complain 'kustos.7 does not refer to kustos_cpp(7)'

# References to our own pages name a page, or a name in one.
sed -n 's/^\.Xr \(kustos[a-z_]*\) \([137]\).*/\1 \2/p' "$pages"/* | sort -u |
	while read -r name section; do
		[ -e "$pages/$name.$section" ] ||
			grep -qx "$name" "$work/all" || echo "$name($section)"
	done >"$work/dangling"
[ ! -s "$work/dangling" ] ||
	complain "no such page: $(tr '\n' ' ' <"$work/dangling")"

# A quoted macro runs to the end of its line, so quotes nest.
grep -nE '^\.(.* )?Dq .* Dq ' "$pages"/* >"$work/nested" &&
	complain "a quotation within a quotation: $(cat "$work/nested")"

# The class that kustos(7) shows to kazoo's users is the one that is installed.
sed -n '/^from kazoo/,$p' "$srcdir/doc/examples/kustos_lock.py" >"$work/class"
sed -n '/^from kazoo/,/^\.Ed/p' "$pages/kustos.7" | sed '/^\.Ed/,$d' \
	>"$work/shown"
[ -s "$work/class" ] || complain 'kustos_lock.py has no class'
same "kustos.7 and kustos_lock.py" shown class

if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$pages"/* || complain 'mandoc -Tlint'
else
	echo 'note: mandoc is not installed'
fi
exit $status
