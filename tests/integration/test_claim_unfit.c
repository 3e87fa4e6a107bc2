/*
 * test_claim_unfit.c - items that no claim may get, because they were delivered
 * too often, are no frames, have children, or may not be read or moved: they
 * are reported and moved away or left, and do not hold up other claims.
 */
#include "claim_fixture.h"

#include <stdio.h>
#include <string.h>

#define T_MS 9000
/* The length of a name, and data that fits into one request only without that
   name. */
#define LONG 4000
#define LARGE 997000

/* What was reported of the last unfit item, and how often anything was. */
static struct told {
	char said[64];
	int times;
} told;

static void set_up(void)
{
	memset(&told, 0, sizeof(told));
	claim_pair_open(T_MS);
}

static void unfit(void *arg, enum kustos_unfit why, int moved, const char *name)
{
	struct told *to = arg;

	snprintf(to->said, sizeof(to->said), "%d %d %s", (int)why, moved, name);
	__atomic_add_fetch(&to->times, 1, __ATOMIC_SEQ_CST);
}

/* Options for this kind of queue, with reports of unfit items. */
static struct kustos_claims_options telling(enum kustos_queue_kind kind)
{
	struct kustos_claims_options o = claims_options(kind);

	o.on_unfit = unfit;
	o.on_unfit_arg = &told;
	return o;
}

static void check_told(int times, const char *said)
{
	test_eventually(__atomic_load_n(&told.times, __ATOMIC_SEQ_CST) == times,
		5000);
	ck_assert_str_eq(told.said, said);
}

static int count_of(const char *path)
{
	return raw_count_children(fixture_address(), path);
}

START_TEST(what_is_delivered_too_often_is_moved_with_its_key)
{
	struct kustos_claims_options o = telling(KUSTOS_QUEUE_PRIORITY);
	struct kustos_claims *some;
	struct kustos_claim *claim;
	struct raw_names names;

	o.deliveries = 2;
	o.dead_letters = DEAD;
	some = claims_new(client, FRAMED, &o);
	claim_put_framed("queue-10000000A", "bad");
	claim_put_framed("queue-10000000B", "good");
	kustos_claim_release(claim_expect(some, "bad"));
	claim = claim_expect(some, "bad");
	ck_assert_int_eq(kustos_claim_deliveries(claim), 2);
	kustos_claim_release(claim);
	claim = claim_expect(some, "good");
	check_told(1, "1 1 queue-10000000A0000000000");
	claim_ack(claim, KUSTOS_OK);
	ck_assert_int_eq(count_of(FRAMED), 0);
	ck_assert_int_eq(raw_children(fixture_address(), DEAD, &names), 0);
	ck_assert_int_eq(names.count, 1);
	ck_assert_str_eq(names.names[0], "queue-10000000A0000000000");
	raw_names_free(&names);
	kustos_claims_destroy(some);
	o.deliveries = 0;
	o.dead_letters = NULL; /* this is the queue to claim from */
	some = claims_new(client, DEAD, &o);
	claim_ack(claim_expect(some, "bad"), KUSTOS_OK);
	kustos_claims_destroy(some);
}
END_TEST

START_TEST(what_is_no_frame_is_told_and_left_or_moved)
{
	struct kustos_claims_options o = telling(KUSTOS_QUEUE_FRAMED);
	struct kustos_claims *some;

	some = claims_new(client, FRAMED, &o);
	claim_put_raw(FRAMED, "queue-", "plain", 5, NULL);
	claim_put_framed("queue-", "good");
	claim_ack(claim_expect(some, "good"), KUSTOS_OK);
	check_told(1, "0 0 queue-0000000000");
	check_err(claim_try(some), KUSTOS_EEMPTY);
	check_err(claim_try(some), KUSTOS_EEMPTY);
	ck_assert_int_eq(count_of(FRAMED), 1);
	kustos_claims_destroy(some);
	ck_assert_int_eq(told.times, 1);
	o.corrupt = DEAD;
	some = claims_new(client, FRAMED, &o);
	check_err(claim_try(some), KUSTOS_EEMPTY);
	check_told(2, "0 1 queue-0000000000");
	ck_assert_int_eq(count_of(FRAMED), 0);
	ck_assert_int_eq(count_of(DEAD), 1);
	kustos_claims_destroy(some);
}
END_TEST

