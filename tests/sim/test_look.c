/*
 * test_look.c - when calls that wait for items, or for room, look again: after
 * a pause where no watch is allowed, and before they use an old listing.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk_impl.h"
#include "queue_impl.h"

#include <kustos/cancel.h>
#include <stdio.h>
#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define ITEM QUEUE "/qn-0000000000"
#define MARK MARKS "/qn-0000000000"
/* How long each message between a client and its server takes. */
#define WAY_MS 10

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static struct ku_desk *desk;

static void open_queue(enum ku_item_kind kind, int64_t max_items)
{
	const struct ku_queue_wish wish = { .kind = kind,
		.receipts = "/queue-receipts",
		.max_items = max_items,
		.max_bytes = 1000 };

	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void open_desk(void)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS };

	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
}

static void setup(void)
{
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &ku_zk_sim);
	queue = NULL;
	desk = NULL;
}

static void teardown(void)
{
	ku_queue_destroy(queue);
	ku_desk_destroy(desk);
	lone_teardown(&bench, client);
}

/* Pretend that so much is watched that no further watch is allowed. */
static void watch_no_more(void)
{
	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
}

static void watch_again(void)
{
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}

static void check_looks(void)
{
	uint64_t before = model_figures(bench.model)->requests;

	lone_run_ms(&bench, client, 10000);
	ck_assert_uint_le(model_figures(bench.model)->requests, before + 50);
	ck_assert_uint_ge(model_figures(bench.model)->requests, before + 5);
}

static void make(const char *path, enum ku_zk_mode mode)
{
	ck_assert_int_eq(bench_create(&bench, raw, path, "x", mode).rc,
		KU_ZK_OK);
}

/* Have the rival create or delete a node; do not wait for that. */
static void send(enum ku_zk_kind kind, const char *path)
{
	static const char frame[] = "\0\1\0\1\1\0\0\0\1a\2";
	const struct ku_zk_request request = { .kind = kind,
		.path = path,
		.data = frame,
		.len = sizeof(frame) - 1,
		.mode = KU_ZK_PERSISTENT_SEQUENTIAL };

	lone_send(&bench, raw, &request);
}

/* Queues */

struct taken {
	int count;
	int64_t key; /* of the item taken */
};

static void took(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	struct taken *taken = arg;

	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_uint_eq(count, 1);
	taken->count++;
	taken->key = items[0]->priority + items[0]->due_ms;
	kustos_item_free(items[0]);
}

static void take(struct taken *taken)
{
	const struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER };

	*taken = (struct taken){ .count = 0 };
	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, took, taken),
		KUSTOS_OK);
}

START_TEST(L07_who_may_watch_nothing_looks_for_an_item_each_second)
{
	struct taken taken;

	watch_no_more();
	open_queue(KU_ITEM_SIMPLE, 0);
	take(&taken);
	check_looks();
	ck_assert_int_eq(taken.count, 0);
	make(ITEM, KU_ZK_PERSISTENT);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(taken.count, 1);
	watch_again();
}
END_TEST

static void was_put(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

START_TEST(L07_who_may_watch_nothing_looks_for_room_each_second)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	int end = -1;

	watch_no_more();
	make(ITEM, KU_ZK_PERSISTENT);
	open_queue(KU_ITEM_SIMPLE, 1);
	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &end),
		KUSTOS_OK);
	check_looks();
	ck_assert_int_eq(end, -1);
	bench_delete(&bench, raw, ITEM, -1);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_OK);
	watch_again();
}
END_TEST

static void check_next(int64_t key)
{
	struct taken taken;

	take(&taken);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(taken.count, 1);
	ck_assert_int_eq(taken.key, key);
}

START_TEST(L07_who_may_watch_nothing_takes_the_lesser_priority_first)
{
	watch_no_more();
	make(QUEUE "/entry-005-", KU_ZK_PERSISTENT_SEQUENTIAL);
	make(QUEUE "/entry-006-", KU_ZK_PERSISTENT_SEQUENTIAL);
	open_queue(KU_ITEM_KAZOO, 0);
	check_next(5);
	make(QUEUE "/entry-001-", KU_ZK_PERSISTENT_SEQUENTIAL);
	check_next(1);
	check_next(6);
	watch_again();
}
END_TEST

#define MANY (KU_OTHERS_FROM + 8)

