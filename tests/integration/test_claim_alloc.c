/*
 * test_claim_alloc.c - every allocation of every call of claims fails once: the
 * call says so or does without, nothing is lost, and nothing is left behind.
 */
#include "allocs.h"
#include "claim_fixture.h"
#include "inject.h"

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

/* From the beginning to the end. */
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

/* As claimed_wait(), without a check. */
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
		err = kustos_claim_ack_async(got.claim, claim_ended, &end);
	return err == KUSTOS_OK && got.claim != NULL ? wait_for(&end) : err;
}

/* The item was delivered as often as it may be: it is moved, and nobody gets it. */
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

static const struct alloc_call calls[] = {
	{ "ack", call_ack, false },
	{ "requeue", call_requeue, false },
	{ "async", call_async, false },
	{ "dead", call_dead, false },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

static int count(const char *path)
{
	struct raw_stat stat = { 0 };

	ck_assert(raw_do_exists(eye, path, &stat) != RAW_BROKEN);
	return stat.num_children;
}

/* There is one item; if it is to be dead, somebody has had it before. */
static void fill(const struct alloc_call *call)
{
	char path[64];

	(void)raw_do_create(eye, "/queues", "", RAW_PERSISTENT, NULL, 0);
	(void)raw_do_create(eye, QUEUE, "", RAW_PERSISTENT, NULL, 0);
	if (count(QUEUE) > 0)
		return;
	ck_assert_int_eq(raw_do_create(eye, QUEUE "/qn-", "a", RAW_SEQUENTIAL,
				 path, sizeof(path)),
		0);
	if (call->fn == call_dead)
		ck_assert_int_eq(raw_do_set(eye, path, "a", -1), 0);
}

/* It is dealt with, or there. */
static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	bool gone = err == KUSTOS_OK && call->fn != call_requeue;

	test_eventually(count(LOCKS) == 0, 5000);
	ck_assert_int_eq(count(QUEUE), gone ? 0 : 1);
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	allocs_fail_each_of(client, &calls[_i], fill, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
