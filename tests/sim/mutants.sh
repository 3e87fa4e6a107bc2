#!/bin/sh
# mutants.sh - put historical bugs back into the library, one at a time, and
# demand that the simulator finds each.  A simulator that cannot find a bug
# proves nothing.
#
# A mutant is a sed script for one source file, or for two.  The changed files
# are compiled and linked before the archives, so that the linker does not take
# the archives' own copies.  A script that changes nothing, or whose result does
# not compile, is a failure just like a bug that is not found.
#
# The file mutants.seeds notes the seed that found each mutant, and says "crash" if
# that seed ended the process before a rule was broken.  The seed is tried first; if it
# still finds the mutant, the seeds before it are not tried.
# "make note-mutants" (mutants.sh note) writes the file anew.  Old seeds only
# make the search longer.
#
# Variables: MUTANTS is a shell pattern of the names to try, MUTANT_SEEDS the
# number of seeds to try for each, MUTANT_SECONDS its time limit.  "make check"
# passes the compiler, its flags, and what to link: the objects of the simulator,
# and then the archives.

# Throttled requests are left out, except in scenarios that always had them: they
# would change which seeds find the rare bugs.
scenario=client how=try with='' without=throttle
seeds=${MUTANT_SEEDS:-200}
steps=${MUTANT_STEPS:-20000}
: "${srcdir:=.}" "${CC:=cc}" "${sim_objects:?}" "${sim_libs:?}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# A sanitizer ends most mutants before the simulator can say what it has found.
[ -z "${flags-}" ] || exit 77
count=0 at_once=2 mode=${1-}
notes=$srcdir/tests/sim/mutants.seeds
# This script needs much processor time and measures none.  Tests that run beside
# it measure time, so give way to them.
renice -n 10 -p $$ >/dev/null 2>&1

# hunt DIRECTORY FIRST SEEDS: run SEEDS seeds from FIRST on, with the simulator in
# DIRECTORY.
hunt() {
	timeout "${MUTANT_SECONDS:-300}" "$1/sim" --scenario $scenario \
		--seed "$2" --seeds "$3" --steps "$steps" --as-found \
		${with:+--with "$with"} ${without:+--without "$without"} \
		>"$1/out" 2>&1
}

# noted NAME: print the noted seed of this mutant, if there is one.
noted() {
	[ "$mode" = note ] || awk -v name="$scenario:$1" -v most="$seeds" '
		$1 == name && $2 <= most { print $2 }' "$notes"
}

# hunted DIRECTORY NAME: hunt with the noted seed, and then from 1 on.  Fails if the
# mutant is found: with 1 if a rule found it, with more than 128 if it ended the
# process by a signal.  As that does not say which seed it was, each is then tried alone,
# until one of them finds the mutant; "crash" is that seed, if it crashes.
hunted() {
	crash='' first=$(noted "$2")
	if [ -n "$first" ]; then
		hunt "$1" "$first" 1
		code=$?
		[ $code -le 128 ] || crash=$first
		[ $code -eq 0 ] || return $code
	fi
	hunt "$1" 1 "$seeds"
	code=$? seed=0
	while [ $code -gt 128 ] && [ $seed -lt "$seeds" ]; do
		seed=$((seed + 1))
		hunt "$1" $seed 1
		alone=$?
		[ $alone -ne 1 ] || return 1
		[ $alone -le 128 ] || crash=$seed
		[ $alone -eq 0 ] || break
	done
	return $code
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
		$CC $sim_cppflags $sim_cflags -w -g0 -I"$srcdir/lib" \
			-I"$srcdir/recipes" -c "$at/$base" -o "$at/$base.o" ||
			return 1
		objects="$objects $at/$base.o"
		shift 2
	done
	$CC $sim_cflags $sim_ldflags -s -o "$at/sim" $objects $sim_objects \
		$sim_libs
}

# unharmed FIRST SEEDS: does the unchanged library survive these?
unharmed() {
	"$work/none/sim" --scenario $scenario --steps "$steps" --seed "$1" \
		--seeds "$2" ${with:+--with "$with"} \
		${without:+--without "$without"} >/dev/null
}

# crashed NAME: print that, and the seed.
crashed() {
	alone=${crash:+1}
	if ! unharmed "${crash:-1}" "${alone:-$seeds}"; then
		echo "FAIL: $1: crashed, as it does without it"
	elif [ -n "$crash" ]; then
		echo "ok: $scenario:$1: crash, seed $crash"
	else
		echo "ok: $scenario:$1: crash, with no seed alone"
	fi
}

# try DIRECTORY NAME FILE SED-SCRIPT ...: hunt for one mutant, and print the result.
try() {
	at=$1 name=$2
	shift 2
	if ! build "$at" "$@"; then
		echo "FAIL: $name: cannot be built"
		return
	fi
	hunted "$at" "$name"
	code=$? found=$(sed -n 's/^  seed: *//p' "$at/out")
	if [ $code -eq 124 ]; then
		echo "FAIL: $name: not found in ${MUTANT_SECONDS:-300} s"
	elif [ $code -gt 128 ]; then
		crashed "$name"
	elif [ $code -ne 0 ] && ! unharmed "$found" 1; then
		echo "FAIL: $name: $(cat "$at/out"): it is so without it"
	elif ! grep -q '^FAILED' "$at/out"; then
		echo "FAIL: $name: not found: $(tail -n 1 "$at/out")"
	else
		echo "ok: $scenario:$name: seed $found:" \
			"$(sed -n 's/^  invariant: //p' "$at/out")"
	fi
}

# with_test DIRECTORY [FILE SED-SCRIPT ...]: build the test instead of the simulator.
with_test() {
	sim_objects="$work/$test/test.o ${sim_objects#* }" # not main()
	sim_libs="$sim_libs ${check_libs:?}"
	sim_ldflags="$sim_ldflags ${fault_ldflags:?}"
	build "$@"
}

# aim DIRECTORY NAME FILE SED-SCRIPT ...: like "try", with a test program that goes
# straight to a case that seeds hardly ever reach.
aim() {
	at=$1 name=$2
	shift 2
	if ! with_test "$at" "$@"; then
		echo "FAIL: $name: cannot be built"
	elif "$at/sim"; then
		echo "FAIL: $name: not found by $test"
	else
		echo "ok: $test:$name"
	fi
}

# mutant NAME FILE SED-SCRIPT [FILE SED-SCRIPT]: run "try" or "aim" for one mutant,
# two at a time.
mutant() {
	# shellcheck disable=SC2254 # a pattern
	case $1 in
	${MUTANTS:-*}) ;;
	*) return ;;
	esac
	count=$((count + 1))
	mkdir "$work/$count"
	{
		$how "$work/$count" "$@" >"$work/$count.said" 2>&1
		rm -rf "${work:?}/$count"
	} &
	[ $((count % at_once)) -ne 0 ] || wait
}

# survive: check first that the unchanged library survives the scenario.  A few
# seeds are enough here; test_*.c runs many.
survive() {
	wait
	if ! hunt "$work/none" 1 20; then
		cat "$work/none/out"
		exit 1
	fi
	tail -n 1 "$work/none/out"
}

