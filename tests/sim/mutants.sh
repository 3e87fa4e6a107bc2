#!/bin/sh
# mutants.sh - put historical bugs back into the library, one at a time, and
# demand that the simulator finds each.  A simulator that cannot find a bug
# proves nothing.
#
# Each mutant is a sed script for a source file, or two.  They are compiled anew
# and linked before the archives, whose own copies are then left out.  A script
# that changes nothing, or does not compile, fails as loudly as a bug that is
# not found.
#
# MUTANTS is a pattern of those that are wanted, MUTANT_SEEDS how many seeds each
# is given, MUTANT_SECONDS how much time.  "make check" passes the compiler, its
# flags, and what to link: the objects of the simulator, and then the archives.

scenario=client
seeds=${MUTANT_SEEDS:-400}
steps=${MUTANT_STEPS:-20000}
: "${srcdir:=.}" "${CC:=cc}" "${sim_objects:?}" "${sim_libs:?}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
count=0 at_once=2

# hunt DIRECTORY: with the simulator there.
hunt() {
	timeout "${MUTANT_SECONDS:-300}" "$1/sim" --scenario $scenario \
		--seed 1 --seeds "$seeds" --steps "$steps" >"$1/out" 2>&1
}

# build DIRECTORY FILE SED-SCRIPT ...: compile the changed files, and link them.
build() {
	at=$1 objects=
	shift
	while [ $# -gt 0 ]; do
		base=${1##*/}
		sed -e "$2" "$srcdir/$1" >"$at/$base"
		if cmp -s "$at/$base" "$srcdir/$1"; then
			echo "nothing changes in $1"
			return 1
		fi
		$CC $sim_cppflags $sim_cflags -w -I"$srcdir/lib" \
			-I"$srcdir/recipes" -c "$at/$base" -o "$at/$base.o" ||
			return 1
		objects="$objects $at/$base.o"
		shift 2
	done
	$CC $sim_cflags $sim_ldflags -o "$at/sim" $objects $sim_objects \
		$sim_libs
}

# try DIRECTORY NAME FILE SED-SCRIPT ...: say what became of one.
try() {
	at=$1 name=$2
	shift 2
	if ! build "$at" "$@"; then
		echo "FAIL: $name: cannot be built"
		return
	fi
	hunt "$at"
	code=$?
	if [ $code -ge 124 ]; then
		echo "ok: $name: crashed, or hung" # it is found that way, too
	elif ! grep -q '^FAILED' "$at/out"; then
		echo "FAIL: $name: not found: $(tail -n 1 "$at/out")"
	else
		echo "ok: $name: seed $(sed -n 's/^  seed: *//p' "$at/out"):" \
			"$(sed -n 's/^  invariant: //p' "$at/out")"
	fi
}

# mutant NAME FILE SED-SCRIPT [FILE SED-SCRIPT]
mutant() {
	# shellcheck disable=SC2254 # a pattern
	case $1 in
	${MUTANTS:-*}) ;;
	*) return ;;
	esac
	count=$((count + 1))
	mkdir "$work/$count"
	{
		try "$work/$count" "$@" >"$work/$count.said" 2>&1
		rm -rf "${work:?}/$count"
	} &
	[ $((count % at_once)) -ne 0 ] || wait
}

# First of all, what is as it is must survive.
survive() {
	wait
	mkdir -p "$work/none"
	if ! build "$work/none" || ! hunt "$work/none"; then
		cat "$work/none/out"
		exit 1
	fi
	tail -n 1 "$work/none/out"
}

survive

mutant S01_lease_twice_as_long lib/lease.c \
	's/lease->timeout_ns - lease->timeout_ns/2 * lease->timeout_ns - lease->timeout_ns/'
mutant U03_loss_told_late lib/session.c \
	's/ku_lease_end(&session->lease));/ku_lease_end(\&session->lease) + KU_NS_PER_S);/'
