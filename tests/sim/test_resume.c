/*
 * test_resume.c - a latch takes over the node of a former process of the same
 * session, and something happens just then.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/election.h>
#include <string.h>

#define LINE "/line"
#define NODE LINE "/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-"
/* The time after which it tries again when it was refused. */
#define AGAIN_MS 3000
/* Which allocation fails while it handles an answer, and after how many
   requests that it sends there: more than there are of either. */
#define REQUESTS 3
#define ALLOCATIONS (20 * REQUESTS)
/* Which allocation fails as it begins: more than there are. */
#define BEGINNING 5
/* The time before it leaves a connection that does not answer. */
#define WRITE_MS 200

static struct bench bench;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_latch *latch;
static char left[80], last[80]; /* the nodes of the former process */
static char node[80];		/* node of the term that was told last */
static char throttled[80];	/* reads of this node are refused for now */
static char lost[80]; /* path of the creation that was lost; "-": lose the next */

static struct {
	bool refuses; /* refuse requests of "kind" */
	int rc;	      /* with this error; 0: not authorized */
	enum ku_zk_kind kind;
	bool withholds; /* withhold the answer to a write */
	int memory;	/* so many allocations succeed at that answer, once */
	int after;	/* so many requests were sent; -1: all succeed */
	bool inside;	/* the client is handling that answer */
	ku_zk_done_fn *done;
	void *arg;
} between;

static void give_memory(void)
{
	if (between.inside && between.after-- == 0)
		fault_after(between.memory);
}

static void was_answered(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	between.inside = true;
	give_memory();
	between.done(between.arg, reply);
	(void)fault_end();
	between.inside = false;
	between.after = -1;
}

static int submit_as_it_is(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	const char *path = between.kind == KU_ZK_GET ? last : LINE;
	bool read = between.after >= 0 && request->kind == between.kind &&
		!request->watch && strcmp(request->path, path) == 0;
	bool written = between.withholds && request->kind == KU_ZK_SET;

	if (request->kind == KU_ZK_CREATE && strcmp(lost, "-") == 0) {
		strcpy(lost, request->path);
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	}
	if (request->kind == KU_ZK_GET && !request->watch && throttled[0] &&
		strcmp(request->path, throttled) == 0)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (between.refuses && request->kind == between.kind)
		return lone_refuse(zk,
			between.rc != 0 ? between.rc : KU_ZK_NOAUTH, done, arg);
	if (!read && !written)
		return ku_zk_sim.submit(zk, request, done, arg);
	between.done = done;
	between.arg = arg;
	return read ? ku_zk_sim.submit(zk, request, was_answered, NULL)
		    : KU_ZK_OK;
}

/* While the model works, memory is not short. */
static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	(void)fault_end();
	int rc = submit_as_it_is(zk, request, done, arg);

	give_memory();
	return rc;
}

static void note_gain(void *arg, struct kustos_latch *one,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)one;
	strcpy(node, kustos_hold_path(hold));
}

/* Make a node of the former process that says "data". */
static void leave(struct ku_zk *former, const char *data)
{
	struct bench_reply made = bench_create(&bench, former, NODE, data,
		KU_ZK_EPHEMERAL_SEQUENTIAL);

	ck_assert_int_eq(made.rc, KU_ZK_OK);
	if (left[0] == '\0')
		strcpy(left, made.path);
	strcpy(last, made.path);
}

/* The former process has left a node that says "me", and two that say "other"
   if that is not NULL.  Resume its session. */
static void come_again(const char *other)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct ku_zk *raw = lone_setup(&bench, 0);
	struct ku_zk *former = bench_open(&bench, -1, LONE_TIMEOUT_MS);
	struct ku_zk_session session;
	struct kustos_ticket ticket;

	bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT);
	leave(former, "me");
	for (int i = 0; i < 2 && other != NULL; i++)
		leave(former, other);
	ku_zk_sim.session(former, &session);
	ticket.session_id = session.id;
	memcpy(ticket.password, session.password, sizeof(ticket.password));
	model_crash(bench.model, LONE_MACHINE);
	api = ku_zk_sim;
	api.submit = submit_it;
	options.resume = &ticket;
	client = lone_connected_with(&bench, &api, 1, &options);
	ck_assert(client->session.id == ticket.session_id);
}

static void make(bool cautious)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.id = "me";
	o.resume = 1;
	o.cautious = cautious;
	o.on_gained = note_gain;
	ck_assert_int_eq(kustos_latch_create(client, LINE, &o, &latch),
		KUSTOS_OK);
}

static void resume(bool cautious)
{
	make(cautious);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
}

