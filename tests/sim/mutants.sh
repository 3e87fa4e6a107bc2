#!/bin/sh
# mutants.sh - put historical bugs back into the client, one at a time, and
# demand that the simulator finds each.  A simulator that cannot find a bug
# proves nothing.
#
# Each mutant is a sed script for a file of lib/, or two.  They are compiled anew
# and linked before the library, whose own copies are then left out.  A script
# that changes nothing, or does not compile, fails as loudly as a bug that is
# not found.
#
# "make check" passes the compiler, its flags, and what to link: the objects of
# the simulator, and then the archives.

seeds=${MUTANT_SEEDS:-400}
steps=${MUTANT_STEPS:-20000}
: "${srcdir:=.}" "${CC:=cc}" "${sim_objects:?}" "${sim_libs:?}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
found=0 failed=0

hunt() {
	"$work/sim" --scenario client --seed 1 --seeds "$seeds" \
		--steps "$steps" >"$work/out" 2>&1
}

fail() {
	echo "FAIL: $*"
	failed=$((failed + 1))
}

# build FILE SED-SCRIPT ...: compile the changed files, and link them.
build() {
	objects=
	while [ $# -gt 0 ]; do
		sed -e "$2" "$srcdir/lib/$1" >"$work/$1"
		if cmp -s "$work/$1" "$srcdir/lib/$1"; then
			echo "nothing changes in $1"
			return 1
		fi
		$CC $sim_cppflags $sim_cflags -w -I"$srcdir/lib" \
			-c "$work/$1" -o "$work/$1.o" || return 1
		objects="$objects $work/$1.o"
		shift 2
	done
	$CC $sim_cflags $sim_ldflags -o "$work/sim" $sim_objects $objects \
		$sim_libs
}

# mutant NAME FILE SED-SCRIPT [FILE SED-SCRIPT]
mutant() {
	name=$1
	shift
	if ! build "$@"; then
		fail "$name: cannot be built"
		return
	fi
	hunt
	if ! grep -q '^FAILED' "$work/out"; then
		fail "$name: not found: $(tail -n 1 "$work/out")"
		return
	fi
	echo "ok: $name: seed $(sed -n 's/^  seed: *//p' "$work/out"):" \
		"$(sed -n 's/^  invariant: //p' "$work/out")"
	found=$((found + 1))
}

# First of all, the client as it is must survive.
if ! build || ! hunt; then
	cat "$work/out"
	exit 1
fi
tail -n 1 "$work/out"

mutant S01_lease_twice_as_long lease.c \
	's/lease->timeout_ns - lease->timeout_ns/2 * lease->timeout_ns - lease->timeout_ns/'
mutant U03_loss_told_late session.c \
	's/ku_lease_end(&session->lease));/ku_lease_end(\&session->lease) + KU_NS_PER_S);/'
mutant S03_ghost_adopted op_create.c \
	's/ && moved)/ \&\& false)/
	s/reply->stat->ephemeral_owner != op->request.session_id/false/'
mutant S06_created_again_unseen op_create.c \
	's/} else if (op->ambiguous) {/} else if (false) {/'
mutant S07_no_sync_on_connect \
	beat.c 's/beat.greeting, KU_ZK_SYNC/beat.greeting, KU_ZK_EXISTS/' \
	wire.c 's/case KU_ZK_SYNC:/case KU_ZK_SYNC: case KU_ZK_EXISTS:/'
mutant S26_reads_extend_the_lease wire.c \
	'/^static bool is_leaders/,/^}/s/return false;/return true;/'
mutant S20_change_taken_for_refused op_resolve.c \
	's/ours ? KUSTOS_EUNKNOWN : /false ? KUSTOS_EUNKNOWN : /'
mutant S20_change_taken_for_made op_resolve.c \
	's/ours ? KUSTOS_EUNKNOWN : /ours ? KUSTOS_OK : /'
mutant S15_transaction_sent_twice op_resolve.c \
	's/op->kind == KU_ZK_MULTI ||/false ||/'
mutant L01_requests_forgotten wire.c \
	's/while (slot != NULL) {/while (false) {/
	/^void ku_wire_closed/,/^}/s/end_request/(void)/'
mutant L05_guarantee_not_kept op_start.c \
	's/kustos_retry_forever(GUARANTEED_PAUSE_MS)/kustos_retry_none()/'
mutant two_tries_at_once op_list.c \
	's/ && op->request.slot == NULL)/)/'

echo "$found found, $failed not"
[ "$failed" -eq 0 ]
