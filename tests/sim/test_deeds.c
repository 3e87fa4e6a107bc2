/*
 * test_deeds.c - several transactions of a queue are under way, and one is
 * refused or lost, or somebody else has written to their receipt or deleted it.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "queue.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "/q"
#define FOLDER "/q-receipts"
/* Two items of this size need two transactions. */
#define LARGE (200 * 1024)
#define FEW 3
/* The number of puts.  Those behind the first four go in one transaction. */
#define MAX 6

enum fate { NORMAL, LOST, UNHEARD, DENIED, PUT_OFF };

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	enum fate fates[MAX + 1]; /* of transactions, counted from 1 */
	enum fate fences;	  /* of the fences, which use up versions */
	bool gone;		  /* the receipt is gone when it is read */
	bool anew;		  /* and another is in its place */
	int transactions, fence_count, reads;
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static enum kustos_err ends[MAX];

static void delete_receipt(const char *path)
{
	const struct ku_zk_request request = { .kind = KU_ZK_DELETE,
		.path = path,
		.version = -1 };

	lone_send(&bench, raw, &request);
}

static void make_receipt(const char *path)
{
	const struct ku_zk_request request = { .kind = KU_ZK_CREATE,
		.path = path,
		.data = "",
		.mode = KU_ZK_PERSISTENT };

	lone_send(&bench, raw, &request);
}

static int submit_to(enum fate fate, struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	/* The results of a transaction whose receipt is gone. */
	static const struct ku_zk_result results[] = {
		{ .rc = KU_ZK_NOAUTH },
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
	};
	static const struct ku_zk_reply denied = { .rc = KU_ZK_NOAUTH,
		.len = -1,
		.results = results,
		.result_count = 2 };

	switch (fate) {
	case LOST: /* the transaction is not done, either */
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	case UNHEARD:
		return lone_lose(zk, request, done, arg);
	case DENIED:
		return lone_answer(zk, &denied, done, arg);
	case PUT_OFF:
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	case NORMAL:
		break;
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool read = request->kind == KU_ZK_GET &&
		strncmp(request->path, FOLDER "/", strlen(FOLDER "/")) == 0;
	enum fate fate = NORMAL;

	if (request->kind == KU_ZK_MULTI &&
		request->ops[request->op_count - 1].kind == KU_ZK_SET) {
		trouble.fence_count++;
		fate = trouble.fences;
	} else if (request->kind == KU_ZK_MULTI) {
		if (++trouble.transactions <= MAX)
			fate = trouble.fates[trouble.transactions];
	}
	trouble.reads += read;
	if (read && trouble.gone)
		delete_receipt(request->path);
	if (read && trouble.anew)
		make_receipt(request->path);
	return submit_to(fate, zk, request, done, arg);
}

static void setup(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = FOLDER,
		.max_bytes = 10 * LARGE };

	memset(&trouble, 0, sizeof(trouble));
	for (int i = 0; i < MAX; i++)
		ends[i] = KUSTOS_ETIMEDOUT;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 5);
	lone_make(&bench, raw, FOLDER);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void teardown(void)
{
	ku_queue_destroy(queue);
	lone_teardown(&bench, client);
}

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static void put_until(int which, size_t len, kustos_deadline deadline)
{
	static char data[LARGE];
	const struct kustos_new_item item = { .data = data, .len = len };

	ck_assert_int_eq(ku_queue_put_async(queue, &item, deadline, NULL,
				 was_put, &ends[which]),
		KUSTOS_OK);
}

static void put_bytes(int which, size_t len)
{
	put_until(which, len, KUSTOS_FOREVER);
}

static void put(int which)
{
	put_bytes(which, LARGE);
}

static void put_few(void)
{
	for (int i = 0; i < FEW; i++)
		put(i);
}

static void check_put(int items)
{
	for (int i = 0; i < items; i++)
		ck_assert_int_eq(ends[i], KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), items);
}

/* Return the path of the only receipt. */
static const char *receipt_path(void)
{
	static char path[160];
	struct bench_reply there = bench_read(&bench, raw, KU_ZK_CHILDREN,
		FOLDER, false);

	ck_assert_int_eq(there.name_count, 1);
	snprintf(path, sizeof(path), FOLDER "/%s", there.names[0]);
	return path;
}

/* The queue's node has to be made first.  So all transactions are refused,
   which the client expects. */
START_TEST(L28_those_that_are_refused_together_ask_nothing)
{
	put_few();
	lone_run_ms(&bench, client, 1000);
	check_put(FEW);
	ck_assert_int_eq(trouble.transactions, 2 * FEW);
	ck_assert_int_eq(trouble.reads, 0);
}
END_TEST

/* The refusal of a transaction does not tell what became of the one before
   it. */
START_TEST(S15_what_was_lost_is_asked_for_though_the_next_was_refused)
{
	lone_make(&bench, raw, QUEUE);
	trouble.fates[1] = LOST;
	put_few();
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(trouble.reads, 1);
	check_put(FEW);
}
END_TEST

/* What became of the transaction cannot be known until there is a
   connection. */