/* Between two takes others make the queue anew, with as many changes. */
START_TEST(S17_what_was_listed_of_a_queue_before_is_not_gone_by)
{
	char path[64];

	for (int i = 0; i < MANY; i++)
		make(QUEUE "/entry-500-", KU_ZK_PERSISTENT_SEQUENTIAL);
	open_queue(KU_ITEM_KAZOO, 0);
	check_next(500);
	for (int i = 1; i < MANY; i++) {
		snprintf(path, sizeof(path), QUEUE "/entry-500-%010d", i);
		bench_delete(&bench, raw, path, -1);
	}
	bench_delete(&bench, raw, QUEUE, -1);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	for (int i = 0; i < MANY; i++)
		make(QUEUE "/entry-500-", KU_ZK_PERSISTENT_SEQUENTIAL);
	make(QUEUE "/entry-001-", KU_ZK_PERSISTENT_SEQUENTIAL);
	check_next(1);
}
END_TEST

/* Have the rival put an item that is due at that time. */
static void send_due(int64_t due_ms)
{
	char path[64];

	snprintf(path, sizeof(path), QUEUE "/queue-|%llX|",
		(unsigned long long)due_ms);
	send(KU_ZK_CREATE, path);
}

/* While an item is taken that has just become due, another is put, and the
   connection breaks at one moment or another.  The next take begins later. */
START_TEST(S17_what_was_put_as_another_was_taken_is_before_what_is_due_later)
{
	int64_t now = bench.sched.now_ns / KU_NS_PER_MS;
	struct taken first;

	send_due(now + 500);
	send_due(now + 502);
	open_queue(KU_ITEM_DELAY, 0);
	take(&first);
	lone_run_ms(&bench, client, 520 + 2 * (_i % 20));
	send_due(0);
	lone_run_ms(&bench, client, 2 * WAY_MS + 2 * (_i / 20));
	model_cut(bench.model, LONE_MACHINE, false);
	lone_run_ms(&bench, client, 4000);
	ck_assert_int_eq(first.count, 1);
	ck_assert(first.key == 0 || first.key == now + 500);
	check_next(first.key == 0 ? now + 500 : 0);
}
END_TEST

/* A wall clock that is more than an hour ahead of the others. */
static int64_t wall_ahead(void *arg)
{
	return bench.sched.clock.wall(arg) + 3601 * KU_NS_PER_S;
}

/* No event tells that the clock was set. */
START_TEST(S25_L27_an_item_is_due_soon_after_the_clock_was_set)
{
	int64_t due = bench.sched.now_ns / KU_NS_PER_MS + INT64_C(3600000);
	struct taken taken;

	send_due(due);
	open_queue(KU_ITEM_DELAY, 0);
	take(&taken);
	lone_run_ms(&bench, client, 1000);
	client->env.clock.wall = wall_ahead;
	lone_run_ms(&bench, client, 61000);
	ck_assert_int_eq(taken.count, 1);
	ck_assert_int_eq(taken.key, due);
}
END_TEST

static void gave_up(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_int_eq(err, KUSTOS_ECANCELED);
	ck_assert_uint_eq(count, 0);
	*(bool *)arg = true;
}

/* The item was listed for a call that gave up, and no call waits until it is
   due. */
START_TEST(L07_who_may_watch_nothing_goes_by_no_listing_of_a_take_before)
{
	int64_t due = bench.sched.now_ns / KU_NS_PER_MS + 2000;
	struct kustos_cancel *cancel;
	bool over = false;

	watch_no_more();
	send_due(due);
	open_queue(KU_ITEM_DELAY, 0);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	const struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER,
		.cancel = cancel };
	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, gave_up, &over),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 500);
	ck_assert(over);
	kustos_cancel_destroy(cancel);
	send_due(0);
	lone_run_ms(&bench, client, 2000);
	check_next(0);
	check_next(due);
	watch_again();
}
END_TEST

/* Claims */

struct asked { /* a wait for an item */
	bool ended;
	struct ku_lent *lent;
};

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	struct asked *asked = arg;

	ck_assert_int_eq(err, got != NULL ? KUSTOS_OK : KUSTOS_EEMPTY);
	asked->ended = true;
	asked->lent = got;
}

static void ask(kustos_deadline deadline, struct asked *asked)
{
	*asked = (struct asked){ .lent = NULL };
	ck_assert_int_eq(ku_desk_lend_async(desk, deadline, NULL, lent, asked),
		KUSTOS_OK);
}

/* Try to claim an item.  Returns NULL if there is none. */
static struct ku_lent *try_it(void)
{
	struct asked asked;

	ask(KUSTOS_NOW, &asked);
	lone_run_ms(&bench, client, 500);
	ck_assert(asked.ended);
	return asked.lent;
}

static void end(struct ku_lent *got)
{
	ck_assert_ptr_nonnull(got);
	ku_desk_destroy(desk);
	desk = NULL;
	ku_lent_return(got);
}

