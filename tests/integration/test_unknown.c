/*
 * test_unknown.c - writes whose answer was lost: what the caller is told, and
 * what is then on the server.  The proxy or inject.h loses the request or the
 * reply.
 */
#include "client_fixture.h"
#include "inject.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <kustos/participant.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 9000
#define PROTECTED_LEN 40 /* of "_c_<uuid>-" */

static struct proxy *proxy;
static struct kustos_client *client;

static struct kustos_client *open_with(struct kustos_retry retry)
{
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);
	struct kustos_client *c;

	o.retry = retry;
	c = client_open_with(&o);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	return c;
}

static void set_up(void)
{
	inject_reset();
	proxy = fixture_proxy();
	client = open_with(kustos_retry_forever(5));
}

static void tear_down(void)
{
	inject_reset();
	client_close(client);
	proxy_free(proxy);
}

static struct raw_stat stat_of(const char *path)
{
	struct raw_stat stat;

	ck_assert_int_eq(raw_exists(fixture_address(), path, &stat), 0);
	return stat;
}

static bool is_there(const char *path)
{
	int rc = raw_exists(fixture_address(), path, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

/* Create a protected node, and check that it is the only one, and ours. */
static void make_protected(int flags)
{
	struct kustos_stat stat;
	char *path = NULL;

	check_err(
		kustos_create(client, "/p/q/n-", "x", 1,
			flags | KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_PARENTS,
			SOON, NULL, &path, &stat),
		KUSTOS_OK);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/p/q"), 1);
	ck_assert_int_eq(stat_of(path).czxid, stat.czxid);
	ck_assert_int_eq(stat_of(path).ephemeral_owner,
		(flags & KUSTOS_CREATE_EPHEMERAL) != 0
			? client_session_id(client)
			: 0);
	kustos_free(path);
}

#define EPHEMERAL_SEQUENTIAL \
	(KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL)
static const int kinds[] = { 0, KUSTOS_CREATE_EPHEMERAL,
	KUSTOS_CREATE_SEQUENTIAL, EPHEMERAL_SEQUENTIAL };

START_TEST(S06_a_lost_create_reply_leaves_one_node)
{
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	ck_assert_int_eq(raw_create(fixture_address(), "/p", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), "/p/q", NULL), 0);
	make_protected(kinds[_i]);
	ck_assert_int_eq(proxy_fired(proxy), 1);
}
END_TEST

/* The op codes of the requests of a protected creation, including the
   search. */
static const int codes[] = { ZK_OP_CREATE2, ZK_OP_CREATE_CONTAINER, ZK_OP_SYNC,
	ZK_OP_CHILDREN2, ZK_OP_EXISTS };
#define CODES 5
#define POINTS 3 /* of each code; also of heartbeats and new connections */

static void fault_at(int fault, int first_lost)
{
	int code = codes[fault % CODES];
	int n = 1 + fault / CODES % POINTS;
	bool applied = fault / CODES / POINTS == 1;

	inject_frame(applied ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND, code, n);
	if (first_lost)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 2);
	make_protected(EPHEMERAL_SEQUENTIAL);
}

START_TEST(S06_a_fault_at_any_frame_of_a_creation_leaves_one_node)
{
	fault_at(_i, false);
}
END_TEST

/* Without this, the tests above might have tested nothing. */
START_TEST(S06_each_kind_of_frame_has_failed_in_both_ways)
{
	ck_assert_int_eq(inject_untried(codes, CODES), 0);
}
END_TEST

START_TEST(S06_a_second_fault_in_the_search_leaves_one_node)
{
	fault_at(_i, true);
}
END_TEST

/* Start a creation of "/p/n-". */
static void start_protected(struct completions *done)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/p", NULL), 0);
	check_err(kustos_create_async(client, "/p/n-", NULL, 0,
			  KUSTOS_CREATE_PROTECTED | EPHEMERAL_SEQUENTIAL, SOON,
			  NULL, count_completion, done),
		KUSTOS_OK);
}

static void expect_one(struct completions *done)
{
	test_eventually(completions_of(done) == 1, 8000);
	check_err((enum kustos_err)done->err, KUSTOS_OK);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/p"), 1);
}

/* The silence costs the connection, but not the session. */
START_TEST(S06_a_create_reply_that_is_late_leaves_one_node)
{
	struct completions done = { 0 };

	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CREATE2, 1);
	start_protected(&done);
	test_eventually(client_stats(client).disconnects > 0, 5000);
	inject_release();
	expect_one(&done);
	ck_assert_int_eq(inject_fired(), 1);
}
END_TEST

