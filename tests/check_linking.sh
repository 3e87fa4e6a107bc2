#!/bin/sh
# check_linking.sh - a program that uses one recipe is linked with that recipe
# alone.
#
# For each installed recipe, a program that refers to every function of its map
# is built with the .pc files of the recipe and the core only: with the shared
# libraries and with the archives.  The program must not name, load or contain
# anything of another recipe.  The example for CMake is built as well, where
# CMake is installed.
#
# Run by make check on what it installed in tests/installed, and by make
# installcheck; by hand: see tests/local.mk for the environment.
set -u

: "${srcdir=.}" "${CC=cc}" "${NM=nm}" "${recipes?}" "${recipe_headers?}"
. "$srcdir/tests/installed.sh"
command -v readelf >/dev/null || exit 77

mkdir "$work/archives"
cp "$libdir"/libkustos*.a "$work/archives" 2>/dev/null ||
	echo 'note: no static libraries were built'
[ -e "$libdir/libkustos.so" ] || echo 'note: no shared libraries were built'

# calls MAP: the public names in the map.
calls() {
	sed -n '/^KUSTOS_[0-9]/,/^}/s/^\t\(kustos_[a-z0-9_]*\);/\1/p' "$1"
}

# engines RECIPE: the functions that create engines of the core, as far as the
# recipe's archive refers to them.
engines() {
	$NM "$work/archives/libkustos-$1.a" |
		sed -n 's/^ *U \(ku_.*_create\)$/\1/p' | sort -u
}

# program RECIPE: a program that refers to all public calls of the recipe.
program() {
	for header in $recipe_headers; do
		grep -q "^ \* Link with -lkustos-$1 " "$srcdir/$header" &&
			echo "#include <kustos/$(basename "$header")>"
	done
	echo '#include <kustos/client.h>'
	echo 'typedef void (*call)(void);'
	echo 'static const call calls[] = {'
	calls "$srcdir/recipes/$1.map" | sed 's/.*/	(call)&,/'
	cat <<-'MAIN'
	};
	int main(int argc, char **argv)
	{
		(void)argv;
		return calls[argc - 1] != 0 && kustos_strerror(KUSTOS_OK) ? 0 : 1;
	}
	MAIN
}

# ours PROGRAM: the Kustos libraries that the program is linked with.
ours() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(libkustos[a-z-]*\)\.so.*/\1/p' |
		sort | tr '\n' ' '
}

# others RECIPE: all other recipes.
others() {
	for other in $recipes; do
		[ "$other" = "$1" ] || echo "$other"
	done
}

# build RECIPE HOW ARGUMENT...: the arguments are for the linker.
build() {
	what=$1 how=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists of words
	$CC $flags $(pkg-config --cflags "kustos-$what") \
		-o "$work/$how" "$work/program.c" "$@" ||
		complain "$what: cannot be linked with the $how libraries"
	[ -x "$work/$how" ]
}

shared() {
	[ -e "$libdir/libkustos.so" ] || return
	# shellcheck disable=SC2046
	build "$1" shared -Wl,--no-as-needed $(pkg-config --libs "kustos-$1") || return
	[ "$(ours "$work/shared")" = "libkustos libkustos-$1 " ] ||
		complain "$1: is linked with $(ours "$work/shared")"
	LD_LIBRARY_PATH=$libdir "$work/shared" || complain "$1: does not run"
	LD_LIBRARY_PATH=$libdir LD_TRACE_LOADED_OBJECTS=1 "$work/shared" |
		grep -o 'libkustos[a-z-]*\.so' | sort -u | tr '\n' ' ' \
		>"$work/loaded"
	[ "$(cat "$work/loaded")" = "libkustos-$1.so libkustos.so " ] ||
		complain "$1: loads $(cat "$work/loaded")"
}

# The program contains the recipe's own calls.  It does not contain those of
# other recipes, nor engines of the core that only other recipes use.
static() {
	[ -e "$work/archives/libkustos.a" ] || return
	# shellcheck disable=SC2046
	build "$1" static "-L$work/archives" \
		$(pkg-config --static --libs-only-l "kustos-$1") || return
	[ -z "$(ours "$work/static")" ] ||
		complain "$1: the static program needs $(ours "$work/static")"
	"$work/static" || complain "$1: the static program does not run"
	$NM --defined-only "$work/static" | sed 's/.* //' | sort >"$work/defined"
	engines "$1" >"$work/own"
	for other in $(others "$1"); do
		calls "$srcdir/recipes/$other.map"
		engines "$other"
	done | sort -u | comm -23 - "$work/own" |
		comm -12 - "$work/defined" >"$work/strange"
	[ ! -s "$work/strange" ] || complain "$1: the static program has" \
		"$(tr '\n' ' ' <"$work/strange")"
	calls "$srcdir/recipes/$1.map" | sort | comm -23 - "$work/defined" \
		>"$work/missing"
	[ ! -s "$work/missing" ] || complain "$1: the static program lacks" \
		"$(tr '\n' ' ' <"$work/missing")"
}

# The example for CMake, which finds the mutex in the installed tree by
# pkg-config.  CC may hold options, or a program before the compiler; CMake
# splits it if it is an environment variable.
cmake_example() {
	CC=$CC cmake -S "$srcdir/doc/examples/cmake" -B "$work/cmake" \
		-DCMAKE_C_FLAGS="$flags" >"$work/cmake.out" 2>&1 &&
		cmake --build "$work/cmake" >>"$work/cmake.out" 2>&1 &&
		[ "$(ours "$work/cmake/report")" = "$1" ] && return
	cat "$work/cmake.out"
	complain 'the example for CMake'
}

# linked: the ways in which the program was linked.
linked() {
	for how in shared static; do
		[ ! -x "$work/$how" ] || printf ' %s' "$how"
	done
}

for recipe in $recipes; do
	has_pc "kustos-$recipe" || status=1
	program "$recipe" >"$work/program.c"
	rm -f "$work/shared" "$work/static"
	shared "$recipe"
	static "$recipe"
	if [ "$recipe" = mutex ] && [ -e "$work/shared" ]; then
		if command -v cmake >/dev/null; then
			cmake_example "libkustos libkustos-mutex "
		else
			echo 'note: cmake is not installed'
		fi
	fi
	[ -n "$(linked)" ] || complain "$recipe: nothing was linked"
	rm "$work/pc/kustos-$recipe.pc"
	echo "$recipe:$(linked)"
done
exit $status
