/*
 * test_desk.c - a server throttles requests of a desk, or answers too late, in
 * exactly the order that is dangerous for those who claim items.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk_impl.h"

#include <kustos/hold.h>
#include <stdio.h>
#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* DUE items, each due EACH_MS after the one before. */
#define DUE 50
#define EACH_MS 50
/* The size of an item that fills a transaction by itself. */
#define LARGE (KU_REQUEST_LIMIT - 100)

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct ku_desk *desk;

/* The next request of each of these kinds is throttled.  Transactions are
   counted. */
static struct {
	bool kinds[KU_ZK_UNWATCH + 1];
	bool always;	      /* all that follow are throttled as well */
	const char *children; /* listings of this node only */
	int transactions;
} server;

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool other = request->kind == KU_ZK_CHILDREN &&
		server.children != NULL &&
		strcmp(request->path, server.children) != 0;

	server.transactions += request->kind == KU_ZK_MULTI;
	if (!server.kinds[request->kind] || other)
		return ku_zk_sim.submit(zk, request, done, arg);
	server.kinds[request->kind] = server.always;
	return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
}

struct asked {	     /* a wait for an item */
	bool closes; /* it is to end as the desk is destroyed */
	bool ended;
	struct ku_lent *lent;
};

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	struct asked *asked = arg;

	ck_assert_int_eq(err, asked->closes ? KUSTOS_ECLOSED : KUSTOS_OK);
	asked->ended = true;
	asked->lent = got;
}

static void ask(struct asked *asked)
{
	*asked = (struct asked){ .lent = NULL };
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, asked),
		KUSTOS_OK);
}

/* Check that the item is held, and that its marker is there and of this
   session. */
static void check_lent(const struct asked *asked, const char *mark)
{
	struct kustos_stat stat;

	ck_assert(asked->ended);
	ck_assert_int_eq(kustos_hold_state(ku_lent_hold(asked->lent)),
		KUSTOS_HOLD_HELD);
	ck_assert(model_stat(bench.model, mark, &stat));
	ck_assert(stat.ephemeral_owner == client->session.id);
	ck_assert(stat.czxid == kustos_hold_token(ku_lent_hold(asked->lent)));
}

/* Destroy the desk, and then give the item back. */
static void end(struct asked *asked)
{
	ku_desk_destroy(desk);
	desk = NULL;
	ku_lent_return(asked->lent);
	lone_run_ms(&bench, client, 1000);
}

static void open_desk(enum ku_item_kind kind)
{
	const struct ku_desk_wish wish = { .kind = kind,
		.items = QUEUE,
		.marks = MARKS };

	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
}