START_TEST(L20_who_does_not_wait_is_told_that_an_answer_was_lost)
{
	lone_make(&bench, raw, QUEUE);
	trouble.fates[1] = LOST;
	put_until(0, LARGE, KUSTOS_NOW);
	put(1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[0], KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
}
END_TEST

/* Transactions are refused because of that, until the client knows why. */
START_TEST(S15_a_receipt_that_another_writes_to_is_exchanged)
{
	lone_make(&bench, raw, QUEUE);
	put(0);
	lone_run_ms(&bench, client, 1000);
	const char *path = receipt_path();
	ck_assert_int_eq(bench_set(&bench, raw, path, "another's", -1).rc,
		KU_ZK_OK);
	put(1);
	lone_run_ms(&bench, client, 1000);
	check_put(2);
	ck_assert_int_eq(trouble.transactions, 3);
	ck_assert(!model_stat(bench.model, path, NULL));
}
END_TEST

/* The second transaction waits for room on the wire when the first is refused
   because the receipt is gone. */
START_TEST(S15_what_waits_is_not_sent_with_a_receipt_that_is_gone)
{
	lone_make(&bench, raw, QUEUE);
	put(0);
	lone_run_ms(&bench, client, 1000);
	delete_receipt(receipt_path());
	client->env.in_flight = 1;
	put(1);
	put(2);
	lone_run_ms(&bench, client, 1000);
	check_put(3);
	ck_assert_int_eq(trouble.transactions, 4);
}
END_TEST

/* The transaction was not done, but nothing shows that. */
START_TEST(S15_a_receipt_that_is_gone_when_it_is_asked_tells_nothing)
{
	lone_make(&bench, raw, QUEUE);
	trouble.fates[1] = LOST;
	trouble.gone = true;
	put(0);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[0], KUSTOS_EUNKNOWN);
	ck_assert_int_eq(trouble.reads, 1);
	trouble.gone = false;
	put(1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
	ck_assert_int_eq(trouble.reads, 1);
}
END_TEST

/* The transaction was done, but another node in the receipt's place does not
   show that. */
START_TEST(S15_a_receipt_that_another_has_made_anew_tells_nothing)
{
	lone_make(&bench, raw, QUEUE);
	trouble.fates[1] = UNHEARD;
	trouble.gone = trouble.anew = true;
	put(0);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[0], KUSTOS_EUNKNOWN);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 1);
	ck_assert_int_eq(model_child_count(bench.model, FOLDER), 0);
}
END_TEST

/* None of the items in the transaction is to blame, so all their puts fail. */
START_TEST(U09_who_may_not_write_to_its_receipt_is_told)
{
	lone_make(&bench, raw, QUEUE);
	trouble.fates[5] = DENIED;
	for (int i = 0; i < MAX; i++)
		put_bytes(i, 1);
	lone_run_ms(&bench, client, 1000);
	check_put(4);
	ck_assert_int_eq(ends[4], KUSTOS_ENOAUTH);
	ck_assert_int_eq(ends[5], KUSTOS_ENOAUTH);
	ck_assert_int_eq(trouble.transactions, 5);
}
END_TEST

/* Transactions sent behind the denied one are sent again, and must come before
   later puts. */
START_TEST(what_stands_behind_one_that_is_denied_keeps_its_order)
{
	char path[] = QUEUE "/qn-0000000000";
	size_t len = 0;

	lone_make(&bench, raw, QUEUE);
	trouble.fates[1] = DENIED;
	for (int i = 0; i < MAX; i++)
		put_bytes(i, LARGE - (size_t)i);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[0], KUSTOS_ENOAUTH);
	for (int i = 1; i < MAX; i++) {
		path[sizeof(path) - 2] = (char)('0' + i - 1);
		ck_assert_ptr_nonnull(model_bytes(bench.model, path, &len));
		ck_assert_uint_eq(len, LARGE - (size_t)i);
	}
}
END_TEST

START_TEST(L28_versions_whose_use_is_put_off_are_used_up_in_a_while)
{
	lone_make(&bench, raw, QUEUE);
	trouble.fates[1] = LOST;
	trouble.fences = PUT_OFF;
	put(0);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[0], KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(trouble.fence_count, 5);
	ck_assert_int_le(trouble.fence_count, 11);
	trouble.fences = NORMAL;
	lone_run_ms(&bench, client, 300);
	check_put(1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("transactions of a queue in the simulator");
	TCase *t = tcase_create("refused, lost");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L28_those_that_are_refused_together_ask_nothing);
	tcase_add_test(t,
		S15_what_was_lost_is_asked_for_though_the_next_was_refused);
	tcase_add_test(t,
		L20_who_does_not_wait_is_told_that_an_answer_was_lost);
	tcase_add_test(t, S15_a_receipt_that_another_writes_to_is_exchanged);
	tcase_add_test(t,
		S15_what_waits_is_not_sent_with_a_receipt_that_is_gone);
	tcase_add_test(t,
		S15_a_receipt_that_is_gone_when_it_is_asked_tells_nothing);
	tcase_add_test(t,
		S15_a_receipt_that_another_has_made_anew_tells_nothing);
	tcase_add_test(t, U09_who_may_not_write_to_its_receipt_is_told);
	tcase_add_test(t,
		what_stands_behind_one_that_is_denied_keeps_its_order);
	tcase_add_test(t,
		L28_versions_whose_use_is_put_off_are_used_up_in_a_while);
	suite_add_tcase(s, t);
	return unit_main(s);
}
