/* test_footprint.c - footprint.h: the ephemeral nodes of a session, and the sum
   of their paths. */
#include "footprint.h"

#include "unit.h"

#include <string.h>

#define PER_PATH 4    /* besides its bytes */
#define NUMBER_LEN 10 /* of a sequence number */

static struct ku_footprint f;

static void setup(void)
{
	memset(&f, 0, sizeof(f));
}

static void teardown(void)
{
	ku_footprint_clear(&f);
	ck_assert_ptr_null(f.ephemerals);
	ck_assert_ptr_null(f.first);
	ck_assert_ptr_null(f.last);
	ck_assert_uint_eq(f.ephemeral_bytes, 0);
}

static struct ku_zk_request create(const char *path, enum ku_zk_mode mode)
{
	return (struct ku_zk_request){ .kind = KU_ZK_CREATE,
		.path = path,
		.mode = mode };
}

/* Report the answer of a request; if "path" is not NULL, it is the node's
   name. */
static void answer(const struct ku_zk_request *request, int rc,
	const char *path)
{
	static const struct kustos_stat stat = { .czxid = 7 };
	const struct ku_zk_reply reply = { .rc = rc,
		.path = path,
		.stat = rc == KU_ZK_OK ? &stat : NULL };

	ku_footprint_answered(&f, request, &reply);
}

START_TEST(what_is_made_for_the_session_is_counted_by_its_name)
{
	struct ku_zk_request one = create("/a", KU_ZK_EPHEMERAL);
	struct ku_zk_request two = create("/b-", KU_ZK_EPHEMERAL_SEQUENTIAL);
	struct ku_zk_request stays = create("/c", KU_ZK_PERSISTENT);

	answer(&one, KU_ZK_NODEEXISTS, NULL);
	ck_assert_uint_eq(f.ephemeral_bytes, 0);
	answer(&one, KU_ZK_OK, NULL);
	answer(&two, KU_ZK_OK, "/b-0000000003");
	answer(&stays, KU_ZK_OK, "/c");
	ck_assert_uint_eq(f.ephemeral_bytes,
		strlen("/a") + strlen("/b-0000000003") + 2 * PER_PATH);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/a"), 7);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/b-0000000003"), 7);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/b-"), -1);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/c"), -1);
}
END_TEST

START_TEST(what_is_gone_is_not_counted)
{
	const struct ku_zk_request gone = { .kind = KU_ZK_DELETE,
		.path = "/a" };
	static const struct {
		int rc;
		bool counted;
	} cases[] = {
		{ KU_ZK_OK, false },
		{ KU_ZK_NONODE, false },
		{ KU_ZK_NOTEMPTY, true },
		{ KU_ZK_CONNECTIONLOSS, true },
	};

	for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
		ku_footprint_add(&f, "/a", 1);
		answer(&gone, cases[i].rc, NULL);
		ck_assert_int_eq(ku_footprint_czxid(&f, "/a"),
			cases[i].counted ? 1 : -1);
		ck_assert_int_eq(f.ephemeral_bytes > 0, cases[i].counted);
	}
}
END_TEST

START_TEST(a_node_that_was_made_again_has_a_new_czxid)
{
	ku_footprint_add(&f, "/a", 0);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/a"), 0);
	ku_footprint_add(&f, "/a", 9);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/a"), 9);
	ck_assert_uint_eq(f.ephemeral_bytes, strlen("/a") + PER_PATH);
}
END_TEST

/* The transaction creates one and deletes one; or it does nothing. */
START_TEST(a_transaction_counts_if_it_was_done)
{
	struct ku_zk_request ops[] = { create("/b", KU_ZK_EPHEMERAL),
		{ .kind = KU_ZK_DELETE, .path = "/a" } };
	struct ku_zk_result results[] = { { .rc = KU_ZK_OK, .path = "/b" },
		{ .rc = KU_ZK_OK } };
	const struct ku_zk_request whole = { .kind = KU_ZK_MULTI,
		.ops = ops,
		.op_count = 2 };
	struct ku_zk_reply reply = { .rc = _i == 0 ? KU_ZK_OK : KU_ZK_NONODE,
		.results = results,
		.result_count = 2 };

	ku_footprint_add(&f, "/a", 1);
	ku_footprint_answered(&f, &whole, &reply);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/a"), _i == 0 ? -1 : 1);
	ck_assert_int_eq(ku_footprint_czxid(&f, "/b"), _i == 0 ? 0 : -1);
}
END_TEST

