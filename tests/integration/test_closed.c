/*
 * test_closed.c - a client is closed while a thread of the program waits in a
 * call of one of its recipes; the thread must be woken with an error.
 */
#include "barrier_fixture.h"

#include <kustos/claim.h>
#include <kustos/countdown.h>
#include <kustos/queue.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define NODE "/closed"
#define OTHER NODE "/00000000-0000-4000-8000-000000000000"
#define T_MS 20000

/* The object with which the thread waits. */
static void *volatile left;

static enum kustos_err enters(void)
{
	return kustos_double_barrier_enter(left, KUSTOS_FOREVER, NULL);
}

static enum kustos_err leaves(void)
{
	return kustos_double_barrier_leave(left, KUSTOS_FOREVER, NULL);
}

static enum kustos_err counts_down(void)
{
	return kustos_countdown_wait(left, KUSTOS_FOREVER, NULL);
}

static enum kustos_err polls(void)
{
	struct kustos_item *item;

	return kustos_queue_poll(left, KUSTOS_FOREVER, NULL, &item);
}

static enum kustos_err peeks(void)
{
	struct kustos_item *item;

	return kustos_queue_peek(left, KUSTOS_FOREVER, NULL, &item);
}

static enum kustos_err puts_into_the_full(void)
{
	return kustos_queue_put(left, "x", 1, KUSTOS_FOREVER, NULL);
}

static enum kustos_err claims(void)
{
	struct kustos_claim *claim;

	return kustos_claim_next(left, KUSTOS_FOREVER, NULL, &claim);
}

static void *make_member(struct kustos_client *victim)
{
	struct kustos_double_barrier *member;

	check_err(kustos_double_barrier_create(victim, NODE, 2, NULL, &member),
		KUSTOS_OK);
	return member;
}

/* The member is inside, with another one whose node comes before its own. */
static void *make_inside(struct kustos_client *victim)
{
	struct kustos_double_barrier *member = make_member(victim);

	(void)client_create(client, OTHER, KUSTOS_CREATE_PARENTS);
	check_err(kustos_double_barrier_enter(member, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(fixture_children(NODE), 3);
	return member;
}

static void *make_countdown(struct kustos_client *victim)
{
	struct kustos_countdown *countdown;

	check_err(kustos_countdown_create(victim, NODE, 1, NULL, &countdown),
		KUSTOS_OK);
	return countdown;
}

static void *make_queue(struct kustos_client *victim)
{
	struct kustos_queue *queue;

	check_err(kustos_queue_create(victim, NODE, NULL, &queue), KUSTOS_OK);
	return queue;
}

static void *make_full(struct kustos_client *victim)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *queue;

	o.max_items = 1;
	check_err(kustos_queue_create(victim, NODE, &o, &queue), KUSTOS_OK);
	check_err(kustos_queue_put(queue, "x", 1, SOON, NULL), KUSTOS_OK);
	return queue;
}

static void *make_claims(struct kustos_client *victim)
{
	struct kustos_claims *made;

	check_err(kustos_claims_create(victim, NODE, NULL, &made), KUSTOS_OK);
	return made;
}

/* The thread waits: nobody else has a watch. */
static bool watches(void)
{
	char text[8192];
	const char *count;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "mntr", text, sizeof(text)), 0);
	count = strstr(text, "zk_watch_count\t"); /* of children as well */
	ck_assert_ptr_nonnull(count);
	return count[strlen("zk_watch_count\t")] != '0';
}

static bool has_left(void)
{
	return fixture_children(NODE) == 2;
}

static const struct kind {
	void *(*make)(struct kustos_client *victim);
	enum kustos_err (*waits)(void);
	bool (*is_waiting)(void);
} kinds[] = {
	{ make_member, enters, watches },
	{ make_inside, leaves, has_left },
	{ make_countdown, counts_down, watches },
	{ make_queue, polls, watches },
	{ make_queue, peeks, watches },
	{ make_full, puts_into_the_full, watches },
	{ make_claims, claims, watches },
};

#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* Objects that nobody may free after the close of their client. */
static void *volatile kept[KINDS];

static void *wait_there(void *arg)
{
	const struct kind *kind = arg;

	return (void *)(intptr_t)kind->waits();
}

START_TEST(L01_a_thread_that_waits_is_told_when_the_client_is_closed)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		T_MS);
	struct kind kind = kinds[_i];
	pthread_t thread;
	void *got = NULL;

	left = kept[_i] = kind.make(victim);
	ck_assert(!kind.is_waiting());
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_there, &kind), 0);
	test_eventually(kind.is_waiting(), 5000);
	client_close(victim);
	ck_assert_int_eq(pthread_join(thread, &got), 0);
	check_err((enum kustos_err)(intptr_t)got, KUSTOS_ECLOSED);
}
END_TEST

/* Otherwise the close would report that the session may linger.  A busy machine
   may be too slow for this, but not 20 times. */
START_TEST(L06_a_close_in_a_hurry_waits_a_moment_for_who_is_in_touch)
{
	struct proxy *way = fixture_proxy();
	enum kustos_err err = KUSTOS_ELINGERING;

	proxy_set_delay(way, 0, 10);
	for (int i = 0; i < 20 && err == KUSTOS_ELINGERING; i++)
		err = kustos_client_close(
			client_connected(proxy_address(way), T_MS), KUSTOS_NOW,
			NULL);
	proxy_free(way);
	check_err(err, KUSTOS_OK);
}
END_TEST

static void set_up(void)
{
	client = client_connected(fixture_address(), T_MS);
}

static void tear_down(void)
{
	client_close(client);
}

int main(void)
{
	Suite *s = suite_create("a client that is closed");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		L01_a_thread_that_waits_is_told_when_the_client_is_closed, 0,
		KINDS);
	tcase_add_test(t,
		L06_a_close_in_a_hurry_waits_a_moment_for_who_is_in_touch);
	return fixture_main(s);
}