static void setup(void)
{
	memset(&server, 0, sizeof(server));
	api = ku_zk_sim;
	api.submit = submit_it;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

/* An item is given back and claimed again.  The server throttles the deletion
   of its marker, and the listing that would show the marker.  So the new claim
   finds the old marker, of our session and with our id.  The claim's answer is
   lost with the connection, and the client looks at the marker before it is
   deleted after all. */
static void claim_behind_the_marker_of_another(const char *data)
{
	const char *mark = MARKS "/qn-0000000000";
	struct asked asked;

	bench_create(&bench, raw, QUEUE "/qn-0000000000", data,
		KU_ZK_PERSISTENT);
	open_desk(KU_ITEM_SIMPLE);
	ask(&asked);
	lone_run_ms(&bench, client, 1000);
	check_lent(&asked, mark);
	ck_assert_int_eq(server.transactions, 1);

	server.children = MARKS;
	server.kinds[KU_ZK_CHILDREN] = server.kinds[KU_ZK_DELETE] = true;
	ku_lent_return(asked.lent);
	ask(&asked);
	for (int ms = 0; server.transactions == 1; ms++) {
		ck_assert_int_lt(ms, 10 * WAY_MS);
		lone_run_ms(&bench, client, 1);
	}
	lone_run_ms(&bench, client, WAY_MS + WAY_MS / 2);
	ck_assert(!asked.ended);
	model_cut(bench.model, LONE_MACHINE, false);
	lone_run_ms(&bench, client, 5000);
	check_lent(&asked, mark);
	end(&asked);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}

START_TEST(S16_the_marker_of_a_claim_before_is_not_that_of_the_next)
{
	claim_behind_the_marker_of_another("x");
}
END_TEST

/* The same with an item that is too large to be written beside its marker. */
START_TEST(S16_nor_is_that_of_a_large_item)
{
	static char data[LARGE + 1];

	memset(data, 'x', LARGE);
	claim_behind_the_marker_of_another(data);
}
END_TEST

/* A claim is done, and its answer is lost with the connection. */
START_TEST(P10_a_marker_that_is_found_to_be_ours_is_counted)
{
	const char *mark = MARKS "/qn-0000000000";
	struct asked asked;

	bench_create(&bench, raw, QUEUE "/qn-0000000000", "x",
		KU_ZK_PERSISTENT);
	open_desk(KU_ITEM_SIMPLE);
	ask(&asked);
	for (int ms = 0; server.transactions == 0; ms++) {
		ck_assert_int_lt(ms, 10 * WAY_MS);
		lone_run_ms(&bench, client, 1);
	}
	lone_run_ms(&bench, client, WAY_MS + WAY_MS / 2);
	ck_assert(!asked.ended);
	model_cut(bench.model, LONE_MACHINE, false);
	lone_run_ms(&bench, client, 1000);
	check_lent(&asked, mark);
	ck_assert_int_eq(server.transactions, 1);
	ck_assert(ku_footprint_czxid(&client->footprint, mark) ==
		kustos_hold_token(ku_lent_hold(asked.lent)));
	end(&asked);
	ck_assert_uint_eq(client->footprint.ephemeral_bytes, 0);
	ck_assert_uint_eq(client->footprint.asked_bytes, 0);
}
END_TEST

/* Have the rival create or delete an item; do not wait for that. */
static void send(enum ku_zk_kind kind, const char *path)
{
	static const char frame[] = "\0\1\0\1\1\0\0\0\1a\2";
	const struct ku_zk_request request = { .kind = kind,
		.path = path,
		.data = frame,
		.len = sizeof(frame) - 1 };

	lone_send(&bench, raw, &request);
}

/* Have the rival put an item that is due in "in_ms".  Its path is stored in
   "path". */
static void put_due(int in_ms, int number, char path[64])
{
	snprintf(path, 64, QUEUE "/queue-|%llX|%010d",
		(unsigned long long)(bench.sched.now_ns / KU_NS_PER_MS + in_ms),
		number);
	send(KU_ZK_CREATE, path);
}

/* Many items are due far later.  One that is due is put, and is gone after it
   was listed.  Its read is throttled while the next listing, which shows only
   the others, is under way.  Then another is put that is due, and somebody
   asks. */
START_TEST(L27_a_rest_is_over_before_the_next_is_due)
{
	struct asked asked[3];
	char path[64];

	for (int i = 0; i < KU_OTHERS_FROM; i++)
		put_due(40000, i, path);
	open_desk(KU_ITEM_DELAY);
	ask(&asked[0]);
	ask(&asked[1]);
	lone_run_ms(&bench, client, 1000);
	ck_assert_uint_eq(ku_head_count(&desk->head), KU_OTHERS_FROM);

	server.kinds[KU_ZK_GET] = true;
	put_due(0, 100, path);
	lone_run_ms(&bench, client, 3 * WAY_MS);
	send(KU_ZK_DELETE, path);
	lone_run_ms(&bench, client, 4 * WAY_MS + WAY_MS / 2);
	ck_assert(!server.kinds[KU_ZK_GET]);
	ck_assert(desk->resting);
	ck_assert_uint_eq(ku_head_count(&desk->head), KU_OTHERS_FROM);
	put_due(0, 101, path);
	lone_run_ms(&bench, client, 2 * WAY_MS + WAY_MS / 2);
	ck_assert(desk->resting);
	ask(&asked[2]);
	lone_run_ms(&bench, client, 1000);
	ck_assert(asked[0].ended);
	ck_assert_str_eq(ku_lent_item(asked[0].lent)->name, ku_path_leaf(path));
	asked[1].closes = asked[2].closes = true;
	end(&asked[0]);
}
END_TEST

/* One item after the other becomes due, and each read of one is throttled. */
START_TEST(L28_what_is_due_soon_cuts_no_rest_short)
{
	static struct asked asked[DUE];
	char path[64];

	open_desk(KU_ITEM_DELAY);
	for (int i = 0; i < DUE; i++)
		ask(&asked[i]);
	lone_run_ms(&bench, client, 1000);
	server.kinds[KU_ZK_GET] = server.always = true;
	for (int i = 0; i < DUE; i++)
		put_due(100 + EACH_MS * i, i, path);
	lone_run_ms(&bench, client, 100);
	uint64_t before = desk->items.asked;
	lone_run_ms(&bench, client, EACH_MS * DUE);
	ck_assert_uint_ge(desk->items.asked, before + 5);
	ck_assert_uint_le(desk->items.asked, before + EACH_MS * DUE / 100);
	server.kinds[KU_ZK_GET] = false;
	lone_run_ms(&bench, client, 1000);
	for (int i = 0; i < DUE; i++) {
		ck_assert(asked[i].ended);
		ku_lent_return(asked[i].lent);
	}
	ku_desk_destroy(desk);
	lone_run_ms(&bench, client, 1000);
}
END_TEST

/* A wall clock that is more than an hour ahead of the others. */
static int64_t wall_ahead(void *arg)
{
	return bench.sched.clock.wall(arg) + 3601 * KU_NS_PER_S;
}

/* No event tells that the clock was set. */
START_TEST(S25_L27_an_item_is_due_a_while_after_the_clock_was_set)
{
	struct asked asked;
	char path[64];

	put_due(3600000, 0, path);
	open_desk(KU_ITEM_DELAY);
	ask(&asked);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!asked.ended);
	client->env.clock.wall = wall_ahead;
	lone_run_ms(&bench, client, 61000);
	ck_assert(asked.ended);
	end(&asked);
}
END_TEST