/* Room is counted to the last byte, including requests under way; and only
   nodes of the session count. */
START_TEST(P10_there_is_room_up_to_the_limit)
{
	struct ku_zk_request ops[] = { create("/b", KU_ZK_PERSISTENT),
		create("/b", KU_ZK_EPHEMERAL) };
	const struct ku_zk_request whole = { .kind = KU_ZK_MULTI,
		.ops = ops,
		.op_count = 2 };
	struct ku_zk_request one = create("/a", KU_ZK_EPHEMERAL);
	struct ku_zk_request next = create("/a", KU_ZK_EPHEMERAL_SEQUENTIAL);
	const size_t each = strlen("/a") + PER_PATH + NUMBER_LEN;
	size_t asked;

	f.ephemeral_bytes = KU_FOOTPRINT_LIMIT - 3 * each - 5;
	ck_assert(ku_footprint_ask(&f, &one, 0, &asked));
	ck_assert_uint_eq(asked, each);
	ck_assert(ku_footprint_ask(&f, &whole, 0, &asked));
	ck_assert_uint_eq(asked, each);
	ck_assert(!ku_footprint_ask(&f, &next, 6, &asked));
	ck_assert_uint_eq(f.asked_bytes, 2 * each);
	ck_assert(ku_footprint_ask(&f, &next, 5, &asked));
	ck_assert_uint_eq(asked, each + 5);
	ck_assert_uint_eq(f.asked_bytes, 3 * each + 5);
	ck_assert(!ku_footprint_ask(&f, &one, 0, &asked));
	ck_assert(!ku_footprint_ask(&f, &whole, 0, &asked));

	f.ephemeral_bytes = KU_FOOTPRINT_LIMIT + 1;
	ck_assert(ku_footprint_ask(&f, &ops[0], 0, &asked));
	ck_assert_uint_eq(asked, 0);
	f.ephemeral_bytes = 0;
}
END_TEST

START_TEST(P10_so_many_nodes_may_one_session_have)
{
	const int most = KU_FOOTPRINT_LIMIT / (100 + PER_PATH);

	ck_assert(ku_footprint_allows(most, 100));
	ck_assert(!ku_footprint_allows(most + 1, 100));
}
END_TEST

/* A round looks at each node that existed before it once, the oldest first, and
   at none that was added or removed since. */
START_TEST(a_round_looks_at_each_once)
{
	static const char *const paths[] = { "/a", "/b", "/c", "/d" };

	for (int i = 0; i < 4; i++)
		ku_footprint_add(&f, paths[i], 1);
	ck_assert_ptr_null(ku_footprint_next(&f)); /* no round yet */
	f.round++;
	ck_assert_str_eq(ku_footprint_next(&f), "/a");
	ku_footprint_add(&f, "/e", 1);
	ku_footprint_remove(&f, "/c");
	ku_footprint_remove(&f, "/e");
	ku_footprint_add(&f, "/f", 1);
	ku_footprint_remove(&f, "/none");
	ck_assert_str_eq(ku_footprint_next(&f), "/b");
	ck_assert_str_eq(ku_footprint_next(&f), "/d");
	ck_assert_ptr_null(ku_footprint_next(&f));
	f.round++;
	ku_footprint_remove(&f, "/a"); /* the first */
	ck_assert_str_eq(ku_footprint_next(&f), "/f");
	ck_assert_str_eq(ku_footprint_next(&f), "/b");
	ck_assert_str_eq(ku_footprint_next(&f), "/d");
	ck_assert_ptr_null(ku_footprint_next(&f));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("footprint");
	TCase *t = tcase_create("nodes of one session");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_made_for_the_session_is_counted_by_its_name);
	tcase_add_test(t, what_is_gone_is_not_counted);
	tcase_add_test(t, a_node_that_was_made_again_has_a_new_czxid);
	tcase_add_loop_test(t, a_transaction_counts_if_it_was_done, 0, 2);
	tcase_add_test(t, P10_there_is_room_up_to_the_limit);
	tcase_add_test(t, P10_so_many_nodes_may_one_session_have);
	tcase_add_test(t, a_round_looks_at_each_once);
	suite_add_tcase(s, t);
	return unit_main(s);
}