# aim_with TEST: use "aim" with this test from here on.  The test must pass with the
# unchanged library.
aim_with() {
	how=aim test=$1
	mkdir "$work/$test"
	if ! $CC $sim_cppflags $sim_cflags -g0 -c "$srcdir/tests/sim/$test.c" \
		-o "$work/$test/test.o" || ! (with_test "$work/$test") ||
		! "$work/$test/sim" >"$work/$test/out"; then
		echo "$test fails as it is"
		exit 1
	fi
}

mkdir "$work/none"
build "$work/none" || exit 1
survive

mutant U03_loss_told_late lib/session.c \
	's/ku_lease_end(&session->lease));/ku_lease_end(\&session->lease) + KU_NS_PER_S);/'
mutant S03_ghost_adopted lib/op_create.c \
	's/ && moved)/ \&\& false)/
	s/reply->stat->ephemeral_owner != op->request.session_id/false/'
mutant S06_created_again_unseen lib/op_create.c \
	's/} else if (op->ambiguous) {/} else if (false) {/'
mutant S07_no_sync_on_connect \
	lib/beat.c 's/beat.greeting, KU_ZK_SYNC/beat.greeting, KU_ZK_EXISTS/' \
	lib/wire.c 's/what->kind == KU_ZK_SYNC/what->kind == KU_ZK_EXISTS/'
mutant S26_reads_extend_the_lease lib/wire.c \
	'/^static bool is_leaders/,/^}/s/return .*;/return (void)what, true;/'
mutant S20_change_taken_for_refused lib/op_resolve.c \
	's/may_be_ours ? KUSTOS_EUNKNOWN : /false ? KUSTOS_EUNKNOWN : /'
mutant S20_change_taken_for_made lib/op_resolve.c \
	's/may_be_ours ? KUSTOS_EUNKNOWN : /may_be_ours ? KUSTOS_OK : /'
mutant S15_transaction_sent_twice lib/op_resolve.c \
	's/op->kind == KU_ZK_MULTI ||/false ||/'
mutant L01_requests_forgotten lib/wire.c \
	's/while (slot != NULL) {/while (false) {/
	/^void ku_wire_closed/,/^}/s/end_request/(void)/'
mutant L05_guarantee_not_kept lib/op_start.c \
	's/KU_RETRY_FOREVER(500)/{ .kind = KUSTOS_RETRY_NONE }/'
mutant L05_given_up_and_there lib/op_start.c \
	's/if (is_nameless(op))/if (false)/'
mutant L05_given_up_and_there_in_the_next_session lib/op_start.c \
	's/op->lasting = (op->flags & KUSTOS_CREATE_EPHEMERAL) == 0;/;/'
mutant two_tries_at_once lib/op_list.c \
	's/ && op->request.slot == NULL)/)/'

# The lease, where it is tight.  Mutants of two of its parts cannot be found here;
# those parts are tested in tests/unit/test_lease.c.  The last eighth of the timeout
# is for clocks that differ, which the model's do not; it also hides a lease that
# counts from an answer instead of from its request.  And that a new connection
# forgets old marks changes nothing, as its base is later than all of them.
scenario=lease
survive

mutant S01_lease_twice_as_long lib/lease.c \
	's/lease->timeout_ns - lease->timeout_ns/2 * lease->timeout_ns - lease->timeout_ns/'
mutant S26_one_answer_is_proof lib/lease.c \
	's/if (mark->heard_ns <= before)/if (true)/'

# The line engine and the mutex.
scenario=mutex
survive

# Whose node it is, and whether it exists.
mutant S03_ghost_adopted lib/op_create.c \
	's/ && moved)/ \&\& false)/
	s/reply->stat->ephemeral_owner != op->request.session_id/false/'
mutant S06_created_again_unseen lib/op_create.c \
	's/} else if (op->ambiguous) {/} else if (false) {/'
mutant S08_absent_taken_for_first lib/rank.c \
	's/if (!own->seen)/if (false)/'
mutant S18_saturated_number_accepted \
	lib/rank.c 's/if (own->tied)/if (false)/' \
	lib/place_take.c 's/line->rule->counts || ku_number_sound(place->number)/true/'

# What is granted, and for how long.
mutant S02_token_is_the_number lib/place_take.c \
	's/place->beside : place->czxid;/place->beside : place->number;/'
mutant S01_hold_outlives_its_epoch lib/hold.c \
	's/ || hold->epoch != client->session.epoch//
	s/^void ku_hold_lose/void ku_hold_lose(struct kustos_hold *h) { (void)h; } void unused/'
mutant U03_risk_not_told lib/risk.c 's/risk->fn(risk);/;/'
mutant U03_risk_told_again_and_again lib/risk.c \
	's/if (!told)/if (true)/'
mutant S09_own_node_not_watched lib/line_look.c \
	'/^static void guard/,/^}/s/ku_place_watch_own(p)/(void)p/
	/^static void look_again/,/^}/s/ku_place_watch_own(p)/(void)p/'
mutant L17_lost_node_left_behind lib/place.c \
	'/^static void withdraw/,/^}/s/place->session_id != client->session.id/place->lost/'

# The hand-off without a listing: each of its conditions.
mutant handoff_when_only_the_nearest_went lib/place.c \
	'/^void ku_place_try/,/^}/s/i < place->gap;/i < 1 \&\& i < place->gap;/'
mutant handoff_across_a_wide_gap \
	lib/line_look.c 's/lists || place->gap > KU_WATCHED ?/lists ?/' \
	lib/place.c '/^void ku_place_try/,/^}/s/i < place->gap;/i < KU_WATCHED \&\& i < place->gap;/'
mutant S04_handoff_on_another_connection \
	lib/place.c '/^void ku_place_try/,/^}/s/place->known != client->session.connection ||//' \
	lib/line_watch.c '/^bool ku_lookout_sees/,/^}/s/lookout->connection ==/true || \&/' \
	lib/line_session.c 's/place->state = KU_PLACE_LOOKING;/;/'
mutant handoff_without_own_node lib/place.c \
	'/^void ku_place_try/,/^}/s/!ku_lookout_sees(place->own)/false/'
mutant handoff_before_ours_is_released lib/place.c \
	'/^void ku_place_try/,/^}/s/ku_place_blocker(place) != NULL ||//'
mutant gap_forgotten_with_a_place lib/place.c \
	's/place->known = 0;/;/'

# The grant by a number: each of its conditions.
mutant follows_whatever_its_number lib/line_follow.c \
	's/place->number == (int64_t)line->passed.number + 1/true/'
mutant follows_one_that_only_waited lib/place.c \
	'/^static void withdraw/,/^}/s/if (held)$/if (place->path != NULL)/'
mutant follows_though_numbers_began_anew lib/line_follow.c \
	's/apart < .*;/apart != 0;/'

# The proof in the data of the line: each of its conditions.
mutant proof_of_anybody lib/line_proof.c \
	'/^static bool proves/,/^}/s/return .*/return reply->len > 0;/
	/^static bool proves/,/^}/s/.*strlen(name).*//'