/* A new session must not adopt the ephemeral node of the old one. */
START_TEST(S06_a_lost_create_reply_and_a_new_session_make_a_new_node)
{
	int64_t old = client_session_id(client);
	struct completions done = { 0 };

	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	start_protected(&done);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(raw_kill_session(fixture_address(), old), 0);
	inject_connect(0);
	expect_one(&done);
	ck_assert_int_ne(client_session_id(client), old);
}
END_TEST

/* Create a plain node of this kind, with the request or the reply lost. */
static enum kustos_err lose_create(enum proxy_fault fault, int flags)
{
	proxy_arm(proxy, fault, ZK_OP_CREATE2, 1);
	enum kustos_err err = kustos_create(client, "/n", "x", 1, flags, SOON,
		NULL, NULL, NULL);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	return err;
}

START_TEST(B09_a_plain_create_is_sent_again_and_its_owner_tells)
{
	check_err(lose_create(PROXY_LOSE_REPLY, KUSTOS_CREATE_EPHEMERAL),
		KUSTOS_OK);
	ck_assert_int_eq(stat_of("/n").ephemeral_owner,
		client_session_id(client));
}
END_TEST

START_TEST(B09_a_plain_create_that_was_not_applied_is_sent_again)
{
	check_err(lose_create(PROXY_LOSE_REQUEST, _i), KUSTOS_OK);
	ck_assert(is_there("/n"));
}
END_TEST

START_TEST(B09_a_persistent_create_found_there_is_unknown)
{
	check_err(lose_create(PROXY_LOSE_REPLY, 0), KUSTOS_EUNKNOWN);
	ck_assert(is_there("/n"));
}
END_TEST

START_TEST(B09_a_sequential_create_is_unknown_and_sent_once)
{
	enum proxy_fault fault = _i == 0 ? PROXY_LOSE_REPLY
					 : PROXY_LOSE_REQUEST;
	int n;

	check_err(lose_create(fault, KUSTOS_CREATE_SEQUENTIAL),
		KUSTOS_EUNKNOWN);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	n = raw_count_children(fixture_address(), "/");
	ck_assert_int_eq(n, (_i == 0 ? 1 : 0) + 1); /* and /zookeeper */
}
END_TEST

START_TEST(B09_an_ephemeral_of_another_is_not_taken_for_ours)
{
	struct raw *other = raw_open(fixture_address(), 60000);

	ck_assert_int_eq(
		raw_do_create(other, "/n", NULL, RAW_EPHEMERAL, NULL, 0), 0);
	check_err(lose_create(PROXY_LOSE_REPLY, KUSTOS_CREATE_EPHEMERAL),
		KUSTOS_EEXISTS);
	raw_close(other);
}
END_TEST

START_TEST(B09_our_own_older_ephemeral_is_not_taken_for_the_new_one)
{
	client_create(client, "/n", KUSTOS_CREATE_EPHEMERAL);
	check_err(lose_create(PROXY_LOSE_REPLY, KUSTOS_CREATE_EPHEMERAL),
		KUSTOS_EEXISTS);
}
END_TEST

/* Somebody has deleted our node.  We create it again and lose the answer; it
   would be wrong to report that it was not created. */
START_TEST(B09_an_ephemeral_made_again_is_not_reported_as_not_made)
{
	client_create(client, "/n", KUSTOS_CREATE_EPHEMERAL);
	ck_assert_int_eq(raw_delete(fixture_address(), "/n"), 0);
	check_err(lose_create(PROXY_LOSE_REPLY, KUSTOS_CREATE_EPHEMERAL),
		KUSTOS_OK);
	ck_assert(is_there("/n"));
}
END_TEST

START_TEST(B09_a_transaction_is_unknown_and_never_sent_twice)
{
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE,
			.path = "/n",
			.flags = KUSTOS_CREATE_EPHEMERAL },
		{ .kind = KUSTOS_OP_SET, .path = "/c", .version = -1 },
	};
	struct kustos_op_result results[2];
	enum proxy_fault fault = _i == 0 ? PROXY_LOSE_REPLY
					 : PROXY_LOSE_REQUEST;

	ck_assert_int_eq(raw_create(fixture_address(), "/c", NULL), 0);
	proxy_arm(proxy, fault, ZK_OP_MULTI, 1);
	check_err(kustos_multi(client, ops, 2, SOON, NULL, results),
		KUSTOS_EUNKNOWN);
	check_err(results[0].err, KUSTOS_EUNKNOWN);
	check_err(results[1].err, KUSTOS_EUNKNOWN);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 1);
	ck_assert_int_eq(stat_of("/c").version, _i == 0 ? 1 : 0);
}
END_TEST