/* A new item gets the same name once the queue has been deleted and created
   again. */
START_TEST(what_was_unfit_is_forgotten_with_its_node)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_FRAMED);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	char first[128], path[128];

	claim_put_raw(FRAMED, "queue-", "plain", 5, first);
	check_err(claim_try(some), KUSTOS_EEMPTY);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), FRAMED), 0);
	if (_i == 0) /* else the client does not see the old item go */
		check_err(claim_try(some), KUSTOS_EEMPTY);
	claim_put_raw(FRAMED, "queue-", "\0\1\0\1\1\0\0\0\1a\2", 11, path);
	ck_assert_str_eq(path, first);
	claim_ack(claim_expect(some, "a"), KUSTOS_OK);
	kustos_claims_destroy(some);
}
END_TEST

/* The folder for dead letters has such a long name that the item does not fit
   beside it into one request.  The other folder exists, or is created. */
START_TEST(what_cannot_be_a_dead_letter_is_moved_as_what_it_is)
{
	static char data[LARGE], folder[LONG] = "/";
	struct kustos_claims_options o = telling(KUSTOS_QUEUE_FRAMED);
	struct kustos_claims *some;
	char path[128];

	memset(folder + 1, 'd', sizeof(folder) - 2);
	o.deliveries = 1;
	o.dead_letters = folder;
	o.corrupt = DEAD;
	if (_i == 0)
		check_err(kustos_create(other, DEAD, "", 0,
				  KUSTOS_CREATE_PARENTS, SOON, NULL, NULL,
				  NULL),
			KUSTOS_OK);
	claim_put_raw(FRAMED, "queue-", data, sizeof(data), path);
	check_err(kustos_set(other, path, data, sizeof(data), -1, SOON, NULL,
			  NULL),
		KUSTOS_OK);
	some = claims_new(client, FRAMED, &o);
	claim_put_framed("queue-", "good");
	claim_ack(claim_expect(some, "good"), KUSTOS_OK);
	check_told(1, "0 1 queue-0000000000");
	ck_assert_int_eq(count_of(FRAMED), 0);
	ck_assert_int_eq(count_of(DEAD), 1);
	kustos_claims_destroy(some);
}
END_TEST

struct last { /* for the callback */
	struct kustos_claims *claims;
	int calls;
};

static void destroy_claims(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct last *last = arg;

	(void)result;
	check_err(err, KUSTOS_OK);
	/* A report of the item is queued behind this callback. */
	check_err(claim_try(last->claims), KUSTOS_EEMPTY);
	kustos_claims_destroy(last->claims);
	__atomic_add_fetch(&last->calls, 1, __ATOMIC_SEQ_CST);
}

static void count_end(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)err;
	(void)result;
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

START_TEST(claims_may_end_in_a_callback_with_news_behind_it)
{
	struct kustos_claims_options o = telling(KUSTOS_QUEUE_FRAMED);
	struct last last = { NULL, 0 };

	last.claims = claims_new(client, FRAMED, &o);
	claim_put_raw(FRAMED, "queue-", "plain", 5, NULL);
	check_err(kustos_sync_async(client, "/", SOON, NULL, destroy_claims,
			  &last),
		KUSTOS_OK);
	test_eventually(__atomic_load_n(&last.calls, __ATOMIC_SEQ_CST) == 1,
		5000);
	/* Callbacks run in order: whatever was queued has run before this
	   one. */
	check_err(kustos_sync_async(client, "/", SOON, NULL, count_end,
			  &last.calls),
		KUSTOS_OK);
	test_eventually(__atomic_load_n(&last.calls, __ATOMIC_SEQ_CST) == 2,
		5000);
	ck_assert_int_eq(told.times, 0);
}
END_TEST

