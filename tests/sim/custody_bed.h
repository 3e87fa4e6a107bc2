/*
 * custody_bed.h - a test bed for the items of a queue in custody: one item, and
 * one client with a desk.
 *
 * Anything that cannot be done fails the test.
 */
#ifndef SIM_CUSTODY_BED_H
#define SIM_CUSTODY_BED_H

#include "lone.h"

#include "../unit/unit.h"
#include "desk.h"

#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define FIRST "qn-0000000000"
#define ITEM QUEUE "/" FIRST
#define MARK MARKS "/" FIRST

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of the test's on top */
static struct kustos_client *client;
static struct ku_desk *desk;
static struct ku_lent *had[3]; /* what was lent, and not acknowledged */
static size_t had_count;
static int asked; /* result of the last claim; -1: none yet */
static int end;	  /* result of an ack; -1: not yet */

static inline void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

/* Make the folders, and the item "x".  A message takes "way_ms", or a random
   time if that is 0. */
static inline void make_item(int way_ms)
{
	had_count = 0;
	asked = end = -1;
	desk = NULL;
	raw = lone_setup(&bench, way_ms);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, MARKS);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
}

/* Connect the client, which sends its requests by "submit". */
static inline void open_client(int (*submit)(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg))
{
	api = ku_zk_sim;
	api.submit = submit;
	client = lone_connected(&bench, &api);
}

static inline void open_desk(const char *dead, int deliveries)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS,
		.dead = dead,
		.deliveries = deliveries };

	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
}

static inline void close_desk(void)
{
	ku_desk_destroy(desk);
	desk = NULL;
}

/* Give everything back, and check that nothing is left in the client. */
static inline void leave_nothing(void)
{
	while (had_count > 0)
		ku_lent_return(had[--had_count]);
	close_desk();
	run_ms(1000);
	ck_assert_ptr_null(client->witnesses.first);
	ck_assert_ptr_null(client->watches.entries);
	ck_assert_uint_eq(client->footprint.asked_bytes, 0);
}

static inline void close_all(void)
{
	leave_nothing();
	lone_teardown(&bench, client);
}

static inline void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	(void)arg;
	asked = (int)err;
	if (err != KUSTOS_OK)
		return;
	ck_assert_uint_lt(had_count, UNIT_COUNT(had));
	had[had_count++] = got;
}

static inline void ask(void)
{
	asked = -1;
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, NULL),
		KUSTOS_OK);
}

/* Return what was lent last, which is to be given back. */
static inline struct ku_lent *give(void)
{
	ck_assert_uint_gt(had_count, 0);
	return had[--had_count];
}

static inline void given(void *arg, enum kustos_err err)
{
	(void)arg;
	end = (int)err;
}

/* Acknowledge what was lent last, without waiting. */
static inline enum kustos_err ack(void)
{
	return ku_lent_ack_async(give(), KU_ACK_DELETE, KUSTOS_FOREVER, NULL,
		given, NULL);
}

#endif
