/* lone_latch.c - a lone client with a latch that leads, and one that waits. */
#include "lone_latch.h"

#include "../unit/unit.h"

struct lone_latches latches;

struct kustos_latch *latches_begin(const char *id, kustos_latch_fn *lost)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *one;

	o.id = id;
	o.on_lost = lost;
	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, &o, &one),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(one), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 200);
	return one;
}

void latches_setup(void)
{
	lone_line_open(&ku_zk_sim);
	latches.leader = latches_begin("me", NULL);
	latches.heir = latches_begin("you", NULL);
	ck_assert_int_eq(kustos_latch_state(latches.leader),
		KUSTOS_LATCH_LEADS);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	latches.ends[0] = latches.ends[1] = -1;
}

void latches_teardown(void)
{
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	kustos_latch_destroy(latches.leader);
	kustos_latch_destroy(latches.heir);
	lone_run_ms(&lone.bench, lone.client, 200);
	lone_line_close();
}

void latches_ended(void *arg, enum kustos_err err)
{
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

void latches_hand_over(const char *id)
{
	ck_assert_int_eq(kustos_latch_hand_over_async(latches.leader, id,
				 KUSTOS_FOREVER, NULL, latches_ended,
				 &latches.ends[0]),
		KUSTOS_OK);
}

void latches_say(kustos_deadline deadline, int *end)
{
	ck_assert_int_eq(kustos_latch_set_data_async(latches.leader, "else", 4,
				 deadline, NULL, latches_ended, end),
		KUSTOS_OK);
}