/* An item with children can be neither deleted nor moved. */
START_TEST(what_has_children_is_told_of_and_left)
{
	struct kustos_claims_options o = telling(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *some;

	o.corrupt = DEAD;
	if (_i == 1) {
		o.deliveries = 1;
		o.dead_letters = DEAD;
	}
	some = claims_new(client, QUEUE, &o);
	queue_put(queue, "parent");
	queue_put(queue, "a");
	if (_i == 1) /* it was delivered before it had a child */
		check_err(claim_try(some), KUSTOS_OK);
	ck_assert_int_eq(
		raw_create(fixture_address(), QUEUE "/qn-0000000000/child", ""),
		0);
	claim_ack(claim_expect(some, "a"), KUSTOS_OK);
	check_err(claim_try(some), KUSTOS_EEMPTY);
	check_told(1, "0 0 qn-0000000000");
	ck_assert_int_eq(queue_count(), 1);
	kustos_claims_destroy(some);
}
END_TEST

/* The child came after the claim: the item cannot be acknowledged, and is then
   treated like the one above. */
START_TEST(what_has_got_children_is_released)
{
	queue_put(queue, "parent");
	struct kustos_claim *claim = claim_expect(claims, "parent");
	ck_assert_int_eq(
		raw_create(fixture_address(), QUEUE "/qn-0000000000/child", ""),
		0);
	claim_ack(claim, KUSTOS_ENOTEMPTY);
	test_eventually(claim_marks() == 0, 5000);
	check_err(claim_try(claims), KUSTOS_EEMPTY);
	ck_assert_int_eq(queue_count(), 1);
}
END_TEST

/* The item may not be read, or may not be written. */
START_TEST(what_is_refused_to_us_holds_nobody_up)
{
	struct kustos_claim *claim = NULL;

	queue_put(queue, "zero");
	client_create_with(_i == 0 ? KUSTOS_PERM_WRITE : KUSTOS_PERM_READ,
		QUEUE "/qn-", KUSTOS_CREATE_SEQUENTIAL);
	queue_put(queue, "one");
	queue_put(queue, "two");
	claim_ack(claim_expect(claims, "zero"), KUSTOS_OK);
	check_err(kustos_claim_next(claims, SOON, NULL, &claim),
		KUSTOS_ENOAUTH);
	claim_ack(claim_expect(claims, "one"), KUSTOS_OK);
	queue_put(queue_others, "three");
	claim_ack(claim_expect(claims, "two"), KUSTOS_OK);
	claim_ack(claim_expect(claims, "three"), KUSTOS_OK);
	check_err(claim_try(claims), KUSTOS_EEMPTY);
	ck_assert_int_eq(queue_count(), 1);
	check_err(kustos_delete(other, QUEUE "/qn-0000000001", -1, SOON, NULL),
		KUSTOS_OK);
}
END_TEST

/* An item that was delivered too often, or that is no frame.  In the folder for
   it nothing may be created, or the folder itself may not be created. */
START_TEST(what_may_not_be_moved_away_holds_nobody_up)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_FRAMED);
	struct kustos_claim *claim = NULL;

	o.deliveries = 1;
	o.dead_letters = o.corrupt = _i < 2 ? DEAD : DEAD "/letters";
	if (_i % 2 == 0)
		claim_put_framed("queue-", "bad");
	else
		claim_put_raw(FRAMED, "queue-", "bad", 3, NULL);
	claim_put_framed("queue-", "good");
	client_create_with(KUSTOS_PERM_READ, DEAD, 0);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	if (_i % 2 == 0)
		kustos_claim_release(claim_expect(some, "bad"));
	check_err(kustos_claim_next(some, SOON, NULL, &claim), KUSTOS_ENOAUTH);
	claim_ack(claim_expect(some, "good"), KUSTOS_OK);
	check_err(claim_try(some), KUSTOS_EEMPTY);
	ck_assert_int_eq(count_of(FRAMED), 1);
	kustos_claims_destroy(some);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims, unfit items");
	TCase *t = fixture_case(s, "two clients", 5);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t, what_is_delivered_too_often_is_moved_with_its_key);
	tcase_add_test(t, what_is_no_frame_is_told_and_left_or_moved);
	tcase_add_loop_test(t, what_was_unfit_is_forgotten_with_its_node, 0, 2);
	tcase_add_loop_test(t,
		what_cannot_be_a_dead_letter_is_moved_as_what_it_is, 0, 2);
	tcase_add_loop_test(t, what_has_children_is_told_of_and_left, 0, 2);
	tcase_add_test(t, what_has_got_children_is_released);
	tcase_add_loop_test(t, what_is_refused_to_us_holds_nobody_up, 0, 2);
	tcase_add_loop_test(t, what_may_not_be_moved_away_holds_nobody_up, 0,
		4);
	tcase_add_test(t, claims_may_end_in_a_callback_with_news_behind_it);
	return fixture_main(s);
}