mutant proof_of_the_second_taken_for_the_nearest lib/line_proof.c \
	's/place->gap = left;/place->gap = 0;/'
mutant proof_of_the_third_taken_for_the_second lib/line_proof.c \
	's/place->gap = left;/place->gap = left > 1 ? 1 : left;/'
mutant proof_by_one_who_only_waited lib/place.c \
	'/^static void withdraw/,/^}/s/else if (held)/else if (true)/'
mutant proof_over_what_was_just_written lib/line_proof.c \
	's/\.version = proof->version,/.version = -1,/'
mutant proof_over_data_of_a_program lib/line_proof.c \
	'/^static bool is_free/,/^}/s/return ku_contender_parse.*/return true;/'
mutant L05_farewell_refused_and_forgotten lib/line_proof.c \
	'/^static void said_farewell/,/^}/s/ku_op_undo(place->op);/ku_place_over(place);/'

mutant L05_deleted_again_after_a_farewell \
	lib/line_proof.c 's/proof->request.what.kind == KU_ZK_GET/true/' \
	lib/line.c '/^void ku_place_free/,/^}/s/free(place);/memset(place, 90, sizeof(*place));/'

# Everybody is served, and nothing is left.
mutant L05_node_left_when_given_up lib/place.c \
	's/if (op->kind == KU_ZK_CREATE \&\& op->err == KUSTOS_OK)/if (false)/'
mutant L05_guarantee_not_kept lib/op_start.c \
	's/KU_RETRY_FOREVER(500)/{ .kind = KUSTOS_RETRY_NONE }/'
mutant L08_no_look_after_a_reconnect lib/line_session.c \
	's/^	ku_line_again(line,/	if (false) ku_line_again(line,/'
mutant L08_no_look_on_the_same_connection lib/line_session.c \
	's/place->line->connection = 0;//'
mutant L09_exists_instead_of_get lib/line_watch.c \
	's/KU_ZK_GET, lookout->path/KU_ZK_EXISTS, lookout->path/'
mutant L12_own_node_made_anew lib/line_watch.c \
	's/ku_place_advance(place);/ku_place_restart(place);/'
mutant L14_waiter_of_a_dead_session_waits_on lib/line_session.c \
	'/^static void place_start_over/,/^}/s/place->path != NULL/false/
	/^static void place_connected/,/^}/s/if (\(place->path == NULL .*\))$/if (place->session_id != client->session.id || (\1))/'
mutant L20_deadline_ignored lib/wait.c \
	'/^static void set_deadline/,/^}/s/ku_set_timer/if (false) ku_set_timer/'
mutant L21_parents_made_only_once lib/op_create.c \
	'/^bool ku_create_parents/,/^}/s/if (!is(op, KUSTOS_CREATE_PARENTS))/if (true)/'
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
mutant S13_writer_follows_a_reader lib/line_follow.c \
	's/(place->kind->shares || !line->passed.shares)/true/'
mutant gap_forgotten_with_a_writer lib/place.c \
	'/^static void withdraw/,/^}/s/way = ku_place_way(place);/way = place->kind->shares ? KU_WAY_SHARED : KU_WAY_FREE;/'

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

# The semaphore.
scenario=semaphore
survive

# How many there are.
mutant S14_one_more_than_there_is_room_for lib/rank.c \
	's/own->before <= own->company/own->before <= own->company + 1/'
mutant S14_granted_by_its_number lib/line_follow.c \
	's/!line->rule->counts \&\& //'
mutant S14_some_of_several_granted lib/pool_bid.c \
	's/if (++bid->granted == bid->want.count)/if (++bid->granted == 1)/'
mutant S14_nobody_may_taken_for_one lib/pool_room.c \
	's/room > 0 ? room - 1 : -1;/room > 0 ? room - 1 : 0;/'
mutant S14_number_read_once lib/mirror.c \
	'/^static void node_event/,/^}/s/m->current = false;/return;/'
mutant S18_saturated_numbers_counted_by_order lib/rank.c \
	'/^static bool may_stand_before/,/^}/{s/return .*/return ku_number_before(number, other);/;s/!ku_number_before(other, number);//;}'
mutant S08_absent_taken_for_granted lib/rank.c \
	's/if (!own->seen)/if (false)/'

# Who waits, and where.
mutant S14_tries_and_stays lib/pool_bid.c \
	's/bool once = bid->state == KU_BID_TRIES;/bool once = false;/'
mutant S14_waits_without_the_lock lib/pool_bid.c \
	'/^static void stay/,/^}/s/enum kustos_err err = take_shares(bid);/&leave_lock(bid);/'
mutant S14_lost_the_lock_and_stays lib/pool_bid.c \
	'/^static void lock_lost/,/^}/{s/drop_shares(bid);/;/;s/queue_or_end(bid);/;/;}'
mutant who_comes_behind_a_try_never_queues lib/pool_bid.c \
	'/^static void let_queue/,/^}/s/pool->bids_in\[KU_BID_TRIES\] > 0/true/'
mutant L08_room_unseen lib/line_crowd.c \
	's/if (event != KU_WATCH_GONE)/if (false)/'
mutant L08_growth_wakes_nobody lib/pool_room.c \
	's/if (pool->room > 0 || /if (/'
mutant L08_new_number_not_waited_for lib/mirror.c \
	's/look(m, KU_ZK_EXISTS);/m->current = true; m->calls->shows(m, reply);/'

# What is left.
mutant L05_share_left_when_given_up lib/pool_bid.c \
	'/^void ku_bid_end/,/^}/s/drop_shares(bid);/;/'
mutant L05_lease_left_when_given_back lib/pool_bid.c \
	'/^static void share_released/,/^}/s/ku_place_leave(share->place);/;/'
mutant S05_lost_lease_kept_by_who_waits lib/pool_bid.c \
	'/^static void lease_lost/,/^}/s/drop_shares(bid);/return;/'

# The simple lock.
scenario=simple
survive

# Whose node it is.
mutant seat_S03_node_of_another_session_adopted lib/maker.c \
	's/owner != now || clues->tried_in != now ||/false ||/
	s/clues->moved \&\& owner != 0 \&\& owner != now/false/'
mutant seat_S10_deleted_again_without_a_look lib/op_start.c \
	's/op->czxid = unique ? 0 : op->out_stat.czxid;/op->czxid = 0;/'
mutant seat_S09_own_node_not_watched \
	lib/line_look.c '/^static void guard/,/^}/s/ku_place_watch_own(p)/(void)p/' \
	lib/seat.c 's/ku_place_watch_own(first)/(void)first/'
mutant seat_two_of_one_client_try lib/seat.c \
	's/while (!line->busy \&\& /while (/
	s/line->first->state == KU_PLACE_BEHIND/line->first->state <= KU_PLACE_BEHIND/'

# Everybody is served, and nothing is left.
mutant seat_L05_unwanted_node_forgotten lib/op_create.c \
	's/op->unwanted \&\& op->ambiguous/false \&\& op->ambiguous/'
mutant seat_L05_node_left_when_given_up lib/place.c \
	's/if (op->kind == KU_ZK_CREATE \&\& op->err == KUSTOS_OK)/if (false)/'
