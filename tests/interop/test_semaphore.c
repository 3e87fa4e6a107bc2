/*
 * test_semaphore.c - our semaphore and Curator's InterProcessSemaphoreV2 on one
 * path: there are never too many leases, and nobody is left out.
 *
 * kazoo's Semaphore does not take part.  Its nodes have another place and other
 * names, so neither would see the other.
 */
#include "peer.h"
#include "spans.h"
#include "support/raw.h"
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000
#define DEAD_MS 6000 /* of those that are killed */
#define QUIET_MS 200
#define SEM TURNS_LINE
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define MAX 5

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct peer peers[8];
static struct spans spans;

/* --- Many ---------------------------------------------------------------- */

/* Each takes from 1 to this many at once.  Curator takes several one by one,
   and keeps those that it has while it waits for more.  All of these together
   must leave room for one that wants all of its leases at once. */
static const enum peer_kind crowd[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS,
	PEER_CURATOR, PEER_KUSTOS };
static const int at_once[] = { 3, 2, 2, 2, 1 };
#define CROWD 5
#define TURNS 220 /* of each: more than 1000 together */

static struct turns plan[CROWD];

static void plan_draws(int turns, int max)
{
	peers_start(peers, crowd, CROWD, SESSION_MS);
	for (int i = 0; i < CROWD; i++)
		plan[i] = (struct turns){ .turns = turns,
			.patience_ms = 60000,
			.percent = TURNS_DRAW,
			.max = max,
			.leases = at_once[i] };
	spans_free(&spans);
}

START_TEST(S14_five_processes_of_two_kinds_share_five_leases)
{
	plan_draws(TURNS, MAX);
	turns_contend(peers, plan, CROWD, &spans);
	ck_assert_uint_ge(spans.count, CROWD * TURNS);
	ck_assert_int_le(spans_most(&spans, INT64_MIN, INT64_MAX), MAX);

	/* At some time all leases were in use. */
	ck_assert_int_eq(spans_most(&spans, INT64_MIN, INT64_MAX), MAX);
	line_await(LEASES, 0);
	line_await(LOCKS, 0);
	peers_end(peers, CROWD);
}
END_TEST

/* The test above relies on this: they would take more if they could. */
START_TEST(with_a_larger_number_the_check_finds_more)
{
	plan_draws(40, 2 * MAX);
	turns_contend(peers, plan, CROWD, &spans);
	ck_assert_int_gt(spans_most(&spans, INT64_MIN, INT64_MAX), MAX);
	peers_end(peers, CROWD);
}
END_TEST

START_TEST(S14_the_mutex_of_a_semaphore_is_curators)
{
	const enum peer_kind four[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS,
		PEER_CURATOR };
	int sum = 0;

	peers_start(peers, four, 4, SESSION_MS);
	for (int i = 0; i < 4; i++)
		plan[i] = (struct turns){ .turns = 60,
			.patience_ms = 60000,
			.percent = TURNS_SOLE };
	spans_free(&spans);
	turns_contend(peers, plan, 4, &spans);
	for (int i = 0; i < 4; i++)
		sum += plan[i].done;
	ck_assert_int_eq(turns_counted(), sum);
	ck_assert_uint_eq(spans.count, (size_t)sum);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	line_await(LEASES, 0);
	peers_end(peers, 4);
}
END_TEST

/* --- Two, and a third ---------------------------------------------------- */

/* Acquire a lease without waiting for it.  "waiting" is the number of nodes in
   "locks" then; the first of these waiters already has a lease's node. */
static void ask(struct peer *p, const char *path, int max, int waiting)
{
	char locks[64];

	peer_tell(p, "lease %s %d 1 60000", path, max);
	/* It fits, which gcc 14 cannot see here. */
	snprintf(locks, sizeof(locks), "%.40s/locks", path);
	line_await(locks, waiting);
}

static void take(struct peer *p, const char *path, int max, int count)
{
	peer_do(p, "leased", "lease %s %d %d 30000", path, max, count);
}

/* One of ours that wants several waits in the line without any lease.  Those
   that come later wait behind it, although there would be room for them. */
