/*
 * test_latch_resume_alloc.c - each allocation of a latch that resumes with the
 * node of a former process fails once (allocs.h): the latch leads in the end,
 * and no old node is left in its own way.
 */
#include "allocs.h"
#include "child.h"
#include "inject.h"
#include "latch_fixture.h"

#include <signal.h>

#define T_MS 20000
#define NODES 2 /* with the same data */

static struct child former;
static struct kustos_client *client;
static struct kustos_ticket ticket;

static int former_main(int fd, void *arg)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);

	(void)arg;
	ticket_say(fd, c);
	(void)child_expect(fd, "never", PATIENCE_MS);
	return 0;
}

/* The session is that of a process that was killed. */
static void set_up(void)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);

	inject_reset();
	ck_assert_int_eq(child_start(&former, former_main, NULL), 0);
	ticket_hear(former.fd, &ticket);
	ck_assert_int_eq(kill(former.pid, SIGKILL), 0);
	ck_assert_int_eq(child_wait(&former, PATIENCE_MS), 128 + SIGKILL);
	o.resume = &ticket;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	ck_assert(client_session_id(client) == ticket.session_id);
}

static void tear_down(void)
{
	inject_reset();
	child_end(&former);
	client_close(client);
}

static enum kustos_err call_resume(void)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *latch = NULL;

	o.id = "me";
	o.resume = 1;
	enum kustos_err err = kustos_latch_create(client, LINE, &o, &latch);
	if (err == KUSTOS_OK)
		err = kustos_latch_start(latch);
	if (err == KUSTOS_OK)
		err = kustos_latch_wait(latch, SOON, NULL);
	kustos_latch_destroy(latch);
	return err;
}

/* Create the nodes that the former process has left; no latch of ours waits for
   them. */
static void leave_nodes(const struct alloc_call *call)
{
	static const char path[] = LINE
		"/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-";

	(void)call;
	for (int i = 0; i < NODES; i++)
		check_err(kustos_create(client, path, "me", 2,
				  KUSTOS_CREATE_EPHEMERAL |
					  KUSTOS_CREATE_SEQUENTIAL |
					  KUSTOS_CREATE_PARENTS,
				  SOON, NULL, NULL, NULL),
			KUSTOS_OK);
}

/* A latch that ends before it has found the nodes leaves them for the next. */
static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	if (err != KUSTOS_OK)
		check_err(call_resume(), KUSTOS_OK);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
}

START_TEST(every_allocation_of_who_goes_on_may_fail)
{
	const struct alloc_call call = { "resume", call_resume, false };

	allocs_fail_each_of(client, &call, leave_nodes, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, resume, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, every_allocation_of_who_goes_on_may_fail);
	return fixture_main(s);
}
