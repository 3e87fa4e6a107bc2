#!/bin/sh
# check_migrating.sh - each block of C in doc/migrating.md compiles, without a
# warning, as the inside of a function that has what its text says.  So does each
# option of a command that it names stand in kustos(1).  Run by make check; by
# hand: srcdir=. tests/examples/check_migrating.sh
set -u

: "${srcdir=.}" "${CC=cc}" "${AWK=awk}"
page=$srcdir/doc/migrating.md
. "$srcdir/tests/complain.sh"

# block1.c and so on, one for each.
$AWK -v to="$work/block" '
	/^ *```c$/ { to_file = to (count += 1) ".c"
		print "#line " (NR + 1) " \"migrating.md\"" > to_file
		next }
	/^ *```$/ { to_file = "" }
	to_file { print > to_file }' "$page"
[ "$(find "$work" -name 'block*.c' | wc -l)" -ge 8 ] ||
	complain 'hardly any block was found'

# What a block may use besides what it declares.
cat >"$work/before" <<'C'
#define _DEFAULT_SOURCE
#include <kustos/client.h>
#include <kustos/barrier.h>
#include <kustos/claim.h>
#include <kustos/election.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
struct kustos_client *client;
struct kustos_mutex *lock;
struct kustos_hold *hold;
void write_report(int64_t token);
int work(const struct kustos_item *item);
void stop_work(void *arg, struct kustos_hold *lost);
void finish_soon(void *arg, struct kustos_hold *lost);
kustos_latch_fn begin_leading, stop_leading;
kustos_queue_fn consume;
int block(void);
int block(void)
{
C
for block in "$work"/block*.c; do
	{
		cat "$work/before" "$block"
		printf 'return 0;\n}\n'
	} >"$work/whole.c"
	# shellcheck disable=SC2086 # CC may hold options
	$CC -std=c99 -Wall -Wextra -Werror -Wno-unused-but-set-variable \
		-fsyntax-only -I"$srcdir/lib" -I"$srcdir/recipes" \
		"$work/whole.c" || complain "does not compile: $(cat "$block")"
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