static void setup(void)
{
	memset(&between, 0, sizeof(between));
	between.after = -1;
	left[0] = last[0] = node[0] = lost[0] = throttled[0] = '\0';
}

static void teardown(void)
{
	kustos_latch_destroy(latch);
	lone_teardown(&bench, client);
}

/* Check that the latch leads, and that there are "count" nodes. */
static void check_leads(int count)
{
	ck_assert(kustos_latch_leads(latch));
	ck_assert_int_eq(model_child_count(bench.model, LINE), count);
}

START_TEST(an_id_that_begins_like_ours_is_anothers)
{
	come_again("mee");
	resume(false);
	lone_run_ms(&bench, client, 1000);
	check_leads(3);
	ck_assert_str_eq(node, left);
}
END_TEST

/* Without its data nothing shows that the node was this latch's: another part
   of the former process may have made it. */
START_TEST(U09_a_node_that_may_not_be_read_is_not_taken_over)
{
	come_again(NULL);
	between.refuses = true;
	between.kind = KU_ZK_GET;
	resume(false);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!kustos_latch_leads(latch));
	ck_assert_int_eq(model_child_count(bench.model, LINE), 2);
	between.refuses = false;
}
END_TEST

/* The answer to the write into its node is lost.  The client reads the node
   when the term is over, and before the program is told so. */
START_TEST(a_node_that_was_not_written_into_is_given_up_once)
{
	const struct ku_zk_reply loss = { .rc = KU_ZK_CONNECTIONLOSS,
		.len = -1 };

	between.withholds = true;
	come_again(NULL);
	resume(true);
	lone_run_ms(&bench, client, WRITE_MS);
	check_leads(1);
	ck_assert_str_eq(node, left);
	ck_assert_ptr_nonnull(between.done);
	model_cut(bench.model, LONE_MACHINE, true);
	between.done(between.arg, &loss);
	between.refuses = true;
	between.kind = KU_ZK_SET;
	bench_run_ms(&bench, WRITE_MS);
	ck_assert(!kustos_latch_leads(latch));
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	between.refuses = false;
	lone_run_ms(&bench, client, 1000);
	check_leads(1);
	ck_assert_str_ne(node, left);
}
END_TEST

START_TEST(a_second_start_does_not_look_for_its_node_again)
{
	between.refuses = true;
	between.kind = KU_ZK_CHILDREN;
	come_again(NULL);
	resume(false);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(kustos_latch_error(latch), KUSTOS_ENOAUTH);
	between.refuses = false;
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
	lone_run_ms(&bench, client, AGAIN_MS);
	check_leads(1);
	ck_assert_str_eq(node, left);
}
END_TEST

START_TEST(without_a_line_it_stands_in_a_new_one)
{
	come_again(NULL);
	ck_assert(model_delete(bench.model, LINE));
	resume(false);
	lone_run_ms(&bench, client, AGAIN_MS);
	check_leads(1);
	ck_assert_str_ne(node, left);
}
END_TEST

/* The other node is this client's own, and was not left by the former
   process. */
START_TEST(S03_another_of_ours_that_says_the_same_is_left_alone)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *another;

	come_again(NULL);
	o.id = "me";
	ck_assert_int_eq(kustos_latch_create(client, LINE, &o, &another),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(another), KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	resume(false);
	lone_run_ms(&bench, client, 1000);
	check_leads(2);
	ck_assert_str_eq(node, left);
	kustos_latch_destroy(another);
}
END_TEST

static void ignore(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
}

/* Start another latch with the same id.  Its first creation is looked for in
   vain, and is done when it has made another node. */
static struct kustos_latch *start_late(void)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	const struct ku_zk_request late = { .kind = KU_ZK_CREATE,
		.path = lost,
		.data = "me",
		.len = 2,
		.version = -1,
		.acl = client->config.acl,
		.acl_count = client->config.acl_count,
		.mode = KU_ZK_EPHEMERAL_SEQUENTIAL };
	struct kustos_latch *another;

	ku_shun_add(&client->session.shun, "192.0.2.1:2181", ku_now(client));
	strcpy(lost, "-");
	o.id = "me";
	ck_assert_int_eq(kustos_latch_create(client, LINE, &o, &another),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(another), KUSTOS_OK);
	for (int i = 0;
		i < AGAIN_MS && model_child_count(bench.model, LINE) < 2; i++)
		lone_run_ms(&bench, client, 1);
	ck_assert_ptr_nonnull(client->strays.nests);
	ck_assert_int_eq(
		lone_submit(client->session.handle->zk, &late, ignore, NULL),
		KU_ZK_OK);
	return another;
}

/* The node that was made late is the newest that says the same, and is deleted
   after a heartbeat. */
