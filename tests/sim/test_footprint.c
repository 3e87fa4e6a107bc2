/*
 * test_footprint.c - when a client looks which of its ephemeral nodes still
 * exist, and how it corrects its count of their bytes.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/node.h>
#include <string.h>

/* It looks when its nodes take this much, and again when they take MORE than
   that: see lib/footprint_look.c. */
#define CROWDED (KU_FOOTPRINT_LIMIT - KU_FOOTPRINT_LIMIT / 8)
#define MORE (KU_FOOTPRINT_LIMIT / 32)
/* What each node of these tests takes, and SOME room for others. */
#define WEIGHT (2 + 4)
#define SOME 1000

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static int looks; /* number of nodes that were looked at */
static int end;	  /* result of the last creation; -1: not yet */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	looks += request->kind == KU_ZK_EXISTS;
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void created(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)result;
	end = (int)err;
}

static enum kustos_err start(const char *path)
{
	end = -1;
	return kustos_create_async(client, path, "", 0, KUSTOS_CREATE_EPHEMERAL,
		KUSTOS_FOREVER, NULL, created, NULL);
}

static void make(const char *path)
{
	ck_assert_int_eq(start(path), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
}

/* Pretend that there are more nodes, so that all of them take this many
   bytes. */
static void fill(size_t bytes)
{
	client->footprint.ephemeral_bytes = bytes;
}

static size_t bytes(void)
{
	return client->footprint.ephemeral_bytes;
}

static void setup(void)
{
	api = ku_zk_sim;
	api.submit = submit_it;
	raw = lone_setup(&bench, 10);
	client = lone_connected(&bench, &api);
	make("/a");
	make("/b");
	make("/c");
	ck_assert_uint_eq(bytes(), 3 * WEIGHT);
	looks = 0;
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

START_TEST(P10_who_has_room_does_not_look)
{
	fill(CROWDED - SOME);
	make("/d");
	ck_assert_int_eq(looks, 0);
	fill(CROWDED + SOME);
	make("/e");
	ck_assert_int_eq(looks, 4);
}
END_TEST

START_TEST(P10_who_has_little_room_looks_once_for_so_much_more)
{
	fill(CROWDED + SOME);
	make("/d");
	ck_assert_int_eq(looks, 3); /* the node was made after the looks */
	fill(bytes() + MORE - SOME);
	make("/e");
	ck_assert_int_eq(looks, 3);
	fill(bytes() + SOME);
	make("/f");
	ck_assert_int_eq(looks, 3 + 5);
}
END_TEST

/* One node has gone, and another belongs to another session by now. */
START_TEST(P10_what_is_not_ours_any_more_does_not_count)
{
	ck_assert_int_eq(bench_delete(&bench, raw, "/a", -1).rc, KU_ZK_OK);
	ck_assert_int_eq(bench_delete(&bench, raw, "/b", -1).rc, KU_ZK_OK);
	ck_assert_int_eq(
		bench_create(&bench, raw, "/b", "", KU_ZK_EPHEMERAL).rc,
		KU_ZK_OK);
	fill(CROWDED + SOME);
	make("/d");
	ck_assert_int_eq(looks, 3);
	ck_assert_uint_eq(bytes(), CROWDED + SOME + WEIGHT - 2 * WEIGHT);
}
END_TEST

/* It looks each time that it has no room. */
START_TEST(P10_who_has_no_room_looks_though_it_has_looked)
{
	fill(KU_FOOTPRINT_LIMIT);
	for (int i = 1; i <= 2; i++) {
		ck_assert_int_eq(start("/d"), KUSTOS_ELIMIT);
		run_ms(1000);
		ck_assert_int_eq(looks, 3 * i);
	}
}
END_TEST

/* Nodes have gone, and others come. */
START_TEST(P10_room_that_was_there_meanwhile_counts_as_such)
{
	fill(CROWDED + SOME);
	make("/d");
	ck_assert_int_eq(looks, 3);
	fill(SOME);
	make("/e");
	fill(CROWDED + SOME);
	make("/f");
	ck_assert_int_eq(looks, 3 + 5);
}
END_TEST

/* At that moment no request can be sent. */
START_TEST(P10_a_look_that_cannot_begin_is_made_another_time)
{
	const struct ku_zk_request request = { .kind = KU_ZK_CREATE,
		.path = "/d",
		.mode = KU_ZK_EPHEMERAL };
	size_t asked;

	fill(KU_FOOTPRINT_LIMIT);
	client->session.auth_failed = true;
	ck_assert(!ku_footprint_reserve(client, &request, 0, &asked));
	client->session.auth_failed = false;
	run_ms(1000);
	ck_assert_int_eq(looks, 0);
	ck_assert_int_eq(start("/d"), KUSTOS_ELIMIT);
	run_ms(1000);
	ck_assert_int_eq(looks, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a session's ephemeral nodes");
	TCase *t = tcase_create("looked at");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, P10_who_has_room_does_not_look);
	tcase_add_test(t, P10_who_has_little_room_looks_once_for_so_much_more);
	tcase_add_test(t, P10_what_is_not_ours_any_more_does_not_count);
	tcase_add_test(t, P10_who_has_no_room_looks_though_it_has_looked);
	tcase_add_test(t, P10_room_that_was_there_meanwhile_counts_as_such);
	tcase_add_test(t, P10_a_look_that_cannot_begin_is_made_another_time);
	suite_add_tcase(s, t);
	return unit_main(s);
}
