#!/bin/sh
# check_kept_abi.sh - what a program was linked with is still there, unchanged.
#
# tests/abi holds, for each shared library, what abidw tells of its public calls
# and their types as of the last release.  Calls may have been added, and fields
# at the end of structs that carry their size; anything else is complained of.
# CONTRIBUTING.md says what to do then.
#
# Run by make check; exits 77 without abidiff, or where the libraries are not for
# the machine of the dumps or have no debug information.  "make keep-abi" writes
# the dumps anew.
set -u

: "${srcdir=.}" "${recipes?}"
job=${1-check}
kept=$srcdir/tests/abi
command -v abidiff >/dev/null || exit 77
[ "$(uname -m)" = x86_64 ] || exit 77
[ -e .libs/libkustos.so ] || exit 77
readelf -S .libs/libkustos.so | grep -q '\.debug_info' || exit 77
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
status=0
: >"$work/said"

# dump NAME: what is public of a library, and nothing of where it was built.
dump() {
	abidw --exported-interfaces-only --no-show-locs --no-corpus-path \
		--no-comp-dir-path --type-id-style hash \
		--suppressions "$kept/private" ".libs/$1.so" |
		sed "/version='KUSTOS_PRIVATE'/d"
}

compare() {
	[ -e "$kept/$1.abi" ] && dump "$1" >"$work/$1.abi" &&
		abidiff --no-added-syms --suppressions "$kept/may-grow" \
			"$kept/$1.abi" "$work/$1.abi" >"$work/said" 2>&1 &&
		echo "$1: as it was" && return
	cat "$work/said"
	echo "FAILED: $1: see CONTRIBUTING.md, ABI; if it may change: make keep-abi"
	return 1
}

for name in libkustos $(printf 'libkustos-%s ' $recipes); do
	if [ "$job" = keep ]; then
		dump "$name" >"$kept/$name.abi"
	else
		compare "$name" || status=1
	fi
done
exit $status
