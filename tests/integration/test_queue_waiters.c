/*
 * test_queue_waiters.c - several threads wait for one queue: until all is put,
 * or for room in memory.  One of them gives up, or the queue is destroyed.
 */
#include "client_fixture.h"
#include "proxy.h"

#include "queue_impl.h"

#include <kustos/cancel.h>

#define T_MS 20000
#define WAITERS 3

struct waiter {
	pthread_t thread;
	char name; /* what it puts */
	struct kustos_cancel *cancel;
	enum kustos_err err;
};

static struct proxy *way;
static struct kustos_client *client;
static struct ku_queue *queue;
static struct waiter waiters[WAITERS];

static void set_up(void)
{
	/* One item fills the memory. */
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/waiters-receipts",
		.max_bytes = 1 };

	way = fixture_proxy();
	client = client_connected(proxy_address(way), T_MS);
	check_err(ku_queue_create(client, "/waiters", &wish, &queue),
		KUSTOS_OK);
}

static void tear_down(void)
{
	ku_queue_destroy(queue);
	client_close(client);
	proxy_free(way);
	/* An item that was put may have had its object until now. */
	for (int i = 0; i < WAITERS; i++) {
		kustos_cancel_destroy(waiters[i].cancel);
		waiters[i].cancel = NULL;
	}
}

/* This returns at once if there is room. */
static enum kustos_err put(char name, struct kustos_cancel *cancel)
{
	const struct kustos_new_item item = { .data = &name, .len = 1 };

	return ku_queue_put_async(queue, &item, KUSTOS_FOREVER, cancel, NULL,
		NULL);
}

static void *put_one(void *arg)
{
	struct waiter *w = arg;

	w->err = put(w->name, w->cancel);
	return NULL;
}

static void *flush(void *arg)
{
	struct waiter *w = arg;

	w->err = ku_queue_flush(queue, KU_FLUSH_ALL, KUSTOS_FOREVER, w->cancel);
	return NULL;
}

static int waiting(void)
{
	int count = 0;

	ku_lock(client);
	for (const struct ku_flush *f = queue->flushes; f != NULL; f = f->next)
		count++;
	for (const struct ku_roomer *r = queue->put.rooms; r; r = r->next)
		count++;
	ku_unlock(client);
	return count;
}

/* Put "0", which is not answered, and let all threads wait behind it, one after
   the other. */
static void begin(void *(*wait)(void *))
{
	proxy_set_mode(way, PROXY_HOLD);
	check_err(put('0', NULL), KUSTOS_OK);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i].name = (char)('1' + i);
		check_err(kustos_cancel_create(&waiters[i].cancel), KUSTOS_OK);
		ck_assert_int_eq(pthread_create(&waiters[i].thread, NULL, wait,
					 &waiters[i]),
			0);
		test_eventually(waiting() == i + 1, 1000);
	}
}

/* Return how its wait ended. */
static enum kustos_err end_of(int i)
{
	pthread_join(waiters[i].thread, NULL);
	return waiters[i].err;
}

/* Let one give up, and check that the others go on. */
static void give_up(int one)
{
	kustos_cancel_fire(waiters[one].cancel);
	check_err(end_of(one), KUSTOS_ECANCELED);
	ck_assert_int_eq(waiting(), WAITERS - 1);
	proxy_set_mode(way, PROXY_PASS);
	for (int i = 0; i < WAITERS; i++)
		if (i != one)
			check_err(end_of(i), KUSTOS_OK);
	ck_assert_int_eq(waiting(), 0);
}

START_TEST(L20_one_of_those_who_flush_gives_up_and_the_others_do_not)
{
	begin(flush);
	give_up(_i);
}
END_TEST

/* Take all items, and check that none is of the one that gave up. */
static void take_all(char gone)
{
	struct ku_poll_wish one = { .max = 1, .deadline = SOON };
	struct kustos_item *item = NULL;
	size_t count = 0;

	for (int i = 0; i < WAITERS; i++) {
		check_err(ku_queue_poll(queue, &one, &item, &count), KUSTOS_OK);
		ck_assert_int_ne(*(const char *)item->data, gone);
		kustos_item_free(item);
	}
	one.deadline = KUSTOS_NOW;
	check_err(ku_queue_poll(queue, &one, &item, &count), KUSTOS_EEMPTY);
}

START_TEST(L20_one_of_those_who_wait_for_room_gives_up_and_the_others_do_not)
{
	begin(put_one);
	give_up(_i);
	check_err(ku_queue_flush(queue, KU_FLUSH_ALL, SOON, NULL), KUSTOS_OK);
	take_all(waiters[_i].name);
}
END_TEST

START_TEST(L01_those_who_wait_hear_of_the_end_of_the_queue)
{
	begin(_i == 0 ? flush : put_one);
	ku_queue_destroy(queue);
	queue = NULL;
	for (int i = 0; i < WAITERS; i++)
		check_err(end_of(i), KUSTOS_ECLOSED);
	proxy_set_mode(way, PROXY_PASS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("who wait for a queue");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		L20_one_of_those_who_flush_gives_up_and_the_others_do_not, 0,
		WAITERS);
	tcase_add_loop_test(t,
		L20_one_of_those_who_wait_for_room_gives_up_and_the_others_do_not,
		0, WAITERS);
	tcase_add_loop_test(t, L01_those_who_wait_hear_of_the_end_of_the_queue,
		0, 2);
	return fixture_main(s);
}
