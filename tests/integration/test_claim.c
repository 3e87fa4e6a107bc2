/*
 * test_claim.c - claims: an item is claimed by one consumer at a time, and is
 * available again unless it is acknowledged.
 */
#include "claim_fixture.h"

#include <kustos/cancel.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define T_MS 9000

static void set_up(void)
{
	claim_pair_open(T_MS);
}

START_TEST(what_is_claimed_is_nobody_elses_until_it_is_acknowledged)
{
	struct kustos_claim *a, *b;

	check_err(claim_try(claims), KUSTOS_EEMPTY);
	queue_put(queue, "a");
	queue_put(queue, "b");
	a = claim_expect(claims, "a");
	ck_assert_int_eq(kustos_claim_deliveries(a), 1);
	ck_assert_int_eq(claim_marks(), 1);
	b = claim_expect(claims_others, "b");
	check_err(claim_try(claims), KUSTOS_EEMPTY);
	check_err(claim_try(claims_others), KUSTOS_EEMPTY);
	ck_assert_int_eq(queue_count(), 2);
	claim_ack(a, KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 1);
	ck_assert_int_eq(claim_marks(), 1);
	claim_ack(b, KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 0);
	ck_assert_int_eq(claim_marks(), 0);
	check_err(claim_try(claims), KUSTOS_EEMPTY);
}
END_TEST

START_TEST(what_is_released_is_where_it_was_and_counts_as_delivered)
{
	struct kustos_claim *a;

	queue_put(queue, "a");
	queue_put(queue, "b");
	a = claim_expect(claims, "a");
	kustos_claim_release(a);
	a = claim_expect(claims, "a");
	ck_assert_int_eq(kustos_claim_deliveries(a), 2);
	kustos_claim_release(a);
	pair_flush();
	a = claim_expect(claims_others, "a");
	ck_assert_int_eq(kustos_claim_deliveries(a), 3);
	claim_ack(a, KUSTOS_OK);
	claim_ack(claim_expect(claims_others, "b"), KUSTOS_OK);
}
END_TEST

