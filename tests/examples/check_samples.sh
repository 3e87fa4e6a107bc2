#!/bin/sh
# check_samples.sh - the C code in the documents compiles without warnings.
# Each block in doc/migrating.md and each example of a page of the calls does so
# as the body of a function that has the variables its text mentions; each
# program of doc/examples does so as strict C99.  Each option of a command that
# doc/migrating.md names is in kustos(1).  Run by make check; by hand: srcdir=.
# tests/examples/check_samples.sh
set -u

: "${srcdir=.}" "${CC=cc}" "${AWK=awk}"
page=$srcdir/doc/migrating.md
. "$srcdir/tests/complain.sh"

# block1.c and so on, one for each block.
$AWK -v to="$work/block" '
	/^ *```c$/ { to_file = to (count += 1) ".c"
		print "#line " (NR + 1) " \"migrating.md\"" > to_file
		next }
	/^ *```$/ { to_file = "" }
	to_file { print > to_file }' "$page"
[ "$(find "$work" -name 'block*.c' | wc -l)" -ge 8 ] ||
	complain 'hardly any block was found'

# example1.c and so on, one for each example of a page.
$AWK -v to="$work/example" '
	/^\.Sh/ { inside = /EXAMPLES/ }
	inside && /^\.Bd/ { to_file = to (count += 1) ".c"
		print "#line " (FNR + 1) " \"" FILENAME "\"" > to_file
		next }
	/^\.Ed$/ { to_file = "" }
	to_file { print > to_file }' "$srcdir"/doc/man/*.3
[ "$(find "$work" -name 'example*.c' | wc -l)" -ge 18 ] ||
	complain 'hardly any example was found'

# Declarations that a block may use besides its own.
cat >"$work/before_block" <<'C'
#define _DEFAULT_SOURCE
#include <kustos/barrier.h>
#include <kustos/cancel.h>
#include <kustos/claim.h>
#include <kustos/client.h>
#include <kustos/countdown.h>
#include <kustos/election.h>
#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>
#include <err.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
struct kustos_client *client;
struct kustos_mutex *lock;
struct kustos_hold *hold;
void write_report(int64_t token);
void stop_work(void *arg, struct kustos_hold *lost);
void finish_soon(void *arg, struct kustos_hold *lost);
kustos_latch_fn begin_leading, stop_leading;
kustos_queue_consume_fn consume;
C
cp "$work/before_block" "$work/before_example"
echo 'int work(const struct kustos_item *item);' >>"$work/before_block"
cat >>"$work/before_example" <<'C'
#define err failed /* the one of err.h is a function */
enum kustos_err err;
struct kustos_barrier *barrier;
struct kustos_claim *claim;
struct kustos_claims *claims;
struct kustos_countdown *countdown;
struct kustos_double_barrier *step;
struct kustos_item *item;
struct kustos_latch *latch;
struct kustos_mutex *mutex, *from;
struct kustos_queue *queue;
struct kustos_rwlock *rw, *to;
struct kustos_selector *selector;
struct kustos_semaphore *renderers;
struct kustos_simple *nightly;
struct kustos_hold *lease;
kustos_hold_fn ask_to_stop, stop;
kustos_selector_fn lead;
char *path;
const char *text;
size_t len;
int work(const void *data, size_t len);
void compute(void), do_one_job(void), do_some_work(void), look_up(void),
	move_money(void), render(void), replace_table(void), run_nightly(void),
	start_workers(void), use_table(void);
C
for block in "$work"/block*.c "$work"/example*.c; do
	kind=$(basename "$block" | tr -d '0-9')
	may=
	# An example need not use every result.
	[ "$kind" = block.c ] || may=-Wno-unused-result
	{
		cat "$work/before_${kind%.c}"
		# A whole function, or the body of one.
		if grep -q '^}' "$block" && grep -q '^{' "$block"; then
			cat "$block"
		else
			printf 'int block(void);\nint block(void)\n{\n'
			cat "$block"
			printf 'return 0;\n}\n'
		fi
	} >"$work/whole.c"
	# shellcheck disable=SC2086 # CC may hold options
	$CC -std=c99 -Wall -Wextra -Werror -Wno-unused-but-set-variable \
		-Wno-unused-parameter $may \
		-fsyntax-only -I"$srcdir/lib" -I"$srcdir/recipes" \
		"$work/whole.c" || complain "does not compile: $(cat "$block")"
done

# Users may compile with strict options, too.
for file in "$srcdir"/doc/examples/*.c; do
	# shellcheck disable=SC2086 # CC may hold options
	$CC -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only \
		-I"$srcdir/lib" -I"$srcdir/recipes" "$file" ||
		complain "$(basename "$file") is not C99"
done

# Options of the command.
grep -o '`kustos [^`]*`' "$page" | sed 's/ -- .*//' |
	grep -oE ' --?[a-zA-Z][-a-z]*' | tr -d ' ' | sort -u |
	while read -r option; do
		grep -q "Fl ${option#-}\>" "$srcdir/doc/man/kustos.1" ||
			echo "$option"
	done >"$work/unknown"
[ ! -s "$work/unknown" ] ||
	complain "kustos(1) has no $(tr '\n' ' ' <"$work/unknown")"
exit $status
