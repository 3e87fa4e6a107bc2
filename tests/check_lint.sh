#!/bin/sh
# check_lint.sh - tools/lint reports each breach of its own rules, in a tree
# that contains nothing else.  Checks by other tools are not tested here.
set -u

: "${srcdir=.}"
. "$srcdir/tests/complain.sh"

mkdir -p "$work/lib" "$work/recipes/kustos" "$work/tools" "$work/bench" \
	"$work/tests/unit" "$work/doc/examples"
cp "$srcdir/tools/lint" "$work/tools"
for name in lib/core.h recipes/kustos/one.h recipes/kustos/other.h \
	recipes/recipe.h lib/recipe.h; do
	echo '/* nothing */' >"$work/$name"
done
parts=rules
if command -v ctags >/dev/null; then
	parts='rules length'
else
	echo 'note: without ctags, lengths were not tried'
fi

# complains PATTERN FILE: lint must report this for FILE, which gets the
# standard input and exists only meanwhile.
complains() {
	pattern=$1 file=$2
	cat >"$work/$file"
	# shellcheck disable=SC2086 # a list of words
	"$work/tools/lint" $parts >"$work/out" 2>&1
	code=$?
	if [ $code = 1 ] && grep -q "$pattern" "$work/out"; then
		echo "ok: $file: $pattern"
	else
		echo "FAILED: $code, without \"$pattern\", of"
		sed 's/^/	/' "$work/$file" "$work/out" | head -n 20
		status=1
	fi
	rm "$work/$file"
}

# lines COUNT
lines() {
	awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) print "\tx = x + 1;" }'
}

function_of() {
	printf 'int f(int x)\n{\n'
	lines "$1"
	printf '\treturn x;\n}\n'
}

echo '| `a` | a file |' >"$work/doc/design.md"
# shellcheck disable=SC2086
if ! "$work/tools/lint" $parts >"$work/out" 2>&1; then
	echo 'FAILED: complains of nothing:'
	sed 's/^/	/' "$work/out"
	status=1
fi

echo '#include <zookeeper/zookeeper.h>' |
	complains 'only lib/zk_lib.c and' lib/a.c
echo 'int f(int retries) { return ++retries; }' |
	complains 'only lib/retry.c counts' lib/a.c
echo 'void f(void) { usleep(10); }' | complains 'nobody sleeps' lib/a.c
echo 'void f(void) { usleep(10); }' |
	complains 'lock-step sleeping' tests/unit/a.c
echo 'void f(void) { puts("hello"); }' |
	complains 'a library does not print' recipes/one.c
echo 'void f(void) { exit(1); }' |
	complains 'a library does not print' lib/a.c
echo '#include "support/server.h"' |
	complains 'knows nothing of its tests' lib/a.c
echo '#include <kustos/other.h>' |
	complains 'includes the recipe other' recipes/one_part.c
echo '#include "core.h"' | complains 'includes lib/core.h' recipes/one.c
echo 'int b;' | complains 'does not say what lib/b is' lib/b.c
if [ "$parts" != rules ]; then
	function_of 60 | complains 'f has 64 lines, more than 60' lib/a.c
	function_of 40 | complains '95 in 100 functions have up to 44' lib/a.c
	lines 501 | complains '501 lines, more than 500' lib/a.c
fi

"$work/tools/lint" rule >"$work/out" 2>&1
[ $? = 2 ] || complain "of a part that it does not have: $(cat "$work/out")"

# One test of another tool: if the tool crashes, lint must not take the file for
# clean.
parts=tidy PATH=$work/bin:$PATH
mkdir "$work/bin"
cat >"$work/bin/clang-tidy" <<'END'
#!/bin/sh
echo '1 warning suppressed' >&2
! grep -q crash "$3" || kill -SEGV $$
END
chmod +x "$work/bin/clang-tidy"
echo 'int f(void);' >"$work/lib/a.c"
"$work/tools/lint" tidy >"$work/out" 2>&1 ||
	complain "of a clean file: $(cat "$work/out")"
echo 'int crash(void);' | complains 'clang-tidy failed on lib/a.c' lib/a.c
exit $status