START_TEST(what_is_requeued_comes_last_and_is_new)
{
	struct kustos_claim *a;

	queue_put(queue, "a");
	queue_put(queue, "b");
	a = claim_expect(claims, "a");
	check_err(kustos_claim_requeue(a, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 2);
	ck_assert_int_eq(claim_marks(), 0);
	claim_ack(claim_expect(claims, "b"), KUSTOS_OK);
	a = claim_expect(claims_others, "a");
	ck_assert_int_eq(kustos_claim_deliveries(a), 1);
	claim_ack(a, KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

START_TEST(who_waits_is_served_by_a_put_and_by_a_release)
{
	struct claimed ours = { 0 };
	struct kustos_claim *a;

	check_err(kustos_claim_next_async(claims, KUSTOS_FOREVER, NULL,
			  claim_told, &ours),
		KUSTOS_OK);
	queue_put(queue, "a");
	check_err(claimed_wait(&ours), KUSTOS_OK);
	a = ours.claim;
	memset(&ours, 0, sizeof(ours));
	check_err(kustos_claim_next_async(claims_others, KUSTOS_FOREVER, NULL,
			  claim_told, &ours),
		KUSTOS_OK);
	check_err(claim_try(claims), KUSTOS_EEMPTY);
	kustos_claim_release(a);
	check_err(claimed_wait(&ours), KUSTOS_OK);
	ck_assert_int_eq(kustos_claim_deliveries(ours.claim), 2);
	claim_ack(ours.claim, KUSTOS_OK);
}
END_TEST

START_TEST(a_wait_ends_in_time_and_leaves_nothing)
{
	struct kustos_cancel *cancel = NULL;
	struct kustos_claim *claim = NULL;

	check_err(kustos_claim_next(claims, kustos_after_ms(50), NULL, &claim),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(kustos_claim_next(claims, SOON, cancel, &claim),
		KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	ck_assert_ptr_null(claim);
	queue_put(queue, "a");
	claim_ack(claim_expect(claims_others, "a"), KUSTOS_OK);
}
END_TEST

/* Count the reads of items. */
static void count_reads(void *arg, const struct kustos_request *request)
{
	atomic_int *reads = arg;

	if (strcmp(request->operation, "get") == 0 &&
		strncmp(request->path, QUEUE "/", strlen(QUEUE "/")) == 0)
		atomic_fetch_add(reads, 1);
}

START_TEST(many_are_acknowledged_in_flight)
{
	static struct claimed ends[200];
	static atomic_int reads;
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);

	o.on_request = count_reads;
	o.on_request_arg = &reads;
	struct kustos_client *c = client_open_with(&o);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	struct kustos_claims *mine = claims_new(c, QUEUE, NULL);
	memset(ends, 0, sizeof(ends));
	queue_put_numbers(queue, 0, 200);
	for (int i = 0; i < 200; i++) {
		char text[12];

		if (i == 1) { /* the folder of the markers is there now */
			proxy_reset_counts(proxy);
			atomic_store(&reads, 0);
		}
		snprintf(text, sizeof(text), "%d", i);
		claim_ack_later(claim_expect(mine, text), KUSTOS_FOREVER,
			&ends[i]);
	}
	for (int i = 0; i < 200; i++)
		check_err(claimed_wait(&ends[i]), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 0);
	/* The first listing was enough for all of them. */
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 0);
	/* Each item is read once.  (A busy machine also reads the markers of
	   claims that last until these are watched.) */
	int count = atomic_load(&reads);
	ck_assert_int_eq(count, 199);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_MULTI), 199 + 200);
	kustos_claims_destroy(mine);
	check_err(kustos_client_close(c, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(those_ahead_go_back_when_the_object_ends)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *eager;
	struct kustos_claim *first;

	o.ahead = 5;
	eager = claims_new(client, QUEUE, &o);
	queue_put_numbers(queue, 0, 10);
	first = claim_expect(eager, "0");
	test_eventually(claim_marks() == 6, 5000);
	kustos_claims_destroy(eager);
	test_eventually(claim_marks() == 1, 5000);
	claim_ack(first, KUSTOS_OK);
	for (int i = 1; i < 10; i++) {
		char text[12];

		snprintf(text, sizeof(text), "%d", i);
		claim_ack(claim_expect(claims_others, text), KUSTOS_OK);
	}
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

static int count_of(const char *path)
{
	return raw_count_children(fixture_address(), path);
}

/* The item fits into one request, but not together with its marker. */
START_TEST(L24_an_item_that_is_nearly_too_large_is_claimed_and_not_counted)
{
	static char data[999900];
	struct kustos_claim *claim = NULL;

	memset(data, 'x', sizeof(data));
	claim_put_raw(QUEUE, "qn-", data, sizeof(data) - 100, NULL);
	queue_put(queue_others, "small");
	for (int i = 0; i < 2; i++) {
		check_err(kustos_claim_next(claims, SOON, NULL, &claim),
			KUSTOS_OK);
		ck_assert_uint_eq(kustos_claim_item(claim)->len,
			sizeof(data) - 100);
		ck_assert_int_eq(kustos_claim_deliveries(claim), 1);
		ck_assert_int_gt(kustos_hold_token(kustos_claim_hold(claim)),
			0);
		check_err(claim_try(claims_others), KUSTOS_OK);
		check_err(kustos_claim_requeue(claim, SOON, NULL),
			KUSTOS_ETOOBIG);
	}
	check_err(kustos_claim_next(claims, SOON, NULL, &claim), KUSTOS_OK);
	claim_ack(claim, KUSTOS_OK);
	claim_ack(claim_expect(claims, "small"), KUSTOS_OK);
	ck_assert_uint_eq(client_stats(client).disconnects, 0);
}
END_TEST

/* The server's clock in milliseconds since 1970, from a node just created. */
static int64_t server_ms(void)
{
	struct raw_stat stat;

	ck_assert_int_eq(raw_create(fixture_address(), "/now", ""), 0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/now", &stat), 0);
	ck_assert_int_eq(raw_delete(fixture_address(), "/now"), 0);
	return stat.ctime_ms;
}

START_TEST(what_is_not_due_is_waited_for)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_DELAY);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	int64_t due = server_ms() + 3600000;
	char head[40];

	snprintf(head, sizeof(head), "queue-|%08llX|", (unsigned long long)due);
	claim_put_framed(head, "far");
	check_err(claim_try(some), KUSTOS_EEMPTY);
	due = server_ms() + 300;
	snprintf(head, sizeof(head), "queue-|%08llX|", (unsigned long long)due);
	claim_put_framed(head, "soon");
	claim_put_framed("queue-|00000000|", "now");
	claim_ack(claim_expect(some, "now"), KUSTOS_OK);
	struct kustos_claim *claim = claim_expect(some, "soon");
	ck_assert_int_ge(server_ms(), due);
	ck_assert_int_eq(kustos_claim_item(claim)->due_ms, due);
	/* The item keeps its due time, which is over. */
	check_err(kustos_claim_requeue(claim, SOON, NULL), KUSTOS_OK);
	claim = claim_expect(some, "soon");
	ck_assert_int_eq(kustos_claim_item(claim)->due_ms, due);
	claim_ack(claim, KUSTOS_OK);
	check_err(claim_try(some), KUSTOS_EEMPTY);
	kustos_claims_destroy(some);
}
END_TEST

START_TEST(S17_what_is_requeued_keeps_its_key_unless_it_is_to_lose_it)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_PRIORITY);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	struct kustos_claims *quirk;
	struct kustos_claim *claim;

	claim_put_framed("queue-10000000A", "a");
	claim_put_framed("queue-10000000A", "b");
	claim_put_framed("queue-10000000B", "c");
	check_err(kustos_claim_requeue(claim_expect(some, "a"), SOON, NULL),
		KUSTOS_OK);
	claim_ack(claim_expect(some, "b"), KUSTOS_OK);
	claim = claim_expect(some, "a");
	ck_assert_int_eq(kustos_claim_item(claim)->priority, 10);
	claim_ack(claim, KUSTOS_OK);
	kustos_claims_destroy(some);
	o.curator_requeue = 1;
	quirk = claims_new(client, FRAMED, &o);
	claim_put_framed("queue-100000001", "urgent");
	claim = claim_expect(quirk, "urgent");
	struct kustos_claim *late = claim_expect(quirk, "c");
	check_err(kustos_claim_requeue(late, SOON, NULL), KUSTOS_OK);
	kustos_claim_release(claim);
	claim_ack(claim_expect(quirk, "c"), KUSTOS_OK);
	claim_ack(claim_expect(quirk, "urgent"), KUSTOS_OK);
	kustos_claims_destroy(quirk);
}
END_TEST

START_TEST(kazoos_locking_queue_has_its_own_folders)
{
	struct kustos_claims_options o = claims_options(
		KUSTOS_QUEUE_KAZOO_LOCKING);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	struct kustos_claim *claim;

	claim_put_raw(FRAMED "/entries", "entry-100-", "b", 1, NULL);
	claim_put_raw(FRAMED "/entries", "entry-050-", "a", 1, NULL);
	claim = claim_expect(some, "a");
	ck_assert_int_eq(raw_exists(fixture_address(),
				 FRAMED "/taken/entry-050-0000000001", NULL),
		0);
	ck_assert_str_eq(kustos_hold_path(kustos_claim_hold(claim)),
		FRAMED "/taken/entry-050-0000000001");
	claim_ack(claim, KUSTOS_OK);
	claim_ack(claim_expect(some, "b"), KUSTOS_OK);
	ck_assert_int_eq(count_of(FRAMED "/entries"), 0);
	ck_assert_int_eq(count_of(FRAMED "/taken"), 0);
	kustos_claims_destroy(some);
}
END_TEST

static void never(void *arg, struct kustos_item *const *items, size_t count)
{
	(void)arg;
	(void)items;
	ck_abort_msg("%zu were taken", count);
}

START_TEST(what_is_put_into_kazoos_locking_queue_is_claimed_and_not_taken)
{
	struct kustos_consumer *consumer = NULL;
	struct kustos_claims_options o = claims_options(
		KUSTOS_QUEUE_KAZOO_LOCKING);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	struct kustos_queue_options how = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_new_item first = { .data = "a",
		.len = 1,
		.priority = 50 };
	struct kustos_item *item = NULL;
	struct kustos_queue *q = NULL;
	size_t count;

	how.kind = KUSTOS_QUEUE_KAZOO_LOCKING;
	check_err(kustos_queue_create(client, FRAMED, &how, &q), KUSTOS_OK);
	queue_put(q, "b");
	check_err(kustos_queue_put_many(q, &first, 1, SOON, NULL, NULL),
		KUSTOS_OK);
	check_err(kustos_queue_poll(q, SOON, NULL, &item), KUSTOS_EINVAL);
	check_err(kustos_queue_poll_many(q, 1, SOON, NULL, &item, &count),
		KUSTOS_EINVAL);
	check_err(kustos_queue_poll_async(q, 1, SOON, NULL, queue_taken, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_queue_consume(q, 1, never, NULL, NULL, &consumer),
		KUSTOS_EINVAL);
	check_err(kustos_queue_peek(q, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_str_eq(item->name, "entry-050-0000000001");
	kustos_item_free(item);
	ck_assert_int_eq(count_of(FRAMED "/entries"), 2);
	ck_assert_int_eq(count_of(FRAMED "-receipts"), 1);
	claim_ack(claim_expect(some, "a"), KUSTOS_OK);
	claim_ack(claim_expect(some, "b"), KUSTOS_OK);
	kustos_queue_destroy(q);
	kustos_claims_destroy(some);
}
END_TEST

START_TEST(a_newer_item_of_a_lesser_number_comes_first_or_after_so_many)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_PRIORITY);

	o.stale = 2 * _i;
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	for (int i = 0; i < 4; i++)
		claim_put_framed("queue-100000007", "later");
	claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	claim_put_framed("queue-100000003", "first");
	pair_hear(client); /* the event comes before what is read later */
	for (int i = 0; i < o.stale; i++)
		claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	claim_ack(claim_expect(some, "first"), KUSTOS_OK);
	claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	kustos_claims_destroy(some);
}
END_TEST

START_TEST(a_claim_has_a_hold_whose_token_grows)
{
	struct kustos_claim *a;
	int64_t token;

	queue_put(queue, "a");
	a = claim_expect(claims, "a");
	token = kustos_hold_token(kustos_claim_hold(a));
	ck_assert_int_gt(token, 0);
	ck_assert_int_eq(kustos_hold_state(kustos_claim_hold(a)),
		KUSTOS_HOLD_HELD);
	struct raw_stat stat;
	ck_assert_int_eq(raw_exists(fixture_address(),
				 kustos_hold_path(kustos_claim_hold(a)), &stat),
		0);
	ck_assert_int_eq(stat.czxid, token);
	ck_assert_int_eq(stat.ephemeral_owner, client_session_id(client));
	kustos_claim_release(a);
	a = claim_expect(claims, "a");
	ck_assert_int_gt(kustos_hold_token(kustos_claim_hold(a)), token);
	claim_ack(a, KUSTOS_OK);
}
END_TEST

static void check_apart(const char *locks, const char *dead,
	const char *corrupt, enum kustos_err wanted)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_FRAMED);
	struct kustos_claims *made = NULL;

	o.lock_path = locks;
	o.dead_letters = dead;
	o.deliveries = dead != NULL;
	o.corrupt = corrupt;
	check_err(kustos_claims_create(client, QUEUE, &o, &made), wanted);
	ck_assert_int_eq(made != NULL, wanted == KUSTOS_OK);
	kustos_claims_destroy(made);
}