mutant S03_ghost_adopted lib/op_create.c \
	's/ && moved)/ \&\& false)/
	s/reply->stat->ephemeral_owner != op->request.session_id/false/'
mutant S06_created_again_unseen lib/op_create.c \
	's/} else if (op->ambiguous) {/} else if (false) {/'
mutant S07_no_sync_on_connect \
	lib/beat.c 's/beat.greeting, KU_ZK_SYNC/beat.greeting, KU_ZK_EXISTS/' \
	lib/wire.c 's/case KU_ZK_SYNC:/case KU_ZK_SYNC: case KU_ZK_EXISTS:/'
mutant S26_reads_extend_the_lease lib/wire.c \
	'/^static bool is_leaders/,/^}/s/return false;/return true;/'
mutant S20_change_taken_for_refused lib/op_resolve.c \
	's/ours ? KUSTOS_EUNKNOWN : /false ? KUSTOS_EUNKNOWN : /'
mutant S20_change_taken_for_made lib/op_resolve.c \
	's/ours ? KUSTOS_EUNKNOWN : /ours ? KUSTOS_OK : /'
mutant S15_transaction_sent_twice lib/op_resolve.c \
	's/op->kind == KU_ZK_MULTI ||/false ||/'
mutant L01_requests_forgotten lib/wire.c \
	's/while (slot != NULL) {/while (false) {/
	/^void ku_wire_closed/,/^}/s/end_request/(void)/'
mutant L05_guarantee_not_kept lib/op_start.c \
	's/kustos_retry_forever(GUARANTEED_PAUSE_MS)/kustos_retry_none()/'
mutant two_tries_at_once lib/op_list.c \
	's/ && op->request.slot == NULL)/)/'

# The line engine and the mutex.
scenario=mutex
seeds=${MUTANT_SEEDS:-200}
survive

# Whose node it is, and whether it is there.
mutant S03_ghost_adopted lib/op_create.c \
	's/ && moved)/ \&\& false)/
	s/reply->stat->ephemeral_owner != op->request.session_id/false/'
mutant S06_created_again_unseen lib/op_create.c \
	's/} else if (op->ambiguous) {/} else if (false) {/'
mutant S07_no_sync_on_connect \
	lib/beat.c 's/beat.greeting, KU_ZK_SYNC/beat.greeting, KU_ZK_EXISTS/' \
	lib/wire.c 's/case KU_ZK_SYNC:/case KU_ZK_SYNC: case KU_ZK_EXISTS:/'
mutant S08_absent_taken_for_first lib/rank.c \
	's/if (!own->seen)/if (false)/'
mutant S18_saturated_number_accepted \
	lib/rank.c 's/own->tied || !ku_number_sound(own->number)/false/' \
	lib/place_take.c 's/!numbered || !ku_number_sound(place->number)/!numbered/'

# What is granted, and for how long.
mutant S01_hold_outlives_its_epoch lib/hold.c \
	's/ || hold->epoch != client->session.epoch//
	s/^void ku_hold_lose/void ku_hold_lose(struct kustos_hold *h) { (void)h; } void unused/'
mutant U03_risk_not_told lib/hold.c \
	's/ku_dispatch_push(client, &hold->at_risk.call, true);/;/'
mutant U03_risk_told_again_and_again lib/hold.c \
	's/if (!hold->warned)/if (true)/'
mutant S09_own_node_not_watched lib/line_look.c \
	'/^static void guard/,/^}/s/ku_place_watch_own(p)/(void)p/
	/^static void look_again/,/^}/s/ku_place_watch_own(p)/(void)p/'
mutant L17_lost_node_left_behind lib/place.c \
	'/^static void withdraw/,/^}/s/place->session_id != client->session.id/place->lost/'

# The hand-off without a listing: each of its conditions.
mutant handoff_when_only_the_nearest_went lib/place.c \
	'/^void ku_place_try/,/^}/s/i < place->gap;/i < 1 \&\& i < place->gap;/'