mutant seat_L08_no_look_after_a_reconnect lib/line_session.c \
	's/ \&\& place->state != KU_PLACE_NEXT//'
mutant seat_L08_event_forgotten_after_a_defeat lib/seat.c \
	's/else \/\* and then look \*\//else if (false)/'
mutant seat_L08_next_of_ours_never_tries lib/seat.c \
	'/^void ku_seat_withdraw/,/^}/s/serve(line);/;/'
mutant seat_L20_try_waits_for_others lib/seat.c \
	'/^static void beaten/,/^}/s/if (place->once)/if (false)/'
mutant seat_watch_left_behind lib/seat.c \
	'/^void ku_seat_withdraw/,/^}/s/ku_place_forget(place);/ku_place_unwatch_own(place);/'

# The queue.
scenario=queue without=
survive

# A transaction whose answer was lost.
mutant queue_S15_lost_taken_for_done lib/receipt_ask.c \
	's/if (deed->version < version)/if (true)/'
mutant queue_S15_lost_taken_for_not_done lib/receipt_ask.c \
	's/if (deed->version < version)/if (false)/'
mutant queue_S15_receipt_not_asked lib/receipt.c \
	'/^static void lost/,/^}/s/deed->state = KU_DEED_LOST;/not_done(r, deed); return;/'
mutant queue_S15_any_version_of_the_receipt lib/receipt.c \
	'/^static void send/,/^}/s/\.version = deed->version/.version = -1/'
mutant queue_S15_receipt_gone_taken_for_not_done lib/receipt.c \
	'/^void ku_receipt_lose/,/^}/s/finish_all(r, KU_DEED_LOST, KUSTOS_EUNKNOWN);/for (struct ku_deed *d = r->first; d; d = d->next) d->state = KU_DEED_IDLE;/'
mutant queue_sent_again_while_others_are_on_their_way lib/receipt.c \
	's/(r->in_flight > 0 \&\& (settles || r->over))/(r->in_flight > 0 \&\& r->over)/'
mutant queue_path_of_a_receipt_that_is_gone lib/receipt.c \
	'/^void ku_receipt_lose/,/^}/s/withdraw(r);/;/'
mutant queue_L05_receipt_left_behind lib/op_list.c \
	's/!op->lasting/true/'

# Who gets what.
mutant queue_S15_refused_taken_for_done lib/queue_take.c \
	'/^static void over/,/^}/s/err == KUSTOS_OK \&\& take->taking/take->taking/;s/put_back(q, \&rest);/for (; rest.count > 0; ) ku_catch_append(\&take->taking, ku_catch_pop(\&rest));/'
mutant queue_more_is_taken_than_asked_for lib/queue_take.c \
	's/return sum > take->taking.count ? .*/return sum;/
	s/^\tbool peek = take->first->peek;/\tbool peek = false;/'
mutant queue_what_is_kept_is_dropped_in_the_end lib/queue.c \
	's/^\tku_queue_return(q);/while (q->take.taken.count > 0) ku_catch_drop(ku_catch_pop(\&q->take.taken));/'
mutant queue_what_is_being_taken_is_dropped_in_the_end lib/queue_take.c \
	'/^static void over/,/^}/s/ku_queue_return(q);/while (take->taken.count > 0) ku_catch_drop(ku_catch_pop(\&take->taken));/'
mutant queue_order_lost_by_a_look lib/queue_take.c \
	'/^static void show(/,/^}/s/put_back(q, &q->take.caught);/;/'
mutant queue_a_newer_one_that_comes_first_is_not_seen lib/queue_order.c \
	'/^bool ku_take_stale/,/^}/s/take->stale/false/'
mutant queue_the_greater_priority_first lib/item_name.c \
	's/^\tout->key = (uint64_t)(value - INT32_MIN);/\tout->key = (uint64_t)(INT32_MAX - value);/'
mutant queue_L27_not_listed_again lib/queue_take.c \
	'/^static void look/,/^}/s/ku_mirror_look(&take->list);/;/;/^static void look/,/^}/s/ku_mirror_keep(&take->list);/;/'
mutant queue_empty_by_an_old_listing lib/queue_take.c \
	's/!again \&\& t->since < take->list.asked/true/'
mutant queue_who_puts_is_told_too_early lib/queue_put.c \
	'/^static enum kustos_err start/,/^}/s/ku_put_pump(q);/ku_put_pump(q); ku_wait_end(\&put->wait, KUSTOS_OK);/'
mutant queue_calls_out_of_order lib/queue_batch.c \
	'/^static bool batch_refused/,/^}/s/return b->err == KUSTOS_OK;/return false;/'

# A queue of delays.
scenario=delay-queue
survive
mutant delay_one_that_is_due_before_is_not_seen lib/item_name.c \
	'/^bool ku_item_keyed/,/^}/s/ || kind == KU_ITEM_DELAY//'
mutant delay_taken_before_it_is_due lib/queue_order.c \
	'/^bool ku_take_due/,/^}/s/if (left <= 0)/if (true)/'
mutant delay_others_are_never_found lib/others.c \
	's/(uint32_t)reply->stat->cversion == others->changes/true/'

# Claims.
scenario=claim without=throttle
survive

# A claim, or an ack, whose answer was lost.
mutant claim_S16_lost_taken_for_not_done lib/custody_claim.c \
	'/^static void claimed/,/^}/s/see_mark_later(c, reply->rc);/ku_custody_missed(c, KU_MISSED_TAKEN, KUSTOS_OK);/'
mutant claim_S16_any_marker_is_ours lib/custody_claim.c \
	'/^static bool is_ours/,/^}/s/return .*/return true ||/'
mutant claim_S16_lost_ack_taken_for_done lib/custody_end.c \
	'/^static void end_answered/,/^}/s/no_answer(c, reply->rc, see_item);/ku_custody_ended(c, KUSTOS_OK);/'
mutant claim_S16_lost_ack_taken_for_not_done lib/custody_end.c \
	'/^static void end_answered/,/^}/s/no_answer(c, reply->rc, see_item);/ku_custody_ended(c, KUSTOS_ELOST);/'
mutant claim_S16_item_that_is_gone_is_ours lib/custody_end.c \
	'/^static void saw_mark/,/^}/{s/reply->stat->czxid == c->token/false/;s/same \&\& reply->rc == KU_ZK_NONODE/true/;}'

# The loss of the session.
mutant claim_S16_ack_in_another_session \
	lib/custody.c 's/c->state == KU_CUSTODY_ENDING \&\& !c->ambiguous/false/' \
	lib/custody_end.c 's/ku_custody_delete(c->item_path, c->stat.version)/ku_custody_delete(c->item_path, -1)/'
mutant claim_L17_marker_stays_after_a_loss lib/custody.c \
	'/^void ku_custody_lose(/,/^}/s/unmark(c);/;/'
mutant claim_S09_marker_is_not_watched lib/custody_guard.c \
	'/^static void watch_marker/,/^}/s/ku_mirror_want(.*/;/'
mutant claim_released_while_it_is_lost lib/desk_try.c \
	'/^static void lost/,/^}/s/if (lent->hold != NULL)/if (true)/'