START_TEST(one_of_ours_that_wants_several_waits_for_all_before_another_kind)
{
	const enum peer_kind three[] = { PEER_CURATOR, PEER_KUSTOS, kinds[_i] };

	peers_start(peers, three, 3, SESSION_MS);
	take(&peers[0], SEM, 3, 1);
	peer_tell(&peers[1], "lease " SEM " 3 3 60000");
	line_await(LOCKS, 1); /* it has tried */
	line_await(LEASES, 4);
	ask(&peers[2], SEM, 3, 2);
	test_never(!peer_silent(&peers[1]) || !peer_silent(&peers[2]),
		QUIET_MS);
	peer_do(&peers[0], "returned", "return " SEM);
	peer_hear(&peers[1], "leased", PEER_PATIENCE_MS);
	test_never(!peer_silent(&peers[2]), QUIET_MS);
	peer_do(&peers[1], "returned", "return " SEM);
	peer_hear(&peers[2], "leased", PEER_PATIENCE_MS);
	peer_do(&peers[2], "returned", "return " SEM);
	line_await(LEASES, 0);
	peers_end(peers, 3);
}
END_TEST

/* Curator takes several one by one, and keeps what it has while it waits for
   the next.  Ours is before it in the line by then and waits for all, so
   neither can go on until Curator gives up.  If this fails because one goes on,
   the manual is out of date. */
START_TEST(one_of_curators_that_wants_several_needs_a_deadline)
{
	const enum peer_kind three[] = { PEER_CURATOR, PEER_KUSTOS,
		PEER_KUSTOS };

	peers_start(peers, three, 3, SESSION_MS);
	take(&peers[2], SEM, 2, 2);
	peer_tell(&peers[0], "lease " SEM " 2 2 5000");
	line_await(LEASES, 3);
	peer_tell(&peers[1], "lease " SEM " 2 2 60000");
	line_await(LOCKS, 2);
	peer_do(&peers[2], "returned", "return " SEM);
	test_never(!peer_silent(&peers[0]) || !peer_silent(&peers[1]),
		QUIET_MS);
	peer_hear(&peers[0], "timeout", PEER_PATIENCE_MS);
	peer_hear(&peers[1], "leased", PEER_PATIENCE_MS);
	peers_end(peers, 3);
}
END_TEST

/* Check that the answer of each has exactly the nodes that exist. */
static void all_see(const struct raw_names *names, int count)
{
	for (int i = 0; i < count; i++) {
		peer_tell(&peers[i], "holders " SEM " %d", MAX);
		peer_hear(&peers[i], "3", PEER_PATIENCE_MS);
		for (int k = 0; k < names->count; k++)
			ck_assert_ptr_nonnull(
				strstr(peers[i].reply, names->names[k]));
	}
}

START_TEST(each_kind_sees_the_leases_of_both)
{
	struct raw_names names;

	peers_start(peers, kinds, 2, SESSION_MS);
	take(&peers[0], SEM, MAX, 2);
	take(&peers[1], SEM, MAX, 1);
	ck_assert_int_eq(raw_children(fixture_address(), LEASES, &names), 0);
	ck_assert_int_eq(names.count, 3);
	for (int i = 0; i < names.count; i++)
		ck_assert_ptr_nonnull(strstr(names.names[i], "-lease-"));
	all_see(&names, 2);
	raw_names_free(&names);
	peers_end(peers, 2);
}
END_TEST

/* --- Killed -------------------------------------------------------------- */

/* Of each kind, a process that holds on one path and waits on another is
   killed.  On both paths a process of the other kind is behind it. */
#define SCENES 4

struct scene {
	char path[32];
	char node[256]; /* of the victim's lease */
	struct peer *heir;
	int64_t seen_ns; /* when that certainly existed */
	bool gone;
};

static struct scene scenes[SCENES];

/* Store the path of a lease's node of that session.  Returns whether there is
   one. */
static bool find_node(struct scene *s, struct raw *raw, int64_t session)
{
	char leases[64], path[256];
	struct raw_names names;
	struct raw_stat stat;

	snprintf(leases, sizeof(leases), "%s/leases", s->path);
	ck_assert_int_eq(raw_do_children(raw, leases, &names), 0);
	for (int i = 0; i < names.count; i++) {
		snprintf(path, sizeof(path), "%s/%s", leases, names.names[i]);
		ck_assert_int_eq(raw_do_exists(raw, path, &stat), 0);
		if (stat.ephemeral_owner == session)
			strcpy(s->node, path);
	}
	raw_names_free(&names);
	return *s->node != '\0';
}

