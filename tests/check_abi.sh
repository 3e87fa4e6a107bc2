#!/bin/sh
# check_abi.sh - the headers, the symbol maps and the shared libraries agree on
# the public calls.
#
# Every function marked KUSTOS_API must be in the map, every name in the map
# must be declared, and the library must export exactly what the map names.  Run
# by make check; by hand: srcdir=. core_headers=... tests/check_abi.sh
set -u

: "${srcdir=.}" "${NM=nm}" "${AWK=awk}" "${core_headers?}"
. "$srcdir/tests/complain.sh"

# declared HEADER...: the names of the functions marked KUSTOS_API.
declared() {
	for header; do grep -v "^#" "$srcdir/$header"; done |
		tr '\n\t' '  ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
		grep -o 'KUSTOS_API [^;(]*(' |
		sed 's/.*[ *]\([a-z0-9_]*\)($/\1/' | sort
}

# mapped MAP: "NODE NAME" for each name that a map exports.
mapped() {
	tr '\n\t' '  ' <"$1" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
		tr ';{}' '\n\n\n' |
		$AWK '/local:/ { skip = 1 }
			/global:/ { sub(/.*global:/, ""); skip = 0 }
			/^ *[A-Z][A-Z0-9_]* *$/ { node = $1; skip = 0; next }
			!skip && NF == 1 { print node, $1 }' | sort
}

# exported LIBRARY: "NODE NAME" for each symbol that a library defines.
exported() {
	$NM -D --defined-only "$1" |
		$AWK '{ n = split($NF, part, "@"); if ($2 != "A")
			print (n > 1 ? part[n] : "-"), part[1] }' | sort
}

# same WHAT ONE OTHER: complain about each line in which two files differ.
same() {
	diff "$work/$2" "$work/$3" >"$work/diff" && return
	echo "FAILED: $1 (<$2 only, >$3 only):"
	grep '^[<>]' "$work/diff"
	status=1
}

# check NAME MAP HEADER...
check() {
	name=$1 map=$2
	shift 2
	declared "$@" >"$work/headers"
	mapped "$srcdir/$map" >"$work/map"
	sed -n 's/^KUSTOS_[0-9]* //p' "$work/map" | sort >"$work/public"
	if [ ! -s "$work/headers" ] || [ ! -s "$work/public" ]; then
		complain "$name: no names found in its headers or map"
	fi
	same "$name: headers and map" headers public
	if [ ! -e ".libs/$name.so" ]; then
		echo "note: no shared $name was built"
		return
	fi
	exported ".libs/$name.so" >"$work/library"
	same "$name: map and library" map library
	echo "$name: $(wc -l <"$work/headers") public names"
}

# headers_of RECIPE: the headers that say that they belong to its library.
headers_of() {
	for one in $recipe_headers; do
		! grep -q "^ \* Link with -lkustos-$1 " "$srcdir/$one" ||
			echo "$one"
	done
}

# shellcheck disable=SC2086 # lists of words
check libkustos lib/kustos.map $core_headers
for header in ${recipe_headers-}; do
	recipe=$(basename "$header" .h)
	[ -e "$srcdir/recipes/$recipe.map" ] || continue
	# shellcheck disable=SC2046 # a list of words
	check "libkustos-$recipe" "recipes/$recipe.map" $(headers_of "$recipe")
done
exit $status