START_TEST(S03_what_another_of_ours_made_late_is_left_alone)
{
	come_again(NULL);
	struct kustos_latch *another = start_late();
	bench_run_ms(&bench, 20);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 3);
	resume(false);
	lone_run_ms(&bench, client, 1000);
	check_leads(2);
	ck_assert_str_eq(node, left);
	ck_assert_ptr_null(client->strays.nests);
	kustos_latch_destroy(another);
}
END_TEST

/* The server throttles its deletion at first. */
START_TEST(S03_what_was_made_late_and_is_being_deleted_is_left_alone)
{
	come_again(NULL);
	struct kustos_latch *another = start_late();
	between.refuses = true;
	between.kind = KU_ZK_DELETE;
	between.rc = KU_ZK_THROTTLEDOP;
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS / 4);
	ck_assert_ptr_null(client->strays.nests);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 3);
	resume(false);
	lone_run_ms(&bench, client, 100);
	between.refuses = false;
	lone_run_ms(&bench, client, 2000);
	check_leads(2);
	ck_assert_str_eq(node, left);
	kustos_latch_destroy(another);
}
END_TEST

/* The last read of the search is answered when the late node, which was read
   before, is gone. */
START_TEST(S03_what_was_made_late_and_is_gone_by_then_is_left_alone)
{
	come_again(NULL);
	struct kustos_latch *another = start_late();
	bench_run_ms(&bench, 20);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 3);
	strcpy(throttled, left);
	resume(false);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS / 4);
	ck_assert_ptr_null(client->strays.nests);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 2);
	throttled[0] = '\0';
	lone_run_ms(&bench, client, 2000);
	check_leads(2);
	ck_assert_str_eq(node, left);
	kustos_latch_destroy(another);
}
END_TEST

/* Check that all nodes but the newest are gone.  The latch has written into
   that one, or it is gone as well. */
static void check_alone(void)
{
	struct kustos_stat stat;

	lone_run_ms(&bench, client, AGAIN_MS);
	check_leads(1);
	if (model_stat(bench.model, last, &stat))
		ck_assert_int_gt(stat.version, 0);
}

START_TEST(S03_without_memory_it_leads_with_no_node_that_another_may_lead_with)
{
	come_again("me");
	between.kind = _i < ALLOCATIONS ? KU_ZK_CHILDREN : KU_ZK_GET;
	between.memory = _i % ALLOCATIONS / REQUESTS;
	between.after = _i % REQUESTS;
	resume(false);
	check_alone();
	ck_assert_int_eq(between.after, -1);
}
END_TEST

START_TEST(without_memory_to_begin_with_it_begins_later)
{
	come_again("me");
	make(false);
	fault_after(_i);
	enum kustos_err err = kustos_latch_start(latch);
	(void)fault_end();
	ck_assert_int_eq(err, KUSTOS_OK);
	check_alone();
}
END_TEST

/* It is deleted like any other node, even if the server throttles that at
   first. */
START_TEST(L05_a_node_that_was_taken_over_goes_in_the_end)
{
	come_again(NULL);
	resume(false);
	lone_run_ms(&bench, client, 1000);
	check_leads(1);
	ck_assert_str_eq(node, left);
	between.refuses = true;
	between.kind = KU_ZK_DELETE;
	between.rc = KU_ZK_THROTTLEDOP;
	kustos_latch_destroy(latch);
	latch = NULL;
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 1);
	between.refuses = false;
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("resumed latches in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_id_that_begins_like_ours_is_anothers);
	tcase_add_test(t, U09_a_node_that_may_not_be_read_is_not_taken_over);
	tcase_add_test(t, a_node_that_was_not_written_into_is_given_up_once);
	tcase_add_test(t, a_second_start_does_not_look_for_its_node_again);
	tcase_add_loop_test(t,
		S03_without_memory_it_leads_with_no_node_that_another_may_lead_with,
		0, 2 * ALLOCATIONS);
	tcase_add_loop_test(t, without_memory_to_begin_with_it_begins_later, 0,
		BEGINNING);
	tcase_add_test(t, without_a_line_it_stands_in_a_new_one);
	tcase_add_test(t, S03_another_of_ours_that_says_the_same_is_left_alone);
	tcase_add_test(t, S03_what_another_of_ours_made_late_is_left_alone);
	tcase_add_test(t,
		S03_what_was_made_late_and_is_being_deleted_is_left_alone);
	tcase_add_test(t,
		S03_what_was_made_late_and_is_gone_by_then_is_left_alone);
	tcase_add_test(t, L05_a_node_that_was_taken_over_goes_in_the_end);
	suite_add_tcase(s, t);
	return unit_main(s);
}