# Who gets what.
mutant claim_without_a_marker lib/custody_claim.c \
	'/^static void claim(struct/,/^}/s/KU_ZK_EPHEMERAL/KU_ZK_EPHEMERAL_SEQUENTIAL/'
mutant claim_any_version_is_counted lib/custody_claim.c \
	'/^static void claim(struct/,/^}/s/\.version = c->stat.version/.version = -1/'
mutant claim_dead_one_too_late lib/custody_claim.c \
	's/c->stat.version >= c->depot->deliveries/c->stat.version > c->depot->deliveries/'
mutant claim_put_back_and_not_made lib/custody_end.c \
	's/return c->new_path != NULL ? 3 : 2/return 2/'
mutant claim_L27_not_looked_at_again lib/desk_look.c \
	'/^static void marks_show/,/^}/s/desk->items.current = false;/;/'

# The same with keys.
scenario=keyed-claim
survive
mutant keyed_had_before_it_is_due lib/desk_look.c \
	'/^static int64_t due_in/,/^}/s/!= KU_ITEM_DELAY/== KU_ITEM_DELAY/'
mutant keyed_one_that_is_due_before_is_not_seen lib/item_name.c \
	'/^bool ku_item_keyed/,/^}/s/ || kind == KU_ITEM_DELAY//'
mutant keyed_a_newer_one_that_comes_first_is_not_seen lib/desk_look.c \
	'/^static bool is_stale/,/^}/s/return keyed/return false/'
mutant keyed_others_are_never_found lib/others.c \
	's/(uint32_t)reply->stat->cversion == others->changes/true/'
# With the fault that the next connection breaks as well.  Without it, these mutants
# take thousands of seeds to find.
with=relapse
survive
mutant keyed_chosen_without_a_connection lib/desk_look.c \
	'/^static bool is_ready/,/^}/s/!ku_session_ready(desk->client)/false/'
mutant keyed_the_oldest_is_not_wanted lib/desk_look.c \
	'/^bool ku_desk_wants/,/^}/s/l = l->next/l = NULL/'
with=

# The barriers.
scenario=barrier
survive

# The simple one.
mutant barrier_S12_event_taken_for_the_removal lib/vigil.c \
	's/return; \/\* it is being read again.*/{ tell(vigil, KUSTOS_OK); return; }/'
mutant barrier_L08_event_forgotten lib/mirror.c \
	'/^static void node_event/,/^}/s/read_it(m);/;/'

# Entering.
mutant double_S12_any_event_lets_in lib/muster_look.c \
	's/event == KU_WATCH_CREATED \&\& m->noted.absent/true/'
mutant double_S12_one_less_is_enough lib/muster_rule.c \
	's/if (v->names->count >= /if (v->names->count + 1 >= /'
mutant double_L18_old_ready_lets_in lib/muster_rule.c \
	's/v->ready_round >= v->own_czxid/true/'
mutant double_L18_old_ready_passed_in_silence lib/muster_step.c \
	's/^\t\ttell_others(m);/\t\tif (m->ready.there) pass(m); else tell_others(m);/'
mutant double_S11_node_of_an_old_session lib/muster_step.c \
	's/ku_muster_forget(m);/;/;s/^\t\t\tjoin(m);/\t\t\twait_for_event(m, watched);/'

# Leaving.
mutant double_S12_out_without_the_others lib/muster_step.c \
	'/^static void leave/,/^}/s/if (awaited == NULL)/if (true)/'
mutant double_waits_for_the_next_round lib/muster_look.c \
	's/reply->stat->czxid > m->round/false/'
mutant double_L05_node_left_when_given_up lib/muster.c \
	'/^void ku_muster_finish/,/^}/s/if (!in)/if (false)/'
mutant double_ready_left_behind lib/muster_step.c \
	's/(void)ku_muster_write(m, KU_ZK_DELETE);/;/'

# The same, with more members than a round needs.
scenario=crowd
survive
mutant crowd_L18_out_before_those_whose_round_it_joined lib/muster_look.c \
	's/reply->stat->czxid > m->round/& || (m->names->count > (size_t)m->count \&\& reply->stat->czxid < m->own.czxid)/'
mutant crowd_L18_ready_is_for_all_who_came_before_it lib/muster_rule.c \
	's/? round : mzxid/? mzxid : mzxid/'
mutant crowd_S12_others_were_quicker_and_it_looks_no_more lib/muster_node.c \
	'/^static void told/,/^}/s/		ku_muster_look(m);/		ku_muster_step(m);/'

# The count-down latch.
scenario=countdown
survive
mutant countdown_S12_one_less_is_enough recipes/tally.c \
	's/tally->done >= (size_t)count/tally->done + 1 >= (size_t)count/'
mutant countdown_S12_event_taken_for_the_zero lib/vigil.c \
	's/return; \/\* it is being read again.*/{ tell(vigil, KUSTOS_OK); return; }/'
mutant countdown_L08_event_forgotten lib/mirror.c \
	'/^static void node_event/,/^}/s/read_it(m);/;/'
mutant countdown_death_not_told recipes/tally.c \
	's/return tally->dead > 0 ? KUSTOS_EBROKEN : /return /'
mutant countdown_the_living_taken_for_dead recipes/tally.c \
	's/kinds == KU_TALLY_MUST;/(kinds \& ~KU_TALLY_ALIVE) == KU_TALLY_MUST;/'

# The latch.
scenario=latch
survive

# Who leads, and until when.
mutant S08_absent_taken_for_first lib/rank.c \
	's/if (!own->seen)/if (false)/'
mutant S09_own_node_not_watched lib/line_look.c \
	'/^static void guard/,/^}/s/ku_place_watch_own(p)/(void)p/
	/^static void look_again/,/^}/s/ku_place_watch_own(p)/(void)p/'
mutant S03_anybody_may_write_into_it lib/line_watch.c \
	's/place->kind->jealous \&\& //;s/!is_ours(place, reply)/false/'
mutant S20_own_write_taken_for_anothers lib/place_write.c \
	's/writing->place->version = op->out_stat.version;/;/'
mutant S20_write_that_nobody_waits_for_is_forgotten lib/candidate_data.c \
	'/^static void cease/,/^}/s/ku_place_unheed(.*/{ extern void ku_place_stop_writing(struct ku_place *); ku_place_stop_writing(errand->term->place); }/'

# What the program is told about it.
mutant U03_loss_not_told lib/candidate.c \
	's/call_program(c, c->lost, term);/;/'
mutant told_after_the_node_went lib/candidate_over.c \
	's/ku_term_end(h->candidate, h->term, &h->request->errand);/inherit(\&h->request->errand), h->term->over = true, h->candidate->term = NULL;/
	s/^static void decide/static void inherit(struct ku_errand *e);\n&/'
mutant L13_no_new_place_after_a_loss lib/candidate.c \
	'/^static void lost/,/^}/s/ku_candidate_line_up(c);/;/
	/^static void unsure/,/^}/s/ku_candidate_line_up(c);/;/'