/* There are two items: one is claimed by another client, and one is due far
   later.  The first is given back, which does not change the list of items. */
START_TEST(L27_what_is_given_back_does_not_wait_for_what_is_due_later)
{
	struct asked asked;
	char path[64], later[64], mark[64];

	put_due(0, 0, path);
	put_due(40000, 1, later);
	snprintf(mark, sizeof(mark), MARKS "/%s", ku_path_leaf(path));
	bench_create(&bench, raw, mark, "", KU_ZK_EPHEMERAL);
	open_desk(KU_ITEM_DELAY);
	ask(&asked);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!asked.ended);
	bench_delete(&bench, raw, mark, -1);
	lone_run_ms(&bench, client, 1000);
	check_lent(&asked, mark);
	end(&asked);
}
END_TEST

/* An item whose data is no frame is to be moved, but gets a child before. */
START_TEST(L27_what_was_to_be_moved_and_has_a_child_holds_nobody_up)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_DELAY,
		.items = QUEUE,
		.marks = MARKS,
		.corrupt = "/corrupt" };
	struct bench_reply reply;
	struct asked asked;
	char path[64], child[80];

	put_due(0, 0, path);
	lone_run_ms(&bench, client, 100);
	bench_set(&bench, raw, path, "x", -1);
	snprintf(child, sizeof(child), "%s/child", path);
	bench_create(&bench, raw, "/corrupt", "", KU_ZK_PERSISTENT);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	ask(&asked);
	/* This is time for the listings, and for half of the read.  The server
	   has then read the item, and the child is made. */
	lone_run_ms(&bench, client, 2 * WAY_MS + WAY_MS / 2);
	ck_assert_int_eq(server.transactions, 0);
	send(KU_ZK_CREATE, child);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(server.transactions, 1);
	reply = bench_read(&bench, raw, KU_ZK_EXISTS, path, false);
	ck_assert_int_eq(reply.stat.num_children, 1);
	ck_assert(!asked.ended);
	put_due(0, 1, path);
	lone_run_ms(&bench, client, 1000);
	ck_assert(asked.ended);
	end(&asked);
}
END_TEST