START_TEST(B09_a_delete_is_sent_again_and_gone_is_deleted)
{
	enum proxy_fault fault = _i == 0 ? PROXY_LOSE_REPLY
					 : PROXY_LOSE_REQUEST;

	ck_assert_int_eq(raw_create(fixture_address(), "/d", NULL), 0);
	proxy_arm(proxy, fault, ZK_OP_DELETE, 1);
	check_err(kustos_delete(client, "/d", 0, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert(!is_there("/d"));
}
END_TEST

/* Without retries nobody finds out the outcome. */
START_TEST(B09_a_write_that_is_not_tried_again_is_unknown)
{
	struct kustos_client *hasty = open_with(kustos_retry_none());

	ck_assert_int_eq(raw_create(fixture_address(), "/d", NULL), 0);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_SET, 1);
	check_err(kustos_set(hasty, "/d", "x", 1, 0, SOON, NULL, NULL),
		KUSTOS_EUNKNOWN);
	client_wait(hasty, KUSTOS_STATE_CONNECTED, 5000);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_GET, 1);
	check_err(kustos_get(hasty, "/d", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_EDISCONNECTED);
	client_wait(hasty, KUSTOS_STATE_CONNECTED, 5000);
	client_close(hasty);
}
END_TEST

START_TEST(S20_a_set_of_a_version_is_applied_at_most_once)
{
	struct kustos_stat stat = { 0 };

	ck_assert_int_eq(raw_create(fixture_address(), "/v", "0"), 0);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_SET, 1);
	check_err(kustos_set(client, "/v", "1", 1, 0, SOON, NULL, &stat),
		KUSTOS_EUNKNOWN);
	ck_assert_int_eq(stat_of("/v").version, 1);
	proxy_arm(proxy, PROXY_LOSE_REQUEST, ZK_OP_SET, 1);
	check_err(kustos_set(client, "/v", "2", 1, 1, SOON, NULL, &stat),
		KUSTOS_OK);
	ck_assert_int_eq(stat_of("/v").version, 2);
	ck_assert_int_eq(stat.version, 2);
	ck_assert_int_eq(proxy_fired(proxy), 2);
}
END_TEST

/* Lose a set's request or reply, and let others write before its outcome is
   known. */
static enum kustos_err overtaken(enum proxy_fault fault, const char *theirs,
	int times)
{
	struct completions done = { 0 };

	ck_assert_int_eq(raw_create(fixture_address(), "/v", "0"), 0);
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, fault, ZK_OP_SET, 1);
	check_err(kustos_set_async(client, "/v", "1", 1, 0, SOON, NULL,
			  count_completion, &done),
		KUSTOS_OK);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	while (times-- > 0)
		ck_assert_int_eq(raw_set(fixture_address(), "/v", theirs), 0);
	inject_connect(0);
	test_eventually(completions_of(&done) == 1, 8000);
	return (enum kustos_err)done.err;
}

START_TEST(S20_a_set_that_another_overtook_is_told_apart_or_unknown)
{
	switch (_i) {
	case 0: /* the one change is another's: ours was not applied */
		check_err(overtaken(PROXY_LOSE_REQUEST, "other", 1),
			KUSTOS_EBADVERSION);
		break;
	case 1: /* the same data: whose? */
		check_err(overtaken(PROXY_LOSE_REQUEST, "1", 1),
			KUSTOS_EUNKNOWN);
		break;
	case 2: /* two changes: was ours the first? */
		check_err(overtaken(PROXY_LOSE_REPLY, "other", 1),
			KUSTOS_EUNKNOWN);
		break;
	default:
		check_err(overtaken(PROXY_LOSE_REQUEST, "other", 2),
			KUSTOS_EUNKNOWN);
	}
}
END_TEST

/* Add one, as a program would.  Returns the error of the set. */
static enum kustos_err add_one(void)
{
	struct kustos_stat stat;
	char *data = NULL, next[16];
	enum kustos_err err;

	check_err(kustos_get(client, "/count", SOON, NULL, &data, NULL, &stat),
		KUSTOS_OK);
	snprintf(next, sizeof(next), "%d", atoi(data) + 1);
	kustos_free(data);
	err = kustos_set(client, "/count", next, strlen(next), stat.version,
		SOON, NULL, NULL);
	return err;
}