mutant L13_no_new_place_after_a_hand_over lib/candidate_over.c \
	's/ku_candidate_line_up(h->candidate);/;/'

# Handing over.
mutant own_node_deleted_first lib/heir.c \
	's/for (int i = heir - 1; i >= own; i--)/for (int i = own; i < heir; i++)/'
mutant those_between_are_left lib/heir.c \
	's/for (int i = heir - 1; i >= own; i--)/for (int i = own; i == own; i--)/'
mutant heir_not_checked lib/heir.c \
	's/\.kind = KUSTOS_OP_CHECK,/.kind = KUSTOS_OP_CHECK, .path = survey->list[own].path, .version = -1 }; (void)(struct kustos_op){/'
mutant S15_unknown_taken_for_done lib/candidate_over.c \
	'/^static void deleted/,/^}/s/if (h->request != NULL/if (op->err != KUSTOS_EUNKNOWN \&\& h->request != NULL/
	/^static void deleted/,/^}/s/end(h, op->err);/end(h, op->err == KUSTOS_EUNKNOWN ? KUSTOS_OK : op->err);/'
mutant given_up_while_the_transaction_is_on_its_way lib/candidate_over.c \
	's/if (is_deleting(h)) {/if (false) {/'

# A process that goes on after a crash.
mutant node_of_the_former_process_left lib/legacy.c \
	's/return ku_legacy_left(successor, one) \&\&/return false \&\&/'
mutant older_node_of_the_former_process_taken lib/legacy.c \
	's/out_stat.czxid > other/out_stat.czxid < other/'
mutant second_node_of_the_former_process_left lib/candidate_search.c \
	's/if (ku_legacy_spare(.*/if (false)/'

# Observers.
mutant L08_observer_forgets_after_a_session lib/session.c \
	's/ku_observers_connected(client);/;/'
mutant L09_observer_without_a_watch lib/observe.c \
	's/send(o, KU_ZK_GET, path, true, was_read)/send(o, KU_ZK_GET, path, false, was_read)/;s/set_timer(o, REFUSED_MS); .*/;/'
mutant observer_keeps_the_first_it_saw lib/observe.c \
	'/^static void was_read/,/^}/s/o->node = NULL;/;/;/^static void watched/,/^}/s/o->node = NULL;/o->node = strdup("\/elect\/a");/'

# The latch of one node.
scenario=one-node
survive
mutant one_node_S09_own_node_not_watched \
	lib/line_look.c '/^static void guard/,/^}/s/ku_place_watch_own(p)/(void)p/' \
	lib/seat.c 's/ku_place_watch_own(first)/(void)first/'
mutant one_node_S10_deleted_again_without_a_look lib/op_start.c \
	's/op->czxid = unique ? 0 : op->out_stat.czxid;/op->czxid = 0;/'
mutant one_node_a_write_outlives_its_place lib/place.c \
	'/^static void withdraw/,/^}/s/ku_place_stop_writing(place);/if (!line->rule->seat) &/'
mutant one_node_L13_no_new_place_after_a_loss lib/candidate.c \
	'/^static void lost/,/^}/s/ku_candidate_line_up(c);/;/
	/^static void unsure/,/^}/s/ku_candidate_line_up(c);/;/'

# With clients that also stall within a step.  Without that, this is not found.
with=stall
survive
scenario=claim
survive
mutant claim_P05_watch_left_by_a_look_of_a_later_session lib/mirror.c \
	'/^static void look_at_new/,/^}/s/(void)watch(m, m->request.what.kind);/;/'
with=

# The selector.
scenario=selector
survive
mutant a_request_lets_the_next_lead_at_once lib/line_watch.c \
	's/!(held \&\& asked)) {/true) {/'
mutant U03_function_not_asked_to_return lib/leader.c \
	'/^static void lost/,/^}/s/(void)interrupt(l);/;/'
mutant L13_not_in_line_again lib/leader.c \
	's/bool again = (late || l->requeues || l->queued)/bool again = false/'
mutant asked_for_once_and_forgotten lib/leader.c \
	's/l->queued = true;/;/'
mutant given_up_before_the_function_has_returned lib/candidate.c \
	's/c->told->kept = c->keeps;/c->told->kept = false;/'
mutant in_line_again_while_the_function_runs lib/candidate.c \
	's/if (term->kept)$/if (false)/'
mutant heir_has_led_when_the_function_returns lib/candidate.c \
	'/^static bool tell_one/,/^}/s/ \&\& !term->kept) {/ \&\& (!term->kept || term->heir)) {/'
mutant handed_over_and_never_in_line_again lib/candidate_over.c \
	's/h->candidate->moving = false;/;/'
mutant write_of_a_leader_taken_for_anothers lib/place_write.c \
	's/writing->place->version = op->out_stat.version;/;/'

# Several locks taken together.
scenario=together
survive
mutant together_in_the_order_of_the_caller lib/lockable.c \
	's/qsort(pile->slots, count, sizeof(pile->slots\[0\]), by_path);/;/'
mutant together_some_are_kept_after_a_failure lib/lockable.c \
	'/^static void one_granted/,/^}/s/^	give_back(pile);/	;/'
mutant S11_together_one_was_lost_meanwhile lib/lockable.c \
	's/ku_hold_state(bundle->parts\[i\]) != KUSTOS_HOLD_LOST;/true;/'
mutant S09_together_one_is_lost_and_not_the_others lib/hold.c \
	's/ku_hold_lose(hold->within->whole);/;/'

# With the fault that a follower's write is held, and is done when the session comes
# back there.
with=late
scenario=mutex
survive
mutant late_S06_session_goes_back lib/session_handle.c \
	's/client->env.api->steer(handle->zk, handle->joined, false);/;/'
mutant late_S06_lost_writes_are_forgotten lib/wire.c \
	's/ku_shun_add(/(void)(/'
mutant late_S06_what_came_late_has_the_name_of_another lib/op_create.c \
	'/^static void listed/,/^}/s/send_anew(op);/op->ambiguous = false, send_create(op);/'
mutant late_S06_what_came_late_is_not_found lib/stray.c \
	's/nest->sorted = true;/return;/'
scenario=together
survive
mutant late_S06_what_comes_late_is_not_looked_for lib/op_create.c \
	's/ku_stray_add(op, op->create->guid);/;/'
scenario=claim
survive
mutant late_S16_transactions_are_not_writes lib/wire.c \
	's/ || what->kind == KU_ZK_MULTI;/;/'
# If servers cannot be told apart a session may go back to such a follower, and a queue
# must survive that.
scenario=queue
survive
mutant late_S15_goes_back_and_versions_are_not_used_up lib/session_handle.c \
	's/client->env.api->steer(handle->zk, handle->joined, false);/;/' \
	lib/receipt_ask.c 's/to > version \&\& to - version <= KU_FENCE_MAX/false/'
scenario=one-node
survive
mutant late_S06_deletions_are_not_writes lib/wire.c \
	's/what->kind == KU_ZK_DELETE ||/false ||/'
with=

# Bugs that need one exact moment, which a test brings about.
aim_with test_given_up
mutant L05_left_when_given_up_in_a_close lib/op_start.c \
	's/closing <= KU_DRAINING/closing == KU_OPEN/'