static void tried(void *arg, enum kustos_err err, struct ku_lent *got)
{
	struct asked *asked = arg;

	ck_assert_int_eq(err,
		got != NULL			  ? KUSTOS_OK
			: server.kinds[KU_ZK_GET] ? KUSTOS_EDISCONNECTED
						  : KUSTOS_EEMPTY);
	asked->ended = true;
	asked->lent = got;
}

/* Try to claim an item.  Returns NULL if there is none. */
static struct ku_lent *try_it(void)
{
	struct asked asked = { .lent = NULL };

	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_NOW, NULL, tried, &asked),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert(asked.ended);
	return asked.lent;
}

/* The last listing of the markers still had ours. */
START_TEST(L27_what_we_have_given_back_is_there_at_once)
{
	bench_create(&bench, raw, QUEUE "/qn-0000000000", "x",
		KU_ZK_PERSISTENT);
	open_desk(KU_ITEM_SIMPLE);
	struct ku_lent *got = try_it();
	ck_assert_ptr_nonnull(got);
	ck_assert_ptr_null(try_it());
	ku_lent_return(got);
	got = try_it();
	ck_assert_ptr_nonnull(got);
	ku_desk_destroy(desk);
	ku_lent_return(got);
}
END_TEST

/* There is a connection, but the server throttles all reads. */
START_TEST(L20_who_does_not_wait_waits_for_no_server)
{
	bench_create(&bench, raw, QUEUE "/qn-0000000000", "x",
		KU_ZK_PERSISTENT);
	open_desk(KU_ITEM_SIMPLE);
	server.kinds[KU_ZK_GET] = server.always = true;
	ck_assert_ptr_null(try_it());
	server.kinds[KU_ZK_GET] = false;
	struct ku_lent *got = try_it();
	ck_assert_ptr_nonnull(got);
	ku_desk_destroy(desk);
	ku_lent_return(got);
}
END_TEST

/* An item cannot be claimed while it has a child.  The child goes, which does
   not change the list of items; and nothing is put meanwhile. */
START_TEST(L27_what_is_mended_is_had_in_a_while)
{
	const char *item = QUEUE "/qn-0000000000";
	struct asked asked;

	bench_create(&bench, raw, item, "x", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, QUEUE "/qn-0000000000/child", "",
		KU_ZK_PERSISTENT);
	open_desk(KU_ITEM_SIMPLE);
	ask(&asked);
	lone_run_ms(&bench, client, 1000);
	uint64_t before = desk->items.asked;
	lone_run_ms(&bench, client, 10 * KU_UNFIT_AGAIN_MS);
	ck_assert_uint_le(desk->items.asked, before + 10);
	ck_assert(!asked.ended);
	lone_run_until_read(&bench, client, &desk->items);
	bench_delete(&bench, raw, QUEUE "/qn-0000000000/child", -1);
	lone_run_ms(&bench, client, KU_UNFIT_AGAIN_MS);
	check_lent(&asked, MARKS "/qn-0000000000");
	end(&asked);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a desk in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		S16_the_marker_of_a_claim_before_is_not_that_of_the_next);
	tcase_add_test(t, S16_nor_is_that_of_a_large_item);
	tcase_add_test(t, P10_a_marker_that_is_found_to_be_ours_is_counted);
	tcase_add_test(t, L27_a_rest_is_over_before_the_next_is_due);
	tcase_add_test(t, L28_what_is_due_soon_cuts_no_rest_short);
	tcase_add_test(t,
		S25_L27_an_item_is_due_a_while_after_the_clock_was_set);
	tcase_add_test(t,
		L27_what_is_given_back_does_not_wait_for_what_is_due_later);
	tcase_add_test(t,
		L27_what_was_to_be_moved_and_has_a_child_holds_nobody_up);
	tcase_add_test(t, L27_what_we_have_given_back_is_there_at_once);
	tcase_add_test(t, L20_who_does_not_wait_waits_for_no_server);
	tcase_add_test(t, L27_what_is_mended_is_had_in_a_while);
	suite_add_tcase(s, t);
	return unit_main(s);
}
