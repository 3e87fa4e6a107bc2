/*
 * test_resume_node.c - a latch takes over the only node of an election, which a
 * former process of the same session has left, and something happens just then.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/election.h>
#include <kustos/node.h>
#include <kustos/simple.h>
#include <string.h>

#define NODE "/one"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* The time after which it tries again when it was refused. */
#define AGAIN_MS 3000
/* Which allocation fails, more than there are: as it begins, and when the
   answer to its search has come. */
#define BEGINNING 8
#define ALLOCATIONS 20

static struct bench bench;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_latch *latch;
static struct ku_zk *raw;
static int64_t left; /* czxid of the former process's node */
static int64_t term; /* that was told last */
static int gains;

/* What happens just before the client's next request of "kind" about the node,
   which watches it or not. */
static struct {
	bool on, watch;
	enum ku_zk_kind kind;
	enum event { GOES, IS_REPLACED, IS_WRITTEN, IS_NOT_READ, IS_LOST } what;
} next;
static int memory; /* so many allocations succeed at the answer; -1: all */
static ku_zk_done_fn *done_then;
static void *arg_then;

static void was_read(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	fault_after(memory);
	done_then(arg_then, reply);
	(void)fault_end();
}

static void rival_sends(enum ku_zk_kind kind)
{
	const struct ku_zk_request request = { .kind = kind,
		.path = NODE,
		.data = "",
		.version = -1,
		.mode = KU_ZK_EPHEMERAL };

	lone_send(&bench, raw, &request);
}

static void change_it(void)
{
	rival_sends(next.what == IS_WRITTEN ? KU_ZK_SET : KU_ZK_DELETE);
	if (next.what == IS_REPLACED)
		rival_sends(KU_ZK_CREATE);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool ours = request->path != NULL && strcmp(request->path, NODE) == 0;

	(void)fault_end(); /* while the model works, memory is not short */
	if (!ours || !next.on || request->kind != next.kind ||
		request->watch != next.watch)
		return ku_zk_sim.submit(zk, request, done, arg);
	next.on = false;
	if (next.what == IS_NOT_READ) {
		done_then = done;
		arg_then = arg;
		return ku_zk_sim.submit(zk, request, was_read, NULL);
	}
	if (next.what == IS_LOST)
		return lone_lose(zk, request, done, arg);
	change_it();
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void note_gain(void *arg, struct kustos_latch *one,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)one;
	term = kustos_hold_token(hold);
	gains++;
}

/* Resume the session of a former process, which has left a node if "has". */
static void come_again(bool has)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct ku_zk *former = bench_open(&bench, -1, LONE_TIMEOUT_MS);
	struct ku_zk_session session;
	struct kustos_ticket ticket;
	struct kustos_stat stat;

	if (has)
		ck_assert_int_eq(bench_create(&bench, former, NODE, "me",
					 KU_ZK_EPHEMERAL)
					 .rc,
			KU_ZK_OK);
	left = model_stat(bench.model, NODE, &stat) ? stat.czxid : 0;
	ku_zk_sim.session(former, &session);
	ticket.session_id = session.id;
	memcpy(ticket.password, session.password, sizeof(ticket.password));
	model_crash(bench.model, LONE_MACHINE);
	options.resume = &ticket;
	client = lone_connected_with(&bench, &api, 1, &options);
	ck_assert(client->session.id == ticket.session_id);
}

static void setup(void)
{
	raw = lone_setup(&bench, WAY_MS);
	api = ku_zk_sim;
	api.submit = submit;
	memset(&next, 0, sizeof(next));
	memory = -1;
	term = 0;
	gains = 0;
}

static void teardown(void)
{
	kustos_latch_destroy(latch);
	latch = NULL;
	lone_teardown(&bench, client);
}

static struct kustos_latch *make(int resume)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *made;

	o.id = "me";
	o.one_node = 1;
	o.resume = resume;
	o.on_gained = resume ? note_gain : NULL;
	ck_assert_int_eq(kustos_latch_create(client, NODE, &o, &made),
		KUSTOS_OK);
	return made;
}

static void resume(void)
{
	latch = make(1);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

/* Check that it leads, and return the czxid of the node. */
static int64_t check_leads(void)
{
	struct kustos_stat stat;

	ck_assert(kustos_latch_leads(latch));
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert(stat.ephemeral_owner == client->session.id);
	ck_assert_int_eq(stat.czxid, term);
	return stat.czxid;
}

START_TEST(it_leads_on_and_what_it_gives_back_is_gone)
{
	struct kustos_stat stat;

	come_again(true);
	resume();
	run_ms(1000);
	ck_assert_int_eq(check_leads(), left);
	ck_assert_int_eq(gains, 1);
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_eq(stat.version, 1);
	kustos_latch_destroy(latch);
	latch = NULL;
	run_ms(1000);
	ck_assert(!model_stat(bench.model, NODE, &stat));
}
END_TEST

/* Come again, and have this happen between the search and the look, if "early",
   or between the look and the write. */
static void resume_while(enum event what, bool early)
{
	come_again(true);
	next.on = true;
	next.what = what;
	next.watch = early;
	next.kind = early ? KU_ZK_GET : KU_ZK_SET;
	resume();
	run_ms(AGAIN_MS);
	ck_assert(!next.on);
}

START_TEST(S09_a_node_that_goes_just_then_is_made_anew)
{
	resume_while(GOES, _i == 0);
	ck_assert_int_gt(check_leads(), left);
	if (_i == 0)
		ck_assert_int_eq(gains, 1); /* never in the old term */
}
END_TEST

START_TEST(S03_a_node_that_another_has_made_just_then_is_its_own)
{
	struct kustos_stat stat;

	resume_while(IS_REPLACED, _i == 0);
	ck_assert(!kustos_latch_leads(latch));
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert(stat.ephemeral_owner != client->session.id);
	ck_assert_int_le(gains, _i); /* in the old term, if at all */
	ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc, KU_ZK_OK);
	run_ms(AGAIN_MS);
	ck_assert_int_gt(check_leads(), stat.czxid);
}
END_TEST

