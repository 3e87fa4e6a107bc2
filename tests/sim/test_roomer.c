/*
 * test_roomer.c - a thread puts in the background, and has to wait for memory:
 * something happens after it has found none and before it waits.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "queue_impl.h"

#include <string.h>

#define QUEUE "/queue"

static struct bench bench;
static struct kustos_client *client;
static struct ku_queue *queue;
static bool waited; /* it waited longer than a put takes */

enum kustos_err __real_ku_wait_stay(struct ku_wait *wait,
	kustos_deadline deadline, struct kustos_cancel *cancel);
enum kustos_err __wrap_ku_wait_stay(struct ku_wait *wait,
	kustos_deadline deadline, struct kustos_cancel *cancel);
bool __wrap_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until);

/* Run the client as if no thread could wait. */
static void run(int ms)
{
	client->env.threads = false;
	lone_run_ms(&bench, client, ms);
	client->env.threads = true;
}

/* Before the wait begins, earlier puts are done. */
enum kustos_err __wrap_ku_wait_stay(struct ku_wait *wait,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	run(1000);
	return __real_ku_wait_stay(wait, deadline, cancel);
}

bool __wrap_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until)
{
	(void)c;
	(void)cond;
	(void)until;
	waited = true;
	return false; /* the wait times out */
}

static void setup(void)
{
	/* One item fills the memory. */
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/receipts",
		.max_bytes = 1 };

	waited = false;
	lone_make(&bench, lone_setup(&bench, 2), QUEUE);
	client = lone_connected(&bench, &ku_zk_sim);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
	client->env.threads = true;
}

static void teardown(void)
{
	client->env.threads = false;
	ku_queue_destroy(queue);
	lone_teardown(&bench, client);
}

static enum kustos_err put(kustos_deadline deadline)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };

	return ku_queue_put_async(queue, &item, deadline, NULL, NULL, NULL);
}

/* Nothing would wake the thread after that. */
START_TEST(L01_memory_that_is_freed_before_the_wait_begins_is_had)
{
	ck_assert_int_eq(put(KUSTOS_FOREVER), KUSTOS_OK);
	ck_assert_uint_gt(queue->put.bytes, 1);
	ck_assert_int_eq(put(KUSTOS_FOREVER), KUSTOS_OK);
	ck_assert(!waited);
	run(1000);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 2);
}
END_TEST

START_TEST(L20_who_does_not_wait_does_not_wait_for_memory)
{
	ck_assert_int_eq(put(KUSTOS_FOREVER), KUSTOS_OK);
	ck_assert_int_eq(put(KUSTOS_NOW), KUSTOS_EFULL);
	client->env.threads = false; /* where no thread can wait */
	ck_assert_int_eq(put(KUSTOS_FOREVER), KUSTOS_EFULL);
	run(1000);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 1);
	ck_assert_uint_eq(queue->put.bytes, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memory for a queue in the simulator");
	TCase *t = tcase_create("is waited for");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		L01_memory_that_is_freed_before_the_wait_begins_is_had);
	tcase_add_test(t, L20_who_does_not_wait_does_not_wait_for_memory);
	suite_add_tcase(s, t);
	return unit_main(s);
}