mutant L05_left_when_ended_by_a_close lib/op_start.c \
	's/op->err == KUSTOS_ECLOSED/false/'
mutant L05_parents_made_for_nobody lib/op_create.c \
	's/if (op->unwanted) { .*/if (false) {/'
aim_with test_mirror
mutant L08_watch_taken_off_behind_a_read lib/mirror.c \
	's/m->wanted \&\& is_taken_off(m)/false/'
mutant L08_watch_of_who_waits_taken_off_behind_a_read lib/watch.c \
	'/^bool ku_watch_keep/,/^}/s/!ku_watch_is_ending(.*))/true)/'
mutant P05_watch_left_by_a_read_in_the_end lib/mirror.c \
	'/^static void last_answer/,/^}/s/ku_watch_take_back(/(void)(/'
aim_with test_lost
mutant seat_S06_known_node_adopted lib/maker.c \
	's/clues->known == node->czxid/false/'
aim_with test_pool
mutant L08_number_not_read_again_after_a_reconnect lib/line_look.c \
	's/place->kind->company == KU_COMPANY_UNKNOWN)$/false)/'
mutant L08_watch_of_the_leases_taken_off_behind_a_listing lib/watch.c \
	'/^bool ku_watch_keep/,/^}/s/!ku_watch_is_ending(.*))/true)/'
mutant L08_event_hides_what_the_server_is_being_told lib/watch.c \
	's/if (event == KU_WATCH_GONE || !ku_request_busy(&entry->unwatch))/if (true)/'
aim_with test_leases
mutant S01_hold_without_a_clock lib/hold.c \
	'/^enum kustos_hold_state ku_hold_state/,/^}/s/= ku_session_state(client)/= client->session.state/'
mutant S01_released_without_a_clock lib/hold.c \
	's/bool lost = ku_hold_state(hold) == KUSTOS_HOLD_LOST;/bool lost = hold->lost;/'
aim_with test_elections
mutant S01_leads_without_a_clock lib/candidate_ask.c \
	's/switch (ku_hold_state(c->term->hold)) {/switch (c->client->session.state == KUSTOS_STATE_SUSPENDED ? KUSTOS_HOLD_UNSURE : KUSTOS_HOLD_HELD) {/'
aim_with test_bids
mutant passes_who_stands_in_line lib/pool_bid.c \
	'/^static enum ku_bid_state first_state/,/^}/s/waiting == 0/waiting >= 0/'
mutant passes_who_has_tried_in_vain lib/pool_bid.c \
	'/^static void go_on/,/^}/s/later = bid->prev;/later = bid->state == KU_BID_PENDS ? bid->prev : NULL;/'
mutant stands_in_line_before_who_still_tries lib/pool_bid.c \
	's/> 0 ? KU_BID_PENDS/> 0 ? KU_BID_QUEUES/'
mutant L28_tries_where_its_own_take_all_room lib/pool_bid.c \
	'/^static bool may_be_room/,/^}/s/bid->want.count <= /true || &/'
aim_with test_line_cost
mutant proof_over_the_data_of_another_line lib/line_proof.c \
	'/^void ku_proof_outdate/,/^}/s/ = proof->allowed = false/ = false/'
aim_with test_line_limits
mutant S01_seat_seen_when_the_lease_was_over lib/seat.c \
	's/first->state == KU_PLACE_LOOKING \&\& ku_lookout_sees(first->own)/false/'
aim_with test_muster_lost
mutant double_S12_others_told_late lib/muster_node.c \
	's/enum kustos_err err = make_tell(m, &task);/enum kustos_err err = KUSTOS_ETOOBIG; (void)make_tell;/'
mutant double_S12_in_though_nobody_was_told lib/muster_node.c \
	'/^static void lose/,/^}/s/== KU_MUSTER_IN/== KU_MUSTER_OUT/'
mutant double_S12_out_though_nobody_was_told lib/muster_node.c \
	'/^static void lose/,/^}/s/ku_muster_finish(m, KUSTOS_ELOST);/ku_muster_look(m);/'
aim_with test_muster_told
mutant double_L18_in_though_it_may_tell_nobody lib/muster_node.c \
	's/else if (tells \&\& !written/else if (checked \&\& !written/'
mutant double_L24_too_large_again_and_again lib/muster_node.c \
	's/if (m->lost >= LOST_MOST)/if (false)/'
mutant double_S12_what_is_small_is_told_plainly lib/muster_node.c \
	's/> SMALL_REQUEST)/> 0)/'
aim_with test_line
mutant S04_events_of_a_former_handle lib/session.c \
	's/if (handle != client->session.handle)/if (false)/'
aim_with test_beside
mutant S13_watches_of_the_gap_before_the_listing lib/place.c \
	's/if (place->line->deciding \&\& place->news)/if (false)/'
aim_with test_muster
mutant L18_ready_of_a_newer_round_written_over lib/muster_node.c \
	's/m->ready.there ? m->ready.stat.version : 0/-1/'
mutant L18_ready_of_a_newer_round_written_over_unchecked lib/muster_node.c \
	's/if (kind != KU_ZK_CREATE)$/if (kind == KU_ZK_DELETE)/'
mutant L18_ready_made_anew_is_tidied_away lib/muster_node.c \
	's/op->wary = op->doubtful = !op->guaranteed;/;/'
mutant L18_late_ready_goes_with_its_maker lib/muster_step.c \
	's/!m->misleads) {/true) {/'
mutant L18_who_missed_its_round_is_waited_for lib/muster_step.c \
	's/m->missed = has_missed(m);/m->missed = false;/'
mutant double_S09_own_node_not_watched lib/muster_step.c \
	's/ku_muster_guard(m);/;/'
aim_with test_muster_safety
mutant double_late_ready_lets_in lib/muster_rule.c \
	's/? round : mzxid/? mzxid : mzxid/'
mutant L08_who_is_in_looks_no_more lib/muster_look.c \
	's/ku_muster_guard_again(m);/;/'
mutant S09_changed_and_watched_no_more lib/muster_guard.c \
	'/^static void event/,/^}/s/ku_muster_guard(m);/;/'
mutant L18_the_second_begins_before_its_node_is_gone lib/muster_look.c \
	's/if (m->own.op == NULL) .*/if (true)/'
aim_with test_receipt
mutant L05_receipt_made_as_the_client_closes lib/receipt.c \
	's/r->node->last = true;/;/'
aim_with test_fence
mutant S15_what_is_not_done_is_not_prevented lib/receipt_ask.c \
	's/to > version \&\& to - version/false \&\& to - version/'
mutant S15_what_was_prevented_is_not_known_if_that_answer_was_lost lib/receipt_ask.c \
	's/if (ku_receipt_is_fenced(r, reply))/if (false)/'
aim_with test_desk
mutant S16_marker_of_a_claim_before_is_ours lib/custody.c \
	's/depot->serial++/0U/'
mutant L27_rest_until_the_next_is_due lib/desk_look.c \
	'/^static bool is_due/,/^}/s/!desk->resting/true/'