/* The former process is alive, and writes there. */
START_TEST(S03_a_node_in_which_another_writes_is_given_up)
{
	resume_while(IS_WRITTEN, _i == 0);
	ck_assert_int_gt(check_leads(), left);
}
END_TEST

/* The former process is alive, finds that its node was written into, and
   deletes it. */
START_TEST(S09_what_the_former_process_deletes_is_lost)
{
	come_again(true);
	resume();
	run_ms(1000);
	ck_assert_int_eq(check_leads(), left);
	ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc, KU_ZK_OK);
	run_ms(AGAIN_MS);
	ck_assert_int_eq(gains, 2);
	ck_assert_int_gt(check_leads(), left);
}
END_TEST

/* After a reconnect only the first place of ours looks at the node. */
START_TEST(S09_beside_one_that_waited_before_it_knows_its_loss)
{
	struct kustos_latch *waiter;

	come_again(true);
	waiter = make(0);
	ck_assert_int_eq(kustos_latch_start(waiter), KUSTOS_OK);
	run_ms(1000);
	ck_assert(!kustos_latch_leads(waiter));
	resume();
	run_ms(1000);
	ck_assert_int_eq(check_leads(), left);
	model_cut(bench.model, LONE_MACHINE, false);
	ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc, KU_ZK_OK);
	ck_assert_int_eq(
		bench_create(&bench, raw, NODE, "", KU_ZK_EPHEMERAL).rc,
		KU_ZK_OK);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert(!kustos_latch_leads(latch));
	ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc, KU_ZK_OK);
	run_ms(AGAIN_MS);
	ck_assert(kustos_latch_leads(latch) != kustos_latch_leads(waiter));
	kustos_latch_destroy(waiter);
}
END_TEST

/* It was made by another object of this client, whose try was answered, or was
   not; or by the program. */
START_TEST(S03_what_this_client_has_made_was_not_left)
{
	struct kustos_latch *another = NULL;
	struct kustos_stat stat;

	come_again(false);
	if (_i == 2) {
		ck_assert_int_eq(kustos_create_async(client, NODE, "me", 2,
					 KUSTOS_CREATE_EPHEMERAL,
					 KUSTOS_FOREVER, NULL, lone_ignore,
					 NULL),
			KUSTOS_OK);
		run_ms(100);
	} else {
		next.on = _i == 1;
		next.what = IS_LOST;
		next.kind = KU_ZK_CREATE;
		another = make(0);
		ck_assert_int_eq(kustos_latch_start(another), KUSTOS_OK);
	}
	resume();
	run_ms(AGAIN_MS);
	ck_assert(!next.on);
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_eq(stat.version, 0);
	ck_assert_int_eq(gains, 0);
	if (another != NULL)
		ck_assert(kustos_latch_leads(another));
	kustos_latch_destroy(another);
	if (_i == 2)
		ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc,
			KU_ZK_OK);
	run_ms(AGAIN_MS);
	ck_assert_int_gt(check_leads(), stat.czxid);
}
END_TEST

START_TEST(S03_a_node_of_another_session_is_left_alone)
{
	struct kustos_stat stat;

	come_again(false);
	ck_assert_int_eq(
		bench_create(&bench, raw, NODE, "me", KU_ZK_EPHEMERAL).rc,
		KU_ZK_OK);
	resume();
	run_ms(AGAIN_MS);
	ck_assert(!kustos_latch_leads(latch));
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_eq(stat.version, 0);
	ck_assert_int_eq(kustos_latch_error(latch), KUSTOS_OK);
	ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc, KU_ZK_OK);
	run_ms(AGAIN_MS);
	ck_assert_int_gt(check_leads(), stat.czxid);
}
END_TEST

START_TEST(without_memory_it_leads_on_later)
{
	come_again(true);
	latch = make(1);
	if (_i < BEGINNING)
		fault_after(_i);
	next.on = _i >= BEGINNING;
	next.what = IS_NOT_READ;
	next.kind = KU_ZK_GET;
	memory = _i - BEGINNING;
	enum kustos_err err = kustos_latch_start(latch);
	(void)fault_end();
	ck_assert_int_eq(err, KUSTOS_OK);
	run_ms(2 * AGAIN_MS);
	ck_assert(!next.on);
	(void)check_leads();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a resumed latch of one node in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, it_leads_on_and_what_it_gives_back_is_gone);
	tcase_add_loop_test(t, S09_a_node_that_goes_just_then_is_made_anew, 0,
		2);
	tcase_add_loop_test(t,
		S03_a_node_that_another_has_made_just_then_is_its_own, 0, 2);
	tcase_add_loop_test(t, S03_a_node_in_which_another_writes_is_given_up,
		0, 2);
	tcase_add_test(t, S09_what_the_former_process_deletes_is_lost);
	tcase_add_test(t, S09_beside_one_that_waited_before_it_knows_its_loss);
	tcase_add_loop_test(t, S03_what_this_client_has_made_was_not_left, 0,
		3);
	tcase_add_test(t, S03_a_node_of_another_session_is_left_alone);
	tcase_add_loop_test(t, without_memory_it_leads_on_later, 0,
		BEGINNING + ALLOCATIONS);
	suite_add_tcase(s, t);
	return unit_main(s);
}
