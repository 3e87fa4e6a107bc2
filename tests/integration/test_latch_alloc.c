/*
 * test_latch_alloc.c - each allocation of each call of a latch, and of an
 * observer, fails once (allocs.h): the call either reports this or does without
 * the memory, the latch leads in the end, and nothing is left behind.
 */
#include "allocs.h"
#include "inject.h"
#include "mutex_pair.h"

#include <kustos/election.h>
#include <kustos/participant.h>

#include <string.h>

#define T_MS 6000 /* what cannot be sent is retried after an eighth of this */

/* For calls that need a leader: "leader" leads before each, and "heir"
   waits. */
static struct kustos_latch *leader, *heir;

/* Without callbacks: each check of libcheck in one would allocate. */
static enum kustos_err make(struct kustos_client *owner, const char *id,
	int one_node, struct kustos_latch **out)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	enum kustos_err err;

	o.id = id;
	o.one_node = one_node;
	err = kustos_latch_create(owner, LINE, &o, out);
	if (err == KUSTOS_OK)
		err = kustos_latch_start(*out);
	return err;
}

static void set_up(void)
{
	inject_reset();
	pair_open(T_MS, 0);
}

static void tear_down(void)
{
	inject_reset();
	kustos_latch_destroy(leader);
	kustos_latch_destroy(heir);
	leader = heir = NULL;
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

static enum kustos_err lead(int one_node)
{
	struct kustos_latch *latch = NULL;
	enum kustos_err err = make(client, "me", one_node, &latch);

	if (err == KUSTOS_OK)
		err = kustos_latch_wait(latch, SOON, NULL);
	kustos_latch_destroy(latch);
	return err;
}

static enum kustos_err call_lead(void)
{
	return lead(0);
}

static enum kustos_err call_lead_one_node(void)
{
	return lead(1);
}

static enum kustos_err call_say(void)
{
	return kustos_latch_set_data(leader, "else", 4, SOON, NULL);
}

static void said(void *arg, enum kustos_err err)
{
	atomic_store((atomic_int *)arg, 1 + (int)err);
}

static enum kustos_err call_say_async(void)
{
	atomic_int ended = 0;
	int64_t end = test_now_ms() + PATIENCE_MS;
	enum kustos_err err = kustos_latch_set_data_async(leader, "else", 4,
		SOON, NULL, said, &ended);

	if (err != KUSTOS_OK)
		return err;
	while (atomic_load(&ended) == 0 && test_now_ms() < end)
		test_pause_1ms();
	allocs_expect(atomic_load(&ended) > 0);
	return (enum kustos_err)(atomic_load(&ended) - 1);
}

/* Hand back, without faults, even if the call has failed: once it has stopped
   leading, the other one is first. */
static enum kustos_err call_hand_over(void)
{
	enum kustos_err err = kustos_latch_hand_over(leader, "heir", SOON,
		NULL);

	allocs_disarm();
	ck_assert(err != KUSTOS_OK || !kustos_latch_leads(leader));
	test_eventually(kustos_latch_leads(leader) + kustos_latch_leads(heir) ==
			1,
		5000);
	line_wait(2);
	if (kustos_latch_leads(heir))
		check_err(kustos_latch_hand_over(heir, "leader", SOON, NULL),
			KUSTOS_OK);
	check_err(kustos_latch_wait(leader, SOON, NULL), KUSTOS_OK);
	return err;
}

static void told(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	if (err == KUSTOS_OK && first != NULL)
		atomic_store((atomic_int *)arg, 1);
}

/* What is there must be told, whichever allocation fails meanwhile. */
static enum kustos_err call_observe(void)
{
	struct kustos_observer *observer = NULL;
	atomic_int seen = 0;
	int64_t end = test_now_ms() + PATIENCE_MS;
	enum kustos_err err = kustos_observe(client, LINE, told, &seen,
		&observer);

	if (err != KUSTOS_OK)
		return err;
	while (atomic_load(&seen) == 0 && test_now_ms() < end)
		test_pause_1ms();
	allocs_expect(atomic_load(&seen) == 1);
	kustos_observer_destroy(observer);
	return err;
}

static const struct alloc_call calls[] = {
	{ "lead", call_lead, false },
	{ "lead, one node", call_lead_one_node, false },
	{ "say", call_say, true },
	{ "say, async", call_say_async, true },
	{ "hand over", call_hand_over, true },
	{ "observe", call_observe, true },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

static void line_up(const struct alloc_call *call)
{
	if (!call->full)
		return;
	if (leader == NULL) {
		check_err(make(client, "leader", 0, &leader), KUSTOS_OK);
		check_err(kustos_latch_wait(leader, SOON, NULL), KUSTOS_OK);
		check_err(make(other, "heir", 0, &heir), KUSTOS_OK);
	}
	line_wait(2);
}

static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)err;
	pair_flush();
	if (call->full)
		ck_assert_int_eq(kustos_latch_leads(leader), 1);
	else
		ck_assert_int_eq(line_count(), 0);
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	allocs_fail_each_of(client, &calls[_i], line_up, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
