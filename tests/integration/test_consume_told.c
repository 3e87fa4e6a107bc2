/*
 * test_consume_told.c - failures that a consumer reports, from its own thread
 * and from whatever carries out its verdicts: one report after the other, and
 * none once it is stopped.
 */
#include "claim_fixture.h"

#include <stdio.h>
#include <string.h>

#define T_MS 9000

static struct {
	int calls, failed, stopped;
	enum kustos_err err;
} seen;

static void set_up(void)
{
	memset(&seen, 0, sizeof(seen));
	claim_pair_open(T_MS);
}

static int count(int *what)
{
	return __atomic_add_fetch(what, 1, __ATOMIC_SEQ_CST);
}

static int counted(const int *what)
{
	return __atomic_load_n(what, __ATOMIC_SEQ_CST);
}

static void failed(void *arg, enum kustos_err err, const char *name)
{
	(void)arg;
	(void)name;
	seen.err = err;
	count(&seen.failed);
}

/* Write the item, as the next claim of it does.  The claimer cannot know before
   the ack that it has lost it. */
static void lose(const struct kustos_claim *claim)
{
	const struct kustos_item *item = kustos_claim_item(claim);
	char path[128];

	snprintf(path, sizeof(path), QUEUE "/%s", item->name);
	ck_assert_int_eq(raw_set(fixture_address(), path, item->data), 0);
}

static enum kustos_verdict lose_once(void *arg, struct kustos_claim *claim)
{
	(void)arg;
	if (count(&seen.calls) == 1)
		lose(claim);
	return KUSTOS_VERDICT_ACK;
}

/* 1: a report is being made; 2: it may return. */
static int telling;

static void tell_slowly(void *arg, enum kustos_err err, const char *name)
{
	failed(arg, err, name);
	__atomic_store_n(&telling, 1, __ATOMIC_SEQ_CST);
	test_eventually(counted(&telling) == 2, 5000);
	for (int i = 0; i < 10; i++)
		(void)raw_exists(fixture_address(), QUEUE, NULL);
	__atomic_store_n(&telling, 0, __ATOMIC_SEQ_CST);
}

START_TEST(a_consumer_is_not_stopped_under_what_is_being_told)
{
	struct kustos_consumer *consumer = NULL;

	queue_put(queue, "7");
	check_err(kustos_claims_consume(claims, lose_once, tell_slowly, NULL,
			  &consumer),
		KUSTOS_OK);
	test_eventually(counted(&seen.calls) == 2 && counted(&telling) == 1,
		10000);
	__atomic_store_n(&telling, 2, __ATOMIC_SEQ_CST);
	kustos_consumer_stop(consumer);
	ck_assert_int_eq(counted(&telling), 0);
	ck_assert_int_eq(counted(&seen.failed), 1);
}
END_TEST

/* That the first item was lost is not known until the proxy passes data
   again. */
static enum kustos_verdict lose_two(void *arg, struct kustos_claim *claim)
{
	int times = count(&seen.calls);

	(void)arg;
	if (times == 1)
		proxy_set_mode(proxy, PROXY_HOLD);
	if (times <= 2)
		lose(claim);
	return KUSTOS_VERDICT_ACK;
}

static void count_failure(void *arg, enum kustos_err err, const char *name)
{
	(void)name;
	check_err(err, KUSTOS_ELOST);
	count(arg);
}

/* Reports come in order: once the second consumer gets its report, the first
   would have got one. */
START_TEST(who_has_stopped_a_consumer_is_told_nothing_more)
{
	struct kustos_consumer *consumers[2] = { NULL };
	int told[2] = { 0 };

	queue_put(queue_others, "7");
	check_err(kustos_claims_consume(claims, lose_two, count_failure,
			  &told[0], &consumers[0]),
		KUSTOS_OK);
	test_eventually(counted(&seen.calls) == 1, 5000);
	kustos_consumer_stop(consumers[0]);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(kustos_claims_consume(claims, lose_two, count_failure,
			  &told[1], &consumers[1]),
		KUSTOS_OK);
	test_eventually(counted(&told[1]) == 1, 10000);
	test_eventually(queue_count() == 0, 5000);
	kustos_consumer_stop(consumers[1]);
	ck_assert_int_eq(counted(&told[0]), 0);
}
END_TEST

/* Create the queue again, so that a consumer that may not read it gets no more
   items. */
static void make_unreadable(void)
{
	raw_delete_tree(fixture_address(), QUEUE);
	client_create_with(KUSTOS_PERM_ALL & ~KUSTOS_PERM_READ, QUEUE, 0);
}

static enum kustos_verdict lose_all(void *arg, struct kustos_claim *claim)
{
	(void)arg;
	lose(claim);
	make_unreadable();
	return KUSTOS_VERDICT_ACK;
}

static struct kustos_consumer *stopper;

/* Stop the consumer in the report about its ack, after its thread has begun to
   report another failure. */
static void stop_it(void *arg, enum kustos_err err, const char *name)
{
	int before = counted(&seen.failed);

	if (name == NULL) {
		failed(arg, err, name);
		return;
	}
	test_eventually(counted(&seen.failed) > before, 5000);
	kustos_consumer_stop(stopper);
	count(&seen.stopped);
}

START_TEST(a_consumer_may_be_stopped_by_who_hears_of_one_of_two_failures)
{
	check_err(kustos_claims_consume(claims, lose_all, stop_it, NULL,
			  &stopper),
		KUSTOS_OK);
	queue_put(queue_others, "7");
	test_eventually(counted(&seen.stopped) == 1, 2000);
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
}
END_TEST

/* The second consumer fails after the first, and does get a report. */
START_TEST(nobody_need_hear_of_failures)
{
	struct kustos_consumer *consumers[2] = { NULL };

	queue_put(queue, "7"); /* creates the parents, too */
	make_unreadable();
	check_err(kustos_claims_consume(claims, lose_once, NULL, NULL,
			  &consumers[0]),
		KUSTOS_OK);
	check_err(kustos_claims_consume(claims, lose_once, failed, NULL,
			  &consumers[1]),
		KUSTOS_OK);
	test_eventually(counted(&seen.failed) > 1, 5000);
	kustos_consumer_stop(consumers[0]);
	kustos_consumer_stop(consumers[1]);
	check_err(seen.err, KUSTOS_ENOAUTH);
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what consumers tell");
	TCase *t = fixture_case(s, "two clients", 50);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t, a_consumer_is_not_stopped_under_what_is_being_told);
	tcase_add_test(t, who_has_stopped_a_consumer_is_told_nothing_more);
	tcase_add_test(t,
		a_consumer_may_be_stopped_by_who_hears_of_one_of_two_failures);
	tcase_add_test(t, nobody_need_hear_of_failures);
	return fixture_main(s);
}
