/*
 * test_countdown_remove.c - removing a count-down latch: in one transaction or
 * in several, while others change it, and with lost replies.
 */
#include "countdown_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* more nodes than fit in one transaction */
#define MANY 120

static void take_away(void)
{
	check_err(kustos_countdown_remove(own, SOON, NULL), KUSTOS_OK);
}

static void check_gone(void)
{
	ck_assert_int_eq(raw_exists(fixture_address(), LATCH, NULL),
		RAW_NONODE);
}

/* A thread that removes the latch. */
static void *remover(void *arg)
{
	enum kustos_err *err = arg;

	*err = kustos_countdown_remove(own, SOON, NULL);
	return NULL;
}

/* Start a thread that removes the latch, with the answer to its first request
   "op" held back. */
static pthread_t start_remover(int op, enum kustos_err *err)
{
	pthread_t thread;

	inject_frame(INJECT_HOLD_REPLY, op, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, remover, err), 0);
	test_eventually(inject_fired() == 1, 5000);
	return thread;
}

static void end_remover(pthread_t thread, const enum kustos_err *err)
{
	inject_release();
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	check_err(*err, KUSTOS_OK);
	check_gone();
}

static int count_names(const char *prefix)
{
	struct raw_names names;
	int count = 0;

	ck_assert_int_eq(raw_children(fixture_address(), LATCH, &names), 0);
	for (int i = 0; i < names.count; i++)
		count += strncmp(names.names[i], prefix, strlen(prefix)) == 0;
	raw_names_free(&names);
	return count;
}

/* Create "count" nodes of one kind. */
static void make_nodes(const char *kind, int count)
{
	struct raw *raw = raw_open(fixture_address(), 10000);
	char path[128];

	ck_assert_ptr_nonnull(raw);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), LATCH "/%s%d", kind, i);
		ck_assert_int_eq(
			raw_do_create(raw, path, "", RAW_PERSISTENT, NULL, 0),
			0);
	}
	raw_close(raw);
}

/* Create MANY participants that must count, all alive. */
static void make_many(void)
{
	make_nodes("must-", MANY);
	make_nodes("_c_00000000-0000-4000-8000-000000000000-alive-", MANY);
}

static void put_foreign(void)
{
	ck_assert_int_eq(raw_create(fixture_address(), LATCH "/x", ""), 0);
}

START_TEST(it_is_removed_without_letting_anybody_on)
{
	struct end ends[2] = { { .calls = 0 } };

	take_away();
	set(own);
	join(others, "b");
	count_down(own, "a");
	await(own, &ends[0]);
	await(others, &ends[1]);
	pair_settle();
	take_away();
	check_gone();
	pair_settle();
	ck_assert_int_eq(end_calls(&ends[0]) + end_calls(&ends[1]), 0);
	/* The latch can be set again. */
	set(own);
	count_down(own, "a");
	count_down(own, "b");
	for (int i = 0; i < 2; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	check_err(kustos_create(other, LATCH "/x", "", 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	check_err(kustos_countdown_remove(own, SOON, NULL), KUSTOS_ENOTEMPTY);
	ck_assert_int_eq(raw_count_children(fixture_address(), LATCH), 1);
}
END_TEST

START_TEST(it_goes_in_one_transaction)
{
	set(own);
	join(own, "a");
	count_down(others, "b");
	proxy_reset_counts(proxy);
	take_away();
	check_gone();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
}
END_TEST

/* A node that the listing did not have, and one that it had and that is
   gone. */
START_TEST(what_comes_between_is_removed_as_well)
{
	enum kustos_err err = KUSTOS_EINVAL;

	set(own);
	count_down(own, "a");
	pthread_t thread = start_remover(ZK_OP_CHILDREN2, &err);
	ck_assert_int_eq(_i == 0
			? raw_create(fixture_address(), LATCH "/done-b", "")
			: raw_delete(fixture_address(), LATCH "/done-a"),
		0);
	proxy_reset_counts(proxy);
	end_remover(thread, &err);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 2);
}
END_TEST

/* The must nodes go first, so that no participant looks dead at any time. */
START_TEST(many_go_in_parts_and_meanwhile_nobody_looks_dead)
{
	enum kustos_err err = KUSTOS_EINVAL;

	set(own);
	make_many();
	pthread_t thread = start_remover(ZK_OP_MULTI, &err);
	ck_assert_int_eq(count_names("must-"), MANY - 100);
	ck_assert_int_eq(count_names("_c_"), MANY);
	ck_assert_int_eq(count_names("count-"), 1);
	end_remover(thread, &err);
}
END_TEST

/* The count goes last.  Otherwise somebody might set a lower count meanwhile,
   for which the done nodes that are still there would be enough. */
START_TEST(many_go_in_parts_and_meanwhile_nothing_is_zero)
{
	enum kustos_err err = KUSTOS_EINVAL;

	set(own);
	make_nodes("done-", MANY);
	pthread_t thread = start_remover(ZK_OP_MULTI, &err);
	ck_assert_int_eq(count_names("done-"), MANY - 100);
	ck_assert_int_eq(count_names("count-"), 1);
	end_remover(thread, &err);
}
END_TEST

/* A hundred nodes with the latch's own, and one less or more. */
START_TEST(a_hundred_nodes_go_in_one_transaction)
{
	int nodes = 99 + _i;

	set(own);
	make_nodes("done-", nodes - 2);
	proxy_reset_counts(proxy);
	take_away();
	check_gone();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), nodes <= 100 ? 1 : 2);
}
END_TEST