mutant handoff_across_a_wide_gap \
	lib/line_look.c 's/lists || place->gap > KU_NEAR ?/lists ?/' \
	lib/place.c '/^void ku_place_try/,/^}/s/i < place->gap;/i < KU_NEAR \&\& i < place->gap;/'
mutant handoff_on_another_connection \
	lib/place.c '/^void ku_place_try/,/^}/s/place->known != client->session.connection ||//' \
	lib/line_watch.c '/^bool ku_lookout_sees/,/^}/s/lookout->connection ==/true || \&/' \
	lib/line_session.c 's/place->state = KU_PLACE_LOOKING;/;/'
mutant handoff_without_own_node lib/place.c \
	'/^void ku_place_try/,/^}/s/!ku_lookout_sees(place->own)/false/'
mutant handoff_before_ours_is_released lib/place.c \
	'/^void ku_place_try/,/^}/s/ku_place_blocker(place) != NULL ||//'
mutant gap_forgotten_with_a_place lib/place.c \
	's/place->known = 0;/;/'

# The proof in the data of the line: each of its conditions.
mutant proof_of_anybody lib/line_look.c \
	'/^static bool proves/,/^}/s/return .*/return reply->len > 0;/
	/^static bool proves/,/^}/s/.*strlen(name).*//'
mutant proof_of_the_second_taken_for_the_nearest lib/line_look.c \
	's/place->gap = left;/place->gap = 0;/'
mutant proof_by_one_who_only_waited lib/place.c \
	'/^static void withdraw/,/^}/s/else if (held)/else if (true)/'
mutant proof_over_what_was_just_written lib/place.c \
	's/\.version = proof->version,/.version = -1,/'
mutant proof_over_data_of_a_program lib/line_look.c \
	'/^static bool is_free/,/^}/s/return ku_contender_parse.*/return true;/'
mutant L05_farewell_refused_and_forgotten lib/place.c \
	'/^static void said_farewell/,/^}/s/ku_op_undo(place->op);/ku_place_over(place);/'

mutant L05_deleted_again_after_a_farewell \
	lib/place_take.c 's/proof->request.what.kind == KU_ZK_GET/true/' \
	lib/line.c '/^void ku_place_free/,/^}/s/free(place);/memset(place, 90, sizeof(*place));/'

# To be served, and to leave nothing.
mutant L05_node_left_when_given_up lib/place_take.c \
	's/if (op->err == KUSTOS_OK \&\& op->kind == KU_ZK_CREATE)/if (false)/'
mutant L05_guarantee_not_kept lib/op_start.c \
	's/kustos_retry_forever(GUARANTEED_PAUSE_MS)/kustos_retry_none()/'
mutant L08_no_look_after_a_reconnect lib/line_session.c \
	's/^	ku_line_again(line,/	if (false) ku_line_again(line,/'
mutant L08_no_look_on_the_same_connection lib/line_session.c \
	's/place->line->connection = 0;//'
mutant L09_exists_instead_of_get lib/line_watch.c \
	's/\.kind = KU_ZK_GET/.kind = KU_ZK_EXISTS/'
mutant L12_own_node_made_anew lib/line_watch.c \
	's/ku_place_advance(place);/ku_place_restart(place);/'
mutant L20_deadline_ignored lib/wait.c \
	'/^static void set_deadline/,/^}/s/ku_set_timer/if (false) ku_set_timer/'
mutant one_gone_all_wait lib/place.c \
	's/ku_place_look(place);/;/'

# Hand-overs inside a process, and its end.
mutant waits_outlive_their_mutex lib/gate.c \
	's/ku_gate_give_up(gate->first, KUSTOS_ECLOSED);/break;/'
mutant asked_for_what_is_gone lib/place_take.c \
	'/^void ku_place_restart/,/^}/s/place->revoked = false;//'
mutant S05_lost_hold_handed_over lib/gate_turn.c \
	's/ku_hold_state(hold) != KUSTOS_HOLD_LOST \&\& //'