/* There is no item yet, or another client has it. */
START_TEST(L07_who_may_watch_nothing_looks_for_one_to_claim_each_second)
{
	struct asked asked;

	watch_no_more();
	if (_i == 1) {
		make(ITEM, KU_ZK_PERSISTENT);
		make(MARK, KU_ZK_EPHEMERAL);
	}
	open_desk();
	ask(KUSTOS_FOREVER, &asked);
	check_looks();
	ck_assert(!asked.ended);
	if (_i == 0)
		make(ITEM, KU_ZK_PERSISTENT);
	else
		bench_delete(&bench, raw, MARK, -1);
	lone_run_ms(&bench, client, 3000);
	end(asked.lent);
	watch_again();
}
END_TEST

START_TEST(L07_who_may_watch_nothing_and_does_not_wait_is_told_what_there_is)
{
	struct ku_lent *got;

	watch_no_more();
	open_desk();
	ck_assert_ptr_null(try_it());
	make(ITEM, KU_ZK_PERSISTENT);
	got = try_it();
	ck_assert_ptr_nonnull(got);
	ck_assert_ptr_null(try_it());
	ku_lent_return(got);
	end(try_it());
	watch_again();
}
END_TEST

/* Another client has the item, and gives it back; the event is still under
   way. */
START_TEST(L27_what_another_gave_back_just_now_is_there)
{
	struct kustos_stat stat;

	make(ITEM, KU_ZK_PERSISTENT);
	make(MARK, KU_ZK_EPHEMERAL);
	open_desk();
	ck_assert_ptr_null(try_it());
	send(KU_ZK_DELETE, MARK);
	while (model_stat(bench.model, MARK, &stat))
		lone_run_ms(&bench, client, 1);
	end(try_it());
}
END_TEST

static void unmake(const char *path)
{
	ck_assert_int_eq(bench_delete(&bench, raw, path, -1).rc, KU_ZK_OK);
}

/* Make an item with a child, so that nobody can take it. */
static void make_unfit(void)
{
	make(ITEM, KU_ZK_PERSISTENT);
	make(ITEM "/child", KU_ZK_PERSISTENT);
}

/* All this happens between two listings. */
static void make_anew(void)
{
	unmake(ITEM "/child");
	unmake(ITEM);
	unmake(QUEUE);
	make(QUEUE, KU_ZK_PERSISTENT);
	make(ITEM, KU_ZK_PERSISTENT);
}

/* Numbers begin anew with the queue's node; to mend an item changes no
   listing. */
START_TEST(L27_what_is_mended_or_has_an_unfit_ones_name_is_had)
{
	struct taken taken;

	make_unfit();
	open_queue(KU_ITEM_SIMPLE, 0);
	take(&taken);
	lone_run_ms(&bench, client, 1000);
	ck_assert_uint_eq(queue->take.unfits.count, 1);
	_i == 0 ? make_anew() : unmake(ITEM "/child");
	lone_run_ms(&bench, client, _i == 0 ? 1000 : KU_UNFIT_AGAIN_MS);
	ck_assert_int_eq(taken.count, 1);
}
END_TEST

START_TEST(L27_so_it_is_with_who_claims)
{
	struct asked asked;

	make_unfit();
	open_desk();
	ask(KUSTOS_FOREVER, &asked);
	lone_run_ms(&bench, client, 1000);
	ck_assert_uint_eq(desk->unfits.count, 1);
	make_anew();
	lone_run_ms(&bench, client, 1000);
	end(asked.lent);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("looks in the simulator");
	TCase *t = tcase_create("at items");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		L07_who_may_watch_nothing_looks_for_an_item_each_second);
	tcase_add_test(t, L07_who_may_watch_nothing_looks_for_room_each_second);
	tcase_add_test(t,
		L07_who_may_watch_nothing_takes_the_lesser_priority_first);
	tcase_add_test(t,
		L07_who_may_watch_nothing_goes_by_no_listing_of_a_take_before);
	tcase_add_loop_test(t,
		S17_what_was_put_as_another_was_taken_is_before_what_is_due_later,
		0, 20 * 10);
	tcase_add_test(t, S17_what_was_listed_of_a_queue_before_is_not_gone_by);
	tcase_add_test(t, S25_L27_an_item_is_due_soon_after_the_clock_was_set);
	tcase_add_loop_test(t,
		L07_who_may_watch_nothing_looks_for_one_to_claim_each_second, 0,
		2);
	tcase_add_test(t,
		L07_who_may_watch_nothing_and_does_not_wait_is_told_what_there_is);
	tcase_add_test(t, L27_what_another_gave_back_just_now_is_there);
	tcase_add_loop_test(t,
		L27_what_is_mended_or_has_an_unfit_ones_name_is_had, 0, 2);
	tcase_add_test(t, L27_so_it_is_with_who_claims);
	suite_add_tcase(s, t);
	return unit_main(s);
}