/* The foreign node is in none of the transactions, nor is its parent. */
START_TEST(what_is_not_the_latchs_stays_also_beside_many)
{
	set(own);
	make_many();
	put_foreign();
	proxy_reset_counts(proxy);
	check_err(kustos_countdown_remove(own, SOON, NULL), KUSTOS_ENOTEMPTY);
	ck_assert_int_eq(raw_count_children(fixture_address(), LATCH), 1);
	ck_assert_int_eq(raw_exists(fixture_address(), LATCH "/x", NULL), 0);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 3);
}
END_TEST

/* A node below one of its nodes stays, and so does the whole latch.  The latch
   is not listed again, even if that node is the last to be deleted. */
START_TEST(what_is_below_one_of_its_nodes_keeps_all)
{
	bool last = _i == 1;

	if (!last)
		set(own);
	count_down(own, "a");
	if (last)
		put_foreign();
	ck_assert_int_eq(raw_create(fixture_address(), LATCH "/done-a/x", ""),
		0);
	proxy_reset_counts(proxy);
	check_err(kustos_countdown_remove(own, SOON, NULL), KUSTOS_ENOTEMPTY);
	ck_assert_int_eq(raw_count_children(fixture_address(), LATCH), 2);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 1);
	check_err(kustos_delete(other, LATCH "/done-a/x", -1, SOON, NULL),
		KUSTOS_OK);
	if (last)
		check_err(kustos_delete(other, LATCH "/x", -1, SOON, NULL),
			KUSTOS_OK);
	take_away();
}
END_TEST

/* A client below whose nodes others may delete nothing. */
static struct kustos_client *open_strict(void)
{
	const struct kustos_acl acl[] = {
		{ KUSTOS_PERM_ALL, "auth", "" },
		{ KUSTOS_PERM_ALL & ~KUSTOS_PERM_DELETE, "world", "anyone" },
	};
	struct kustos_client_options o = client_options(fixture_address(),
		9000);

	o.digest = "alice:secret";
	o.acl = acl;
	o.acl_count = 2;
	struct kustos_client *strict = client_open_with(&o);
	client_wait(strict, KUSTOS_STATE_CONNECTED, 5000);
	return strict;
}

/* All nodes go, or none: here the latch's own node may not be deleted. */
START_TEST(if_one_may_not_be_deleted_all_stay)
{
	struct kustos_client *strict = open_strict();
	struct kustos_countdown *c = NULL, *may = NULL;

	client_create(strict, "/strict", 0);
	check_err(kustos_countdown_create(client, "/strict/l", 2, NULL, &c),
		KUSTOS_OK);
	check_err(kustos_countdown_create(strict, "/strict/l", 2, NULL, &may),
		KUSTOS_OK);
	set(c);
	count_down(c, "a");
	proxy_reset_counts(proxy);
	check_err(kustos_countdown_remove(c, SOON, NULL), KUSTOS_ENOAUTH);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 1);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/strict/l"), 2);
	check_err(kustos_countdown_remove(may, SOON, NULL), KUSTOS_OK);
	check_err(kustos_delete(strict, "/strict", -1, SOON, NULL), KUSTOS_OK);
	kustos_countdown_destroy(c);
	kustos_countdown_destroy(may);
	client_close(strict);
}
END_TEST

/* Creates a node, or deletes one, whenever the latch has been listed. */
struct meddler {
	bool takes;
	int times;
};

static void meddle(void *arg, const struct kustos_request *request)
{
	struct meddler *m = arg;
	char name[128];

	if (strcmp(request->operation, "children") != 0 ||
		request->result != KUSTOS_OK)
		return;
	snprintf(name, sizeof(name), "%s/done-%d", request->path, m->times++);
	ck_assert_int_eq(m->takes ? raw_delete(fixture_address(), name)
				  : raw_create(fixture_address(), name, ""),
		0);
}

START_TEST(if_others_change_it_all_the_time_it_is_busy)
{
	struct meddler m = { .takes = _i == 1 };
	struct kustos_client_options o = client_options(fixture_address(),
		9000);
	struct kustos_countdown *c;

	o.on_request = meddle;
	o.on_request_arg = &m;
	struct kustos_client *watched = client_open_with(&o);
	client_wait(watched, KUSTOS_STATE_CONNECTED, 5000);
	set(own);
	make_nodes("done-", m.takes ? 20 : 0);
	c = make(watched, 0);
	check_err(kustos_countdown_remove(c, SOON, NULL), KUSTOS_EBUSY);
	ck_assert_int_eq(m.times, 10);
	kustos_countdown_destroy(c);
	client_close(watched);
	take_away();
	check_gone();
}
END_TEST

START_TEST(S06_removing_it_survives_a_lost_answer)
{
	set(own);
	join(own, "a");
	inject_frame(faults[_i % 2], _i < 2 ? ZK_OP_MULTI : ZK_OP_CHILDREN2, 1);
	take_away();
	ck_assert_int_eq(inject_fired(), 1);
	check_gone();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the end of a count-down latch");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, it_is_removed_without_letting_anybody_on);
	tcase_add_test(t, it_goes_in_one_transaction);
	tcase_add_loop_test(t, what_comes_between_is_removed_as_well, 0, 2);
	tcase_add_test(t, many_go_in_parts_and_meanwhile_nobody_looks_dead);
	tcase_add_test(t, many_go_in_parts_and_meanwhile_nothing_is_zero);
	tcase_add_loop_test(t, a_hundred_nodes_go_in_one_transaction, 0, 3);
	tcase_add_test(t, what_is_not_the_latchs_stays_also_beside_many);
	tcase_add_loop_test(t, what_is_below_one_of_its_nodes_keeps_all, 0, 2);
	tcase_add_test(t, if_one_may_not_be_deleted_all_stay);
	tcase_add_loop_test(t, if_others_change_it_all_the_time_it_is_busy, 0,
		2);
	tcase_add_loop_test(t, S06_removing_it_survives_a_lost_answer, 0, 4);
	return fixture_main(s);
}
