/*
 * test_denied.c - a caller that waits for something which the client may not
 * read or do gets an error, and does not wait for ever.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk.h"
#include "queue.h"
#include "vigil.h"

#include <string.h>

#define NODE "/node"
#define MARKS "/marks"
#define ITEM NODE "/qn-0000000000"

static struct bench bench;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
/* The children of this node may not be listed.  NULL: no transaction is
   allowed. */
static const char *denied;
static int end; /* -1: not yet */

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool no = denied == NULL ? request->kind == KU_ZK_MULTI
				 : request->kind == KU_ZK_CHILDREN &&
			strcmp(request->path, denied) == 0;

	if (no)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	struct ku_zk *raw = lone_setup(&bench, 0);

	end = -1;
	denied = NODE;
	api = ku_zk_sim;
	api.submit = submit;
	bench_create(&bench, raw, NODE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err)
{
	(void)arg;
	ck_assert_int_eq(end, -1);
	end = (int)err;
}

static void check_told(void)
{
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
}

static enum kustos_err judge(const void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
	return KUSTOS_EBUSY;
}

START_TEST(U09_who_waits_for_what_a_node_shows)
{
	const struct ku_vigil_wish wish = { .kind = KU_ZK_CHILDREN,
		.judge = judge };
	struct ku_vigil *vigil;

	ck_assert_int_eq(ku_vigil_create(client, NODE, &wish, &vigil),
		KUSTOS_OK);
	ck_assert_int_eq(ku_vigil_wait_async(vigil,
				 _i == 0 ? KUSTOS_NOW : KUSTOS_FOREVER, NULL,
				 ended, NULL),
		KUSTOS_OK);
	check_told();
	ku_vigil_destroy(vigil);
}
END_TEST

static void polled(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	ended(arg, err);
}

static const struct ku_queue_wish queue_wish = { .kind = KU_ITEM_SIMPLE,
	.receipts = "/receipts",
	.max_bytes = 1000 };

START_TEST(U09_who_waits_for_an_item_to_take)
{
	const struct ku_poll_wish one = { .max = 1,
		.deadline = _i % 2 == 0 ? KUSTOS_NOW : KUSTOS_FOREVER };
	struct ku_queue *queue;

	denied = _i < 2 ? NODE : NULL;
	ck_assert_int_eq(ku_queue_create(client, NODE, &queue_wish, &queue),
		KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(queue, &one, polled, NULL),
		KUSTOS_OK);
	check_told();
	ku_queue_destroy(queue);
}
END_TEST

START_TEST(U09_who_puts_an_item)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	struct ku_queue *queue;

	denied = NULL;
	ck_assert_int_eq(ku_queue_create(client, NODE, &queue_wish, &queue),
		KUSTOS_OK);
	ck_assert_int_eq(ku_queue_put_async(queue, &item,
				 _i == 0 ? KUSTOS_NOW : KUSTOS_FOREVER, NULL,
				 ended, NULL),
		KUSTOS_OK);
	check_told();
	ku_queue_destroy(queue);
}
END_TEST

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	ck_assert_ptr_null(got);
	ended(arg, err);
}

/* The client may not list the items, may not list the markers, or may not
   claim. */
START_TEST(U09_who_waits_for_an_item_to_claim)
{
	static const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = NODE,
		.marks = MARKS };
	struct ku_desk *desk;

	denied = _i < 2 ? NODE : _i < 4 ? MARKS : NULL;
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	ck_assert_int_eq(ku_desk_lend_async(desk,
				 _i % 2 == 0 ? KUSTOS_NOW : KUSTOS_FOREVER,
				 NULL, lent, NULL),
		KUSTOS_OK);
	check_told();
	ku_desk_destroy(desk);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("denied in the simulator");
	TCase *t = tcase_create("is told");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, U09_who_waits_for_what_a_node_shows, 0, 2);
	tcase_add_loop_test(t, U09_who_waits_for_an_item_to_take, 0, 4);
	tcase_add_loop_test(t, U09_who_puts_an_item, 0, 2);
	tcase_add_loop_test(t, U09_who_waits_for_an_item_to_claim, 0, 6);
	suite_add_tcase(s, t);
	return unit_main(s);
}
