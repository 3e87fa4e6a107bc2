#!/bin/sh
# check_headers.sh - each installed header compiles alone, as C99 and as C++,
# with its macros used (as C++20, those of C++17 as well).  It gives no warning
# that a user may turn on, even if the compiler does not treat it as a system
# header.  Its examples do not ignore a result of which the compiler would warn.
set -u

: "${srcdir=.}" "${CC=cc}" "${CXX=}" "${core_headers?}"
. "$srcdir/tests/complain.sh"

warnings='-Wall -Wextra -Wundef -Wshadow -Wconversion -Wsign-conversion -Wcast-qual
	-Wredundant-decls -pedantic-errors'

# known COMPILER...: those of the warnings that the compiler knows.
known() {
	for flag in $warnings -Wstrict-prototypes -Wmissing-prototypes \
		-Wold-style-definition -Wold-style-cast -Wuseless-cast; do
		echo 'int a;' | "$@" -Werror "$flag" -fsyntax-only - \
			2>/dev/null && echo "$flag"
	done
}

# program FILE: a program that includes the header twice, to test its guard.
program() {
	printf '#include <kustos/%s>\n#include <kustos/%s>\n' \
		"$(basename "$1")" "$(basename "$1")"
	echo 'int main(void) {'
	echo 'kustos_deadline some[] = { KUSTOS_NOW, KUSTOS_FOREVER }; (void)some;'
	sed -n 's/^#define KUSTOS_\([A-Z_]*\)_INIT .*/\1/p' "$1" |
		while read -r macro; do
			name=$(echo "$macro" | tr '[:upper:]' '[:lower:]')
			echo "struct kustos_$name a_$name = KUSTOS_${macro}_INIT;"
			echo "(void)a_$name;"
		done
	echo 'return 0; }'
}

# compile STANDARDS FILES COMPILER...
compile() {
	standards=$1 files=$2
	shift 2
	command -v "$1" >/dev/null || return
	flags=$(known "$@")
	for file in $files; do
		program "$file" >"$work/program"
		for standard in $standards; do
			# shellcheck disable=SC2086 # a list of words
			"$@" "-std=$standard" $flags -Wno-long-long -Werror \
				-fsyntax-only -I"$srcdir/lib" \
				-I"$srcdir/recipes" "$work/program" ||
				complain "$file as $standard by $*"
		done
	done
}

# ignored FILE: calls with a result that must be used, and which an example in
# the header does not use.
ignored() {
	tr '\n\t' '  ' <"$1" >"$work/flat"
	sed -n 's/^ \*	*\(kustos_[a-z0-9_]*\)(.*;$/\1/p' "$1" |
		while read -r call; do
			! grep -q "KUSTOS_CHECK [^;(]*[ *]$call(" "$work/flat" ||
				echo "$call"
		done
}

headers=
for file in $core_headers ${recipe_headers-}; do
	headers="$headers $srcdir/$file"
	for call in $(ignored "$srcdir/$file"); do
		complain "$file: an example ignores what $call() returns"
	done
done
# Also with compilers other than that of this build, if they are installed.
# shellcheck disable=SC2086 # CC and CXX may hold options
{
	compile c99 "$headers" $CC -x c
	compile c99 "$headers" clang -x c
	for cxx in "$CXX" clang++; do
		[ -n "$cxx" ] || continue
		compile 'c++98 c++11 c++20' "$headers" $cxx -x c++
		compile c++17 "$(echo "$srcdir"/*/kustos/*.hpp)" $cxx -x c++
		compile c++20 "$srcdir/lib/kustos/kustos.hpp" $cxx -x c++
	done
}
[ -n "$CXX" ] || echo "note: without a C++ compiler, only C99 was tried"
exit $status
