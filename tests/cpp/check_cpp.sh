#!/bin/sh
# check_cpp.sh - tests of the C++ headers: the test programs in this folder pass
# against a server, the example works, and kustos_cpp(7) lists each class with
# its header and what to link with, and has an example that compiles.
#
# Run by make check on what it installed; exits with 77 without a compiler for
# C++17 or without a server.
set -u

: "${srcdir=.}" "${CXX=}"
[ -n "$CXX" ] || exit 77
. "$srcdir/tests/installed.sh"
kustos=${KUSTOS-./kustos}
list='kustos-mutex kustos-rwlock kustos-semaphore kustos-simple kustos-election
	kustos-barrier kustos-queue'
# shellcheck disable=SC2086 # a list of words
has_pc $list || exit 1
echo 'int main() {}' >"$work/empty.cc"
# shellcheck disable=SC2086 # CXX and flags may hold several
$CXX $flags -std=c++17 -o "$work/empty" "$work/empty.cc" || exit 77

fail() {
	echo "FAILED: $*"
	exit 1
}

# compile STANDARD ARGUMENT...: compile, with warnings as errors.
compile() {
	standard=$1
	shift
	# shellcheck disable=SC2086,SC2046 # lists of words
	$CXX $flags -g "-std=c++$standard" -Wall -Wextra -Wundef -pedantic \
		-Werror $(pkg-config --cflags $list) "$@"
}

# program NAME SOURCE: with the shared libraries, if there are any.
program() {
	how=
	[ -e "$libdir/libkustos.so" ] || how=--static
	# shellcheck disable=SC2086,SC2046
	compile 17 -o "$work/$1" "$2" $(pkg-config $how --libs $list) \
		-pthread || fail "$2 does not compile"
}

# "CLASS HEADER PACKAGE" of each class, except those of "detail", which are not
# for users.
for header in "$installed$includedir"/kustos/*.hpp; do
	package=$(sed -n 's/^ \* Link with .*(pkg-config \([a-z-]*\)).*/\1/p' \
		"$header")
	sed '/^namespace detail/,/^} \/\/ namespace detail/d' "$header" |
		sed -nE 's/^(class|struct) ([a-z_]+)( : .*)?( \{)?$/\2/p
			s/^using ([a-z_]+) = .*/\1/p' |
		sed "s|\$| kustos/$(basename "$header") $package|"
done | sort >"$work/classes"
sed -n 's/^\.It Li kustos::\([a-z_]*\) Ta Pa \([a-z/.]*\) Ta \(.*\)/\1 \2 \3/p' \
	"$srcdir/doc/man/kustos_cpp.7" | sort >"$work/listed"
[ "$(wc -l <"$work/classes")" -ge 15 ] || fail 'hardly any class was found'
diff "$work/classes" "$work/listed" ||
	fail 'kustos_cpp(7) has other classes (> too many) than the headers'

{
	cat <<-'CC'
		#include <kustos/kustos.hpp>
		void write_report(std::int64_t token);
		void work(std::string_view data);
		void sample();
		void sample() {
	CC
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$srcdir/doc/man/kustos_cpp.7" |
		grep -v '^\.'
	echo '}'
} >"$work/sample.cc"
compile 17 -fsyntax-only "$work/sample.cc" || fail "kustos_cpp(7)'s example"

program test_hpp "$srcdir/tests/cpp/test_hpp.cc"
program test_together_hpp "$srcdir/tests/cpp/test_together_hpp.cc"
program mutex "$srcdir/doc/examples/mutex.cc"

cat >"$work/run" <<RUN
LD_LIBRARY_PATH=$libdir\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
"$work/mutex" && "$work/mutex" && "$work/test_hpp" && "$work/test_together_hpp"
RUN
timeout 120 "$kustos" server -- sh "$work/run" >"$work/out" 2>&1
code=$?
cat "$work/out"
if [ $code != 0 ]; then
	grep -q '^kustos: no \(ZooKeeper server\|Java\)' "$work/out" && exit 77
	fail "exit code $code"
fi
sed -n 's/^writing the report, token //p' "$work/out" >"$work/tokens"
[ "$(wc -l <"$work/tokens")" = 2 ] && sort -nuc "$work/tokens" ||
	fail 'the tokens of the example do not grow'
