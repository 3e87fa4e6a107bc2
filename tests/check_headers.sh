#!/bin/sh
# check_headers.sh - each installed header compiles alone, as C99 and as C++.
set -u

: "${srcdir=.}" "${CC=cc}" "${CXX=}" "${core_headers?}"
. "$srcdir/tests/complain.sh"

# compile HEADER LANGUAGE COMPILER...: include it twice, to try its guard, too.
compile() {
	header=$1 language=$2
	shift 2
	printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' \
		"$header" "$header" >"$work/$language"
	if ! "$@" -Wall -Wextra -Wundef -pedantic -Werror -fsyntax-only \
		-I"$srcdir/lib" -I"$srcdir/recipes" "$work/$language"; then
		complain "$header as $language"
	fi
}

for file in $core_headers ${recipe_headers-}; do
	header=kustos/$(basename "$file")
	# shellcheck disable=SC2086 # CC may hold options
	compile "$header" c99.c $CC -std=c99
	# shellcheck disable=SC2086
	[ -z "$CXX" ] || compile "$header" c++.cc $CXX -std=c++98 -Wno-long-long
	echo "$header"
done
[ -n "$CXX" ] || echo "note: without a C++ compiler, only C99 was tried"
exit $status
