/*
 * test_beaten.c - a consumer to whose item others come first tries other items
 * than the first, and takes the first again when it is alone.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk.h"
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define ITEM QUEUE "/qn-"
#define ITEMS 1200
/* How long each message between a client and its server takes. */
#define WAY_MS 2
#define SOON_MS 1000

/* The consumer is beaten so often.  Then nobody disturbs it any more. */
#define BEATEN 9
#define TRIES (BEATEN + 12)
#define SEEDS 20

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, but for the rival */
static struct kustos_client *client;

/* What one consumer has tried, in one run. */
static struct {
	bool marks; /* the rival claims items, and does not take them */
	bool done[ITEMS];
	int count;
	int rank[TRIES]; /* how many items were there before each */
} tried;

static const char *path_of(int number)
{
	static char path[40];

	snprintf(path, sizeof(path), ITEM "%010d", number);
	return path;
}

/* Return the number of the item that this transaction is for, or -1. */
static int item_of(const struct ku_zk_request *request)
{
	size_t len = strlen(ITEM);

	if (request->kind != KU_ZK_MULTI)
		return -1;
	for (int i = 0; i < request->op_count; i++)
		if (strncmp(request->ops[i].path, ITEM, len) == 0)
			return atoi(request->ops[i].path + len);
	return -1;
}

static int rank_of(int number)
{
	int rank = 0;

	for (int i = 0; i < number; i++)
		rank += !tried.done[i] &&
			model_stat(bench.model, path_of(i), NULL);
	return rank;
}

/* The rival is faster by a moment: the item is gone, or has a marker. */
static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_result results[] = {
		{ .rc = KU_ZK_NODEEXISTS },
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
	};
	static const struct ku_zk_reply marked = { .rc = KU_ZK_NODEEXISTS,
		.len = -1,
		.results = results,
		.result_count = 2 };
	int number = item_of(request);

	if (number < 0 || tried.done[number])
		return ku_zk_sim.submit(zk, request, done, arg);
	ck_assert_int_lt(tried.count, TRIES);
	tried.rank[tried.count++] = rank_of(number);
	tried.done[number] = true;
	if (tried.count <= BEATEN && tried.marks)
		return lone_answer(zk, &marked, done, arg);
	if (tried.count <= BEATEN)
		ck_assert(model_delete(bench.model, path_of(number)));
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, WAY_MS);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, MARKS);
	for (int i = 0; i < ITEMS; i++)
		lone_make(&bench, raw, path_of(i));
}

static void teardown(void)
{
	lone_teardown(&bench, NULL);
}

static void begin(uint64_t seed)
{
	const struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	memset(tried.done, 0, sizeof(tried.done));
	tried.count = 0;
	client = lone_connected_with(&bench, &api, seed, &options);
}

static void run_until(const bool *over)
{
	for (int ms = 0; !*over; ms++) {
		ck_assert_int_lt(ms, SOON_MS);
		lone_run_ms(&bench, client, 1);
	}
}

/* The most ranks that are possible before each try. */
struct range {
	int tries[TRIES];
};

/* Check the tries of all runs: none was out of its range, and together they use
   all of it. */
static void check(const struct range *range, int ranks[SEEDS][TRIES])
{
	for (int i = 0; i < TRIES; i++) {
		int last = 0, most = range->tries[i];

		for (int k = 0; k < SEEDS; k++)
			if (ranks[k][i] > last)
				last = ranks[k][i];
		ck_assert_msg(last < most, "try %d: %d of %d", i, last, most);
		ck_assert_msg(last >= most / 2, "try %d: only %d of %d", i,
			last, most);
	}
}

/* A queue */

static void took(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_uint_eq(count, 1);
	kustos_item_free(items[0]);
	*(bool *)arg = true;
}

static void take_in_a_run(uint64_t seed)
{
	const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/receipts",
		.max_bytes = 1000 };
	const struct ku_poll_wish one = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	struct ku_queue *queue;

	begin(seed);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
	while (tried.count < TRIES) {
		bool over = false;

		ck_assert_int_eq(ku_queue_poll_async(queue, &one, took, &over),
			KUSTOS_OK);
		run_until(&over);
	}
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
}

START_TEST(who_is_beaten_takes_from_more_and_more_and_alone_the_first)
{
	static const struct range range = { { 1, 8, 16, 32, 64, 128, 256, 512,
		512, 512, 256, 128, 64, 32, 16, 8, 1, 1, 1, 1, 1 } };
	static int ranks[SEEDS][TRIES];

	for (int i = 0; i < SEEDS; i++) {
		take_in_a_run((uint64_t)i + 1);
		memcpy(ranks[i], tried.rank, sizeof(ranks[i]));
	}
	check(&range, ranks);
}
END_TEST

/* Claims */

struct loan {
	bool over;
	struct ku_lent *lent;
};

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	struct loan *loan = arg;

	ck_assert_int_eq(err, KUSTOS_OK);
	loan->lent = got;
	loan->over = true;
}

static void given(void *arg, enum kustos_err err)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	*(bool *)arg = true;
}

static void claim_one(struct ku_desk *desk)
{
	struct loan loan = { .over = false };
	bool over = false;

	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, &loan),
		KUSTOS_OK);
	run_until(&loan.over);
	ck_assert_int_eq(ku_lent_ack_async(loan.lent, KU_ACK_DELETE,
				 KUSTOS_FOREVER, NULL, given, &over),
		KUSTOS_OK);
	run_until(&over);
}

static void claim_in_a_run(uint64_t seed)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS };
	struct ku_desk *desk;

	begin(seed);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	while (tried.count < TRIES)
		claim_one(desk);
	ku_desk_destroy(desk);
	ck_assert(lone_close(&bench, client));
}

/* Others have deleted the items, or have marked them. */
START_TEST(who_is_beaten_claims_from_more_and_more_and_alone_the_first)
{
	static const struct range range = { { 1, 4, 10, 22, 46, 94, 129, 129,
		129, 129, 65, 33, 17, 9, 5, 3, 2, 1, 1, 1, 1 } };
	static int ranks[SEEDS][TRIES];

	tried.marks = _i == 1;
	for (int i = 0; i < SEEDS; i++) {
		claim_in_a_run((uint64_t)i + 1);
		memcpy(ranks[i], tried.rank, sizeof(ranks[i]));
	}
	check(&range, ranks);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("beaten consumers in the simulator");
	TCase *t = tcase_create("more and more");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		who_is_beaten_takes_from_more_and_more_and_alone_the_first);
	tcase_add_loop_test(t,
		who_is_beaten_claims_from_more_and_more_and_alone_the_first, 0,
		2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
