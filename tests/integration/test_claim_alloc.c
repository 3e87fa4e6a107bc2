/*
 * test_claim_alloc.c - each allocation of each call of claims fails once
 * (allocs.h): the call either reports this or does without the memory, no item
 * is lost, and nothing is left behind.
 */
#include "allocs.h"
#include "claim_fixture.h"
#include "inject.h"

#include <stdatomic.h>
#include <string.h>

#define T_MS 9000

static struct raw *eye;

static void set_up(void)
{
	inject_reset();
	client = client_connected(fixture_address(), T_MS);
	claims = claims_new(client, QUEUE, NULL);
	eye = raw_open(fixture_address(), 60000);
	ck_assert_ptr_nonnull(eye);
}

static void tear_down(void)
{
	inject_reset();
	raw_close(eye);
	kustos_claims_destroy(claims);
	client_close(client);
}

/* From the creation of the object to the acknowledgement. */
static enum kustos_err call_ack(void)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *some = NULL;
	struct kustos_claim *claim = NULL;
	enum kustos_err err;

	o.deliveries = 10000;
	o.dead_letters = o.corrupt = DEAD;
	o.lock_path = LOCKS;
	err = kustos_claims_create(client, QUEUE, &o, &some);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_claim_next(some, SOON, NULL, &claim);
	kustos_claims_destroy(some);
	return err == KUSTOS_OK ? kustos_claim_ack(claim, SOON, NULL) : err;
}

static enum kustos_err call_requeue(void)
{
	struct kustos_claim *claim = NULL;
	enum kustos_err err = kustos_claim_next(claims, SOON, NULL, &claim);

	return err == KUSTOS_OK ? kustos_claim_requeue(claim, SOON, NULL) : err;
}

/* As claimed_wait(), but without checks, which allocate. */
static enum kustos_err wait_for(const struct claimed *claimed)
{
	while (__atomic_load_n(&claimed->calls, __ATOMIC_SEQ_CST) == 0)
		test_pause_1ms();
	return claimed->err;
}

static enum kustos_err call_async(void)
{
	struct claimed got = { 0 }, end = { 0 };
	enum kustos_err err = kustos_claim_next_async(claims, SOON, NULL,
		claim_told, &got);

	if (err == KUSTOS_OK)
		err = wait_for(&got);
	if (err == KUSTOS_OK)
		err = kustos_claim_ack_async(got.claim, KUSTOS_FOREVER, NULL,
			claim_ended, &end);
	return err == KUSTOS_OK && got.claim != NULL ? wait_for(&end) : err;
}

/* The item has been delivered as often as is allowed, so it is moved away and
   nobody gets it. */
static enum kustos_err call_dead(void)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *some = NULL;
	struct kustos_claim *claim = NULL;
	enum kustos_err err;

	o.deliveries = 1;
	o.dead_letters = DEAD;
	err = kustos_claims_create(client, QUEUE, &o, &some);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_claim_next(some, KUSTOS_NOW, NULL, &claim);
	kustos_claims_destroy(some);
	if (err == KUSTOS_OK)
		(void)kustos_claim_ack(claim, SOON, NULL);
	allocs_expect(err != KUSTOS_OK);
	return err == KUSTOS_EEMPTY ? KUSTOS_OK : err;
}

static atomic_int told;

static void unfit(void *arg, enum kustos_unfit why, int moved, const char *name)
{
	(void)arg;
	(void)why;
	(void)moved;
	(void)name;
	atomic_fetch_add(&told, 1);
}

/* Claim until the item that is there has been found unfit.  The claim ends when
   this has been told, or has not happened in time. */
static enum kustos_err call_unfit(void)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *some = NULL;
	struct claimed got = { 0 };

	atomic_store(&told, 0);
	o.deliveries = 1;
	o.dead_letters = DEAD;
	o.on_unfit = unfit;
	enum kustos_err err = kustos_claims_create(client, QUEUE, &o, &some);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_claim_next_async(some, KUSTOS_FOREVER, NULL, claim_told,
		&got);
	for (int ms = 0;
		err == KUSTOS_OK && ms < T_MS && atomic_load(&told) == 0 &&
		__atomic_load_n(&got.calls, __ATOMIC_SEQ_CST) == 0;
		ms++)
		test_pause_1ms();
	kustos_claims_destroy(some);
	if (err != KUSTOS_OK)
		return err;
	err = wait_for(&got);
	allocs_expect(err != KUSTOS_ECLOSED || atomic_load(&told) == 1);
	return err == KUSTOS_ECLOSED ? KUSTOS_OK : err;
}