mutant handed_over_without_end lib/gate_turn.c \
	's/turn->handed < gate->local_handoffs/gate->local_handoffs > 0/'
mutant canceled_turn_keeps_its_place lib/gate_turn.c \
	's/turn = gate->turn; .*/;/'

# The read/write lock.
scenario=rwlock
survive

# Who waits for whom.
mutant L19_reader_waits_for_a_later_writer lib/rank.c \
	'/^static void place_one/,/^}/s/if (tied != NULL || at == count)/if (at == count \&\& count > 0 \&\& standings[count - 1].shares) at--;&/'
mutant S13_reader_passes_an_earlier_writer lib/rank.c \
	's/s->before = s->shares ? before_exclusive :/s->before = s->shares ? 0 :/'
mutant S13_writer_passes_earlier_readers lib/rank.c \
	's/s->before = s->shares ? before_exclusive : before;/s->before = before_exclusive;/'
mutant S13_writer_does_not_wait_for_own_readers lib/place.c \
	's/ku_place_blocker(place) != NULL/place->writer != NULL/'
mutant S08_absent_taken_for_first lib/rank.c \
	's/if (!own->seen)/if (false)/'
mutant L08_only_one_reader_moves_up lib/place.c \
	's/more = place->kind->shares.*/more = false;/'
mutant L08_reader_forgets_an_event lib/line_watch.c \
	's/ku_place_advance(place);/if (!place->kind->shares) &/'
mutant reader_waits_for_readers lib/rank.c \
	's/s->before = s->shares ? before_exclusive : before;/s->before = before;/'
mutant try_refused_for_readers lib/place_take.c \
	'/^static .*in_the_way/,/^}/s/last->kind->shares \&\& kind->shares/false/'
mutant gap_forgotten_with_a_writer lib/place.c \
	's/bool anew = !shares \&\& .*/bool anew = false;/'

# A writer that becomes a reader.
mutant S13_reader_made_at_the_tail \
	lib/place_take.c '/^static enum kustos_err make_op/,/^}/s/if (place->beside != 0)/if (false)/
	s/return place->beside != 0 ? place->beside : /return /' \
	lib/place.c 's/place->beside != 0 \&\& !ku_place_has_writer(place)/false/'
mutant S13_writer_does_not_list_again lib/line_look.c \
	'/^static bool must_list/,/^}/s/return /return false \&\& /'
mutant S13_handed_over_beside_a_reader lib/gate_turn.c \
	's/writer->handed = writer->gate->local_handoffs;/;/'
mutant S05_lost_hold_made_a_reader lib/place.c \
	's/place->beside != 0 \&\& !ku_place_has_writer(place)/false/'
mutant S05_writer_not_looked_for_again lib/place_take.c \
	'/^static void grant_beside/,/^}/s/!ku_lookout_sees(/false \&\& &/'
mutant S09_seen_while_its_watch_is_off lib/line_watch.c \
	'/^static void node_event/,/^}/s/lookout->connection = 0;/;/'
mutant second_reader_beside_a_writer_unseen lib/rank.c \
	'/^static void place_one/,/^}/{s/if (!shares \&\& !standings\[at\].shares)/if (standings[at].shares == shares)/;s/tied = &standings\[at\];/return;/;}'
mutant token_of_the_readers_own_node lib/place_take.c \
	's/return place->beside != 0 ? place->beside : /return /'
mutant L20_try_waits_for_a_connection lib/place_take.c \
	'/^enum kustos_err ku_place_beside/,/^}/s/place->once = once;/;/'

wait
found=0 failed=0 i=0
while [ $i -lt $count ]; do
	i=$((i + 1))
	cat "$work/$i.said"
	if grep -q '^ok' "$work/$i.said"; then
		found=$((found + 1))
	else
		failed=$((failed + 1))
	fi
done
echo "$found found, $failed not"
[ "$failed" -eq 0 ]