START_TEST(what_must_be_apart_is_not_one_folder)
{
	check_apart(QUEUE, NULL, NULL, KUSTOS_EINVAL);
	check_apart(NULL, QUEUE, NULL, KUSTOS_EINVAL);
	check_apart(NULL, NULL, QUEUE, KUSTOS_EINVAL);
	check_apart(NULL, QUEUE "-locks", NULL, KUSTOS_EINVAL);
	check_apart("/locks", "/dead", "/locks", KUSTOS_EINVAL);
	check_apart("/locks", "/dead", "/dead", KUSTOS_OK);
}
END_TEST

START_TEST(options_that_make_no_sense_are_refused)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *none = NULL;

	check_err(kustos_claims_create(NULL, QUEUE, NULL, &none),
		KUSTOS_EINVAL);
	check_err(kustos_claims_create(client, "q", NULL, &none),
		KUSTOS_EINVAL);
	check_err(kustos_claims_create(client, "/", NULL, &none),
		KUSTOS_EINVAL);
	check_err(kustos_claims_create(client, NULL, NULL, &none),
		KUSTOS_EINVAL);
	o.deliveries = 3;
	check_err(kustos_claims_create(client, QUEUE, &o, &none),
		KUSTOS_EINVAL);
	o = claims_options((enum kustos_queue_kind)99);
	check_err(kustos_claims_create(client, QUEUE, &o, &none),
		KUSTOS_EINVAL);
	o = claims_options(KUSTOS_QUEUE_KAZOO_LOCKING);
	o.lock_path = "/x";
	check_err(kustos_claims_create(client, QUEUE, &o, &none),
		KUSTOS_EINVAL);
	o = claims_options(KUSTOS_QUEUE_SIMPLE);
	o.ahead = -1;
	check_err(kustos_claims_create(client, QUEUE, &o, &none),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(none);
	check_err(kustos_claim_ack(NULL, SOON, NULL), KUSTOS_EINVAL);
	kustos_claim_release(NULL);
	kustos_claims_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims");
	TCase *t = fixture_case(s, "two clients", 5);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t,
		what_is_claimed_is_nobody_elses_until_it_is_acknowledged);
	tcase_add_test(t,
		what_is_released_is_where_it_was_and_counts_as_delivered);
	tcase_add_test(t, what_is_requeued_comes_last_and_is_new);
	tcase_add_test(t, who_waits_is_served_by_a_put_and_by_a_release);
	tcase_add_test(t, a_wait_ends_in_time_and_leaves_nothing);
	tcase_add_test(t, many_are_acknowledged_in_flight);
	tcase_add_test(t, those_ahead_go_back_when_the_object_ends);
	tcase_add_test(t,
		L24_an_item_that_is_nearly_too_large_is_claimed_and_not_counted);
	tcase_add_test(t, what_is_not_due_is_waited_for);
	tcase_add_test(t,
		S17_what_is_requeued_keeps_its_key_unless_it_is_to_lose_it);
	tcase_add_test(t, kazoos_locking_queue_has_its_own_folders);
	tcase_add_test(t,
		what_is_put_into_kazoos_locking_queue_is_claimed_and_not_taken);
	tcase_add_loop_test(t,
		a_newer_item_of_a_lesser_number_comes_first_or_after_so_many, 0,
		2);
	tcase_add_test(t, a_claim_has_a_hold_whose_token_grows);
	tcase_add_test(t, what_must_be_apart_is_not_one_folder);
	tcase_add_test(t, options_that_make_no_sense_are_refused);
	return fixture_main(s);
}