struct worked { /* a consumer of an item that cannot be deleted */
	atomic_int calls, failed;
	struct kustos_claim *kept; /* from the second call */
};

static enum kustos_verdict work(void *arg, struct kustos_claim *claim)
{
	struct worked *worked = arg;

	if (atomic_load(&worked->calls) > 0) {
		worked->kept = claim;
		atomic_store(&worked->calls, 2);
		return KUSTOS_VERDICT_KEEP;
	}
	atomic_store(&worked->calls, 1);
	return KUSTOS_VERDICT_ACK;
}

static void failed(void *arg, enum kustos_err err, const char *name)
{
	struct worked *worked = arg;

	(void)err;
	if (name != NULL)
		atomic_fetch_add(&worked->failed, 1);
}

/* The failed end of the first call must be reported, whatever failed before
   it. */
static enum kustos_err call_consume(void)
{
	struct worked worked = { 0 };
	struct kustos_consumer *consumer = NULL;
	enum kustos_err err = kustos_claims_consume(claims, work, failed,
		&worked, &consumer);

	if (err != KUSTOS_OK)
		return err;
	for (int ms = 0; ms < T_MS &&
		(atomic_load(&worked.calls) < 2 ||
			atomic_load(&worked.failed) == 0);
		ms++)
		test_pause_1ms();
	kustos_consumer_stop(consumer);
	kustos_claim_release(worked.kept);
	allocs_expect(atomic_load(&worked.failed) == 1);
	return err;
}

enum what { ITEM, DELIVERED, PARENT, KEPT };

static const struct row {
	struct alloc_call call;
	enum what what; /* that is in the queue */
	bool stays;
} rows[] = {
	{ { "ack", call_ack, false }, ITEM, false },
	{ { "requeue", call_requeue, false }, ITEM, true },
	{ { "async", call_async, false }, ITEM, false },
	{ { "dead", call_dead, false }, DELIVERED, false },
	{ { "moved", call_unfit, false }, DELIVERED, false },
	{ { "left", call_unfit, false }, PARENT, true },
	{ { "consume", call_consume, false }, KEPT, true },
};
#define ROWS (int)(sizeof(rows) / sizeof(rows[0]))

static const struct row *row;

static int count(const char *path)
{
	struct raw_stat stat = { 0 };

	ck_assert(raw_do_exists(eye, path, &stat) != RAW_BROKEN);
	return stat.num_children;
}

static void fill(const struct alloc_call *call)
{
	char path[64];

	(void)call;
	if (count(QUEUE) > 0)
		return;
	(void)raw_do_create(eye, "/queues", "", RAW_PERSISTENT, NULL, 0);
	if (row->what == KEPT) /* a queue whose items nobody may delete */
		client_create_with(KUSTOS_PERM_READ | KUSTOS_PERM_CREATE, QUEUE,
			0);
	else
		(void)raw_do_create(eye, QUEUE, "", RAW_PERSISTENT, NULL, 0);
	ck_assert_int_eq(raw_do_create(eye, QUEUE "/qn-", "a", RAW_SEQUENTIAL,
				 path, sizeof(path)),
		0);
	if (row->what == DELIVERED)
		ck_assert_int_eq(raw_do_set(eye, path, "a", -1), 0);
	strcat(path, "/child");
	if (row->what == PARENT)
		ck_assert_int_eq(
			raw_do_create(eye, path, "", RAW_PERSISTENT, NULL, 0),
			0);
}

/* The item has been dealt with, or is still there. */
static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	test_eventually(count(LOCKS) == 0, 5000);
	ck_assert_int_eq(count(QUEUE), err == KUSTOS_OK && !row->stays ? 0 : 1);
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	row = &rows[_i];
	allocs_fail_each_of(client, &row->call, fill, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, ROWS);
	return fixture_main(s);
}