static void make_scenes(struct raw *raw, int number, struct peer *victim,
	struct peer *keeper, struct peer *heirs)
{
	struct scene *holds = &scenes[2 * number], *waits = holds + 1;

	snprintf(holds->path, sizeof(holds->path), "/dead-%d-holds", number);
	snprintf(waits->path, sizeof(waits->path), "/dead-%d-waits", number);
	holds->heir = &heirs[0];
	waits->heir = &heirs[1];
	take(victim, holds->path, 2, 2);
	ask(holds->heir, holds->path, 2, 1);
	take(keeper, waits->path, 2, 2);
	ask(victim, waits->path, 2, 1);
	ask(waits->heir, waits->path, 2, 2);
	ck_assert(find_node(holds, raw, victim->session));
	test_within(find_node(waits, raw, victim->session), PATIENCE_MS);
}

/* Note when each victim's node was seen last.  Returns whether any still
   exists. */
static bool any_left(struct raw *raw)
{
	bool left = false;

	for (int i = 0; i < SCENES; i++) {
		struct scene *s = &scenes[i];
		int64_t now_ns = test_now_us() * 1000;

		if (!s->gone && raw_do_exists(raw, s->node, NULL) == 0)
			s->seen_ns = now_ns;
		else
			s->gone = true;
		left = left || !s->gone;
	}
	return left;
}

static void check_scene(const struct scene *s, int64_t killed_ns)
{
	int64_t got_ns = strtoll(peer_hear(s->heir, "leased", PEER_PATIENCE_MS),
		NULL, 10);

	ck_assert_msg(got_ns > s->seen_ns,
		"%s: %s had one while the dead one's session lived", s->path,
		peer_name(s->heir->kind));
	/* Clients send something every third of the timeout at least, so a
	   session cannot end earlier after the kill. */
	ck_assert_int_gt(got_ns, killed_ns + DEAD_MS * INT64_C(500000));
	peer_do(s->heir, "returned", "return %s", s->path);
}

START_TEST(S14_the_next_gets_it_when_the_dead_ones_session_is_over)
{
	const enum peer_kind all[] = { PEER_KUSTOS, PEER_CURATOR, PEER_CURATOR,
		PEER_CURATOR, PEER_KUSTOS, PEER_KUSTOS, PEER_KUSTOS };
	struct peer *victims = peers, *heirs = peers + 2, *keeper = peers + 6;
	struct raw *raw = raw_open(fixture_address(), 60000);

	ck_assert_ptr_nonnull(raw);
	peers_start(peers, all, 7, DEAD_MS);
	for (int i = 0; i < 2; i++)
		make_scenes(raw, i, &victims[i], keeper, &heirs[2 * i]);
	int64_t killed_ns = test_now_us() * 1000;
	for (int i = 0; i < 2; i++)
		peer_kill(&victims[i]);
	for (int i = 0; i < 2; i++)
		peer_do(keeper, "returned", "return %s",
			scenes[2 * i + 1].path);
	test_within(!any_left(raw), PATIENCE_MS);
	for (int i = 0; i < SCENES; i++)
		check_scene(&scenes[i], killed_ns);
	raw_close(raw);
	peers_end(heirs, 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore");
	TCase *t = fixture_case(s, "two kinds", 90);

	tcase_add_test(t, S14_five_processes_of_two_kinds_share_five_leases);
	tcase_add_test(t, with_a_larger_number_the_check_finds_more);
	tcase_add_test(t, S14_the_mutex_of_a_semaphore_is_curators);
	tcase_add_loop_test(t,
		one_of_ours_that_wants_several_waits_for_all_before_another_kind,
		0, 2);
	tcase_add_test(t, one_of_curators_that_wants_several_needs_a_deadline);
	tcase_add_test(t, each_kind_sees_the_leases_of_both);
	tcase_add_test(t,
		S14_the_next_gets_it_when_the_dead_ones_session_is_over);
	return interop_main(s, kinds);
}