START_TEST(S20_a_counter_is_what_was_acknowledged_or_unknown)
{
	int acked = 0, unknown = 0;
	char *data = NULL;

	ck_assert_int_eq(raw_create(fixture_address(), "/count", "0"), 0);
	for (int i = 0; i < 24; i++) {
		if (i % 3 != 0)
			proxy_arm(proxy,
				i % 3 == 1 ? PROXY_LOSE_REPLY
					   : PROXY_LOSE_REQUEST,
				ZK_OP_SET, 1);
		enum kustos_err err = add_one();
		acked += err == KUSTOS_OK;
		unknown += err == KUSTOS_EUNKNOWN;
		ck_assert(err == KUSTOS_OK || err == KUSTOS_EUNKNOWN);
	}
	check_err(kustos_get(client, "/count", SOON, NULL, &data, NULL, NULL),
		KUSTOS_OK);
	ck_assert_int_gt(unknown, 0);
	ck_assert_int_ge(atoi(data), acked);
	ck_assert_int_le(atoi(data), acked + unknown);
	kustos_free(data);
}
END_TEST

/* Its owner is told of each write. */
START_TEST(S20_who_is_asked_to_give_back_is_asked_once_whatever_is_lost)
{
	proxy_arm(proxy, _i == 0 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		ZK_OP_SET, 1);
	raw_create(fixture_address(), "/n", "x");
	for (int i = 1; i <= 2; i++) {
		check_err(kustos_participant_revoke(client, "/n", SOON, NULL),
			KUSTOS_OK);
		ck_assert_int_eq(stat_of("/n").version, i);
	}
	ck_assert_int_eq(proxy_fired(proxy), 1);
}
END_TEST

/* The node may be written and not be read. */
START_TEST(S20_whether_somebody_is_asked_is_unknown_if_nothing_tells)
{
	enum kustos_err blind = answer_to_the_blind();

	client_create_with(KUSTOS_PERM_ALL & ~KUSTOS_PERM_READ, "/n", 0);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_SET, 1);
	check_err(kustos_participant_revoke(client, "/n", SOON, NULL),
		blind == KUSTOS_OK ? KUSTOS_EUNKNOWN : blind);
	if (blind == KUSTOS_OK)
		ck_assert_int_eq(stat_of("/n").version, 1);
	else
		ck_assert_int_eq(proxy_fired(proxy), 0); /* nothing was sent */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unknown");
	TCase *t = fixture_case(s, "unknown", 30);
	int faults = 2 * CODES * POINTS;

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, S06_a_lost_create_reply_leaves_one_node, 0, 4);
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_creation_leaves_one_node, 0,
		faults);
	tcase_add_loop_test(t, S06_a_second_fault_in_the_search_leaves_one_node,
		0, faults);
	tcase_add_test(t, S06_each_kind_of_frame_has_failed_in_both_ways);
	tcase_add_test(t, S06_a_create_reply_that_is_late_leaves_one_node);
	tcase_add_test(t,
		S06_a_lost_create_reply_and_a_new_session_make_a_new_node);
	tcase_add_test(t, B09_a_plain_create_is_sent_again_and_its_owner_tells);
	tcase_add_loop_test(t,
		B09_a_plain_create_that_was_not_applied_is_sent_again, 0, 2);
	tcase_add_test(t, B09_a_persistent_create_found_there_is_unknown);
	tcase_add_loop_test(t, B09_a_sequential_create_is_unknown_and_sent_once,
		0, 2);
	tcase_add_test(t, B09_an_ephemeral_of_another_is_not_taken_for_ours);
	tcase_add_test(t,
		B09_our_own_older_ephemeral_is_not_taken_for_the_new_one);
	tcase_add_test(t,
		B09_an_ephemeral_made_again_is_not_reported_as_not_made);
	tcase_add_loop_test(t,
		B09_a_transaction_is_unknown_and_never_sent_twice, 0, 2);
	tcase_add_loop_test(t, B09_a_delete_is_sent_again_and_gone_is_deleted,
		0, 2);
	tcase_add_test(t, B09_a_write_that_is_not_tried_again_is_unknown);
	tcase_add_test(t, S20_a_set_of_a_version_is_applied_at_most_once);
	tcase_add_loop_test(t,
		S20_a_set_that_another_overtook_is_told_apart_or_unknown, 0, 4);
	tcase_add_loop_test(t,
		S20_who_is_asked_to_give_back_is_asked_once_whatever_is_lost, 0,
		2);
	tcase_add_test(t,
		S20_whether_somebody_is_asked_is_unknown_if_nothing_tells);
	tcase_add_test(t, S20_a_counter_is_what_was_acknowledged_or_unknown);
	return fixture_main(s);
}