mutant L27_what_was_unfit_stays_so lib/desk_look.c \
	'/^static void timer_due/,/^}/s/ku_desk_relook(desk)/(void)0/'
mutant L27_given_back_and_not_there lib/desk_try.c \
	's/desk->marks.current = false;/;/' lib/desk_look.c \
	's/since < desk->marks_shown/true/'
mutant L27_free_again_behind_what_is_due_later lib/desk_look.c \
	'/^static void marks_show/,/^}/s/desk->blocked)/desk->blocked \&\& desk->head.window_count == 0)/'
aim_with test_look
mutant L27_given_back_by_another_and_not_there lib/desk_look.c \
	's/since < desk->marks_shown/true/'
mutant L07_not_watched_and_read_again_at_once lib/mirror.c \
	's/!m->wanted || !m->blind/true/'
mutant S17_listed_as_another_was_taken_and_forgotten lib/queue_take.c \
	's/late || take->busy ||$/late;/;/^		take->caught.count > 0 ||$/d;/^		(ku_head_count(&take->head) > 0 && !ku_queue_keyed(q));/d;s/^	if (take->stale)$/	if (take->stale || take->busy || take->caught.count > 0)/'
aim_with test_put_off
mutant L28_claimed_though_nobody_waits lib/custody_claim.c \
	's/else if (!c->calls->wanted(c))/else if (c->put_off \&\& !c->calls->wanted(c))/'
aim_with test_custody_guard
mutant S09_any_marker_will_do lib/custody_guard.c \
	's/reply->stat->czxid == c->token/true/'
mutant S09_anothers_marker_is_deleted lib/custody.c \
	'/^static void unmark/,/^}/s/if (c->stale)/if (false)/'
mutant S09_what_changed_is_believed lib/custody_guard.c \
	's/watch->custody->stale = true;/;/'
mutant P05_the_watch_of_anothers_marker_stays lib/custody_guard.c \
	's/if (c->marked)/if (true)/'
mutant P05_the_server_is_told_of_a_watch_that_goes lib/custody_guard.c \
	's/if (c->marked)/if (false)/'
mutant P03_watched_at_once lib/custody_guard.c \
	's/KU_HELD_WATCH_MS/0/'
aim_with test_seat_late
mutant seat_asked_for_what_is_gone lib/place_take.c \
	'/^void ku_place_restart/,/^}/s/place->revoked = false;//'
mutant seat_asked_before_its_grant_and_not_told lib/seat.c \
	's/ku_place_note_request(place, reply);//'
aim_with test_stray
mutant S06_what_is_late_is_looked_for_after_a_reconnect_only lib/beat.c \
	'/^static void heartbeat_done/,/^}/s/ku_strays_mind(client);/;/'
mutant L28_what_is_late_is_looked_for_after_each_heartbeat lib/stray.c \
	's/now + (now - nest->since_ns)/now/'
mutant S06_what_is_late_is_not_looked_for_once_more lib/stray.c \
	's/if (until > now \&\& until < nest->due_ns)/if (false)/'
aim_with test_resume
mutant S03_what_was_made_late_is_taken_over lib/candidate_search.c \
	's/ku_strays_have(c->client, one->op->path)/false/'
mutant S03_what_was_found_meanwhile_is_taken_over lib/candidate_search.c \
	's/search->strays == c->client->strays.found/true/'
mutant S03_what_is_being_deleted_is_taken_over lib/stray.c \
	's/ku_ops_belated(client, path)/false/'
aim_with test_resume_node
mutant S03_seat_what_is_being_made_is_taken_over lib/place_take.c \
	's/ || line->busy ||/ ||/'
mutant S03_seat_what_this_client_made_is_taken_over lib/candidate_search.c \
	's/c->rule->seat \&\&/false \&\& c->rule->seat \&\&/'
mutant S09_seat_led_before_another_look lib/seat.c \
	's/ku_place_watch_own(place); .*granted if.*/ku_place_grant(place);/'
mutant S09_seat_taken_over_behind_one_that_waits lib/seat.c \
	's/place->number = -1;.*/;/'
aim_with test_waiting
mutant claim_S16_forgotten_while_it_is_not_known lib/custody.c \
	's/!c->ambiguous \&\& withdraw(c)/withdraw(c)/'
aim_with test_outage
mutant keyed_chosen_while_a_claim_is_unsure lib/desk_look.c \
	'/^static bool is_ready/,/^}/s/is_unsure(desk)/false/'
mutant keyed_read_on_the_next_connection lib/custody_claim.c \
	'/^static void was_read/,/^}/s/c->stale/false/'
mutant keyed_what_was_not_sent_is_not_taken_back lib/custody.c \
	's/c->witness.away = away;/;/'
mutant keyed_chosen_before_the_session_was_lost lib/custody.c \
	'/^static void session_lost/,/^}/s/away(witness);/;/'
mutant S17_chosen_before_an_outage lib/queue_take.c \
	'/^void ku_take_unchoose/,/^}/s/!ku_queue_keyed(q)/true/'
mutant S17_listed_as_the_session_is_lost lib/queue_take.c \
	'/^static bool is_late/,/^}/s/return .*/return (void)q, false;/'
mutant L27_marked_in_a_session_before lib/desk_look.c \
	'/^bool ku_desk_awaits_marks/,/^}/s/return .*/return false \&\&/'
aim_with test_pause
mutant queue_what_was_taken_late_is_dropped lib/queue_poll.c \
	'/^static void give_up/,/^}/s/ku_take_step(q);/ku_take_step(q); while (q->take.taken.count > 0) ku_catch_drop(ku_catch_pop(\&q->take.taken));/'
mutant L27_mended_item_is_not_looked_at lib/queue_take.c \
	's/ku_take_watch_unfit(q);/;/'
mutant L28_read_again_at_once lib/queue_catch.c \
	'/^static void ask_again/,/^}/s/!ku_session_ready(client)/true/'
mutant L28_counted_again_at_once lib/queue_room.c \
	'/^static void answered/,/^}/s/else if (ku_session_ready(q->client))/else if (false)/'
aim_with test_beaten
mutant queue_the_beaten_fight_for_the_first lib/queue_take.c \
	's/^#define SPREAD_MIN 8$/#define SPREAD_MIN 0/'
mutant queue_who_is_alone_takes_from_many lib/queue_take.c \
	's/ ? take->spread \/ 2 : 0;/ ? take->spread \/ 2 : take->spread;/'
mutant claim_the_beaten_fight_for_the_first lib/desk_try.c \
	's/desk->spread = 2 \* desk->spread + 3;/;/'
mutant claim_who_is_alone_claims_from_many lib/desk_try.c \
	's/desk->spread \/= 2;/;/'

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
[ "$mode" != note ] || cat "$work"/*.said |
	sed -n 's/^ok: \([^ ]*\): seed \([0-9]*\): .*/\1 \2/p
		s/^ok: \([^ ]*\): crash, seed \([0-9]*\)$/\1 \2 crash/p' |
	LC_ALL=C sort >"$notes"
echo "$found found, $failed not"
[ "$failed" -eq 0 ] && [ "$found" -gt 0 ]
