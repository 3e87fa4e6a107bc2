/*
 * test_latch_resume_node.c - the leader of an election of one node was killed,
 * is started again within the timeout of its session, resumes that with a
 * ticket, and leads on with its node.
 */
#include "child.h"
#include "latch_fixture.h"

#include <signal.h>
#include <string.h>

#define T_MS 20000
#define QUIET_MS 100

static struct child former; /* its memory is its own */
static struct kustos_client *client, *other;
static struct runner runner, second, rival;
static struct kustos_ticket ticket;
static int64_t term; /* of the former process */

static void run(struct runner *r, struct kustos_client *c, const char *id,
	int resume)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.id = id;
	o.one_node = 1;
	o.resume = resume;
	runner_make_with(r, c, o);
	check_err(kustos_latch_start(r->latch), KUSTOS_OK);
}

/* A former process, which leads until it loses that. */
static int former_main(int fd, void *arg)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);

	(void)arg;
	run(&runner, c, "me", 0);
	runner_leads(&runner);
	ticket_say(fd, c);
	(void)child_expect(fd, "look", PATIENCE_MS);
	for (int64_t end = test_now_ms() + PATIENCE_MS;
		kustos_latch_leads(runner.latch) && test_now_ms() < end;)
		test_pause_1ms();
	(void)child_say(fd, "lost");
	(void)child_expect(fd, "never", PATIENCE_MS);
	return 0;
}

static int64_t czxid_seen(void)
{
	struct kustos_participants *p = NULL;
	int64_t czxid;

	check_err(kustos_participants(other, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 1);
	czxid = p->list[0]->stat.czxid;
	kustos_participants_free(p);
	return czxid;
}

static void set_up(void)
{
	ck_assert_int_eq(child_start(&former, former_main, NULL), 0);
	ticket_hear(former.fd, &ticket);
	other = client_connected(fixture_address(), T_MS);
	term = czxid_seen();
	run(&rival, other, "rival", 0);
	test_eventually(watch_count() == 2, 5000);
}

static void tear_down(void)
{
	child_end(&former);
	kustos_latch_destroy(rival.latch);
	client_close(client);
	client_close(other);
}

static void come_again(void)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);

	o.resume = &ticket;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

static void kill_former(void)
{
	ck_assert_int_eq(kill(former.pid, SIGKILL), 0);
	ck_assert_int_eq(child_wait(&former, PATIENCE_MS), 128 + SIGKILL);
}

static void check_leads_on(struct runner *r)
{
	runner_leads(r);
	ck_assert_int_eq(r->token, term);
	check_term(r, client);
	test_never(rival.gains > 0, QUIET_MS);
}

/* Under the same id, or another one. */
START_TEST(a_leader_that_comes_again_leads_on_in_its_term)
{
	const char *id = _i ? "renamed" : "me";
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct kustos_stat stat;
	char data[32] = "";

	ck_assert_ptr_nonnull(raw);
	kill_former();
	come_again();
	ck_assert(client_session_id(client) == ticket.session_id);
	run(&runner, client, id, 1);
	check_leads_on(&runner);
	/* It may lead before its id is written again. */
	test_eventually(raw_do_get(raw, LINE, data, sizeof(data), NULL) == 0 &&
			strcmp(data, id) == 0,
		5000);
	test_eventually(kustos_exists(other, LINE, SOON, NULL, &stat) ==
				KUSTOS_OK &&
			stat.version == 1,
		5000);
	raw_close(raw);
	/* It can do what any leader can. */
	check_err(kustos_latch_set_data(runner.latch, "x", 1, SOON, NULL),
		KUSTOS_OK);
	runner_end(&runner);
	runner_leads(&rival);
	ck_assert_int_gt(rival.token, term);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(czxid_seen(), rival.token);
}
END_TEST

/* And goes before it was looked at: then the election goes on. */
START_TEST(one_that_is_closed_at_once_leaves_nothing)
{
	kill_former();
	come_again();
	run(&runner, client, "me", 1);
	check_err(kustos_latch_wait(runner.latch, SOON, NULL), KUSTOS_OK);
	runner_end(&runner);
	runner_leads(&rival);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(czxid_seen(), rival.token);
}
END_TEST

/* A latch that does not resume waits for the node, which its own session keeps
   there; it does so in vain until one that resumes has had it.  The other
   order: it waits for that one from the beginning. */
START_TEST(who_waits_beside_it_gets_the_node_after_it)
{
	struct runner *r[] = { &runner, &second };

	kill_former();
	come_again();
	run(r[_i], client, _i ? "resumes" : "waits", _i);
	if (_i)
		check_leads_on(r[_i]);
	else
		test_eventually(watch_count() == 2, 5000);
	run(r[1 - _i], client, _i ? "waits" : "resumes", 1 - _i);
	check_leads_on(&second);
	ck_assert_int_eq(runner.gains, 0);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	runner_end(&second);
	runner_leads(&runner);
	ck_assert_int_gt(runner.token, term);
	runner_end(&runner);
}
END_TEST

/* Of two that resume, one can have it. */
START_TEST(a_second_one_that_resumes_waits)
{
	kill_former();
	come_again();
	run(&runner, client, "a", 1);
	run(&second, client, "b", 1);
	check_leads_on(&runner);
	ck_assert_int_eq(second.gains, 0);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	runner_end(&runner);
	runner_leads(&second);
	ck_assert_int_gt(second.token, term);
	runner_end(&second);
}
END_TEST

START_TEST(who_comes_too_late_waits_like_others)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *end = NULL;

	kill_former();
	o.resume = &ticket;
	end = client_open_with(&o);
	client_wait(end, KUSTOS_STATE_CONNECTED, 5000);
	client_kill_session(end);
	client_drop(end);
	come_again();
	ck_assert(client_session_id(client) != ticket.session_id);
	runner_leads(&rival);
	run(&runner, client, "me", 1);
	test_eventually(watch_count() == 2, 5000);
	test_never(runner.gains > 0, QUIET_MS);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&runner);
	runner_end(&runner);
}
END_TEST

/* What is left of both goes with their session. */
START_TEST(S03_one_that_lives_after_all_finds_out)
{
	come_again();
	run(&runner, client, "me", 1);
	ck_assert_int_eq(child_say(former.fd, "look"), 0);
	ck_assert(child_expect(former.fd, "lost", PATIENCE_MS));
	kill_former();
	client_kill_session(client);
	test_eventually(kustos_latch_leads(runner.latch) +
				kustos_latch_leads(rival.latch) ==
			1,
		PATIENCE_MS / TEST_SLOW);
	runner_end(&runner);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, one node, resumed");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, a_leader_that_comes_again_leads_on_in_its_term,
		0, 2);
	tcase_add_test(t, one_that_is_closed_at_once_leaves_nothing);
	tcase_add_loop_test(t, who_waits_beside_it_gets_the_node_after_it, 0,
		2);
	tcase_add_test(t, a_second_one_that_resumes_waits);
	tcase_add_test(t, who_comes_too_late_waits_like_others);
	tcase_add_test(t, S03_one_that_lives_after_all_finds_out);
	return fixture_main(s);
}
