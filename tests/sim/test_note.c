/*
 * test_note.c - a semaphore leaves its number of leases as text in its node, so
 * that clients with another number notice.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/hold.h>
#include <kustos/semaphore.h>
#include <string.h>

#define SEM "/sem"
#define NUMBER "/number"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
#define OURS 3

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_semaphore *sem;
static struct kustos_hold *lease;
static int asked;	  /* number of tries to leave it */
static int reads;	  /* number of reads of the text */
static int logged;	  /* number of log lines */
static bool refuses;	  /* the server refuses to have it left */
static bool ending;	  /* nothing is granted any more */
static const char *first; /* text that another leaves just before, or NULL */

static void send_text(const char *text)
{
	const struct ku_zk_request request = { .kind = KU_ZK_SET,
		.path = SEM,
		.data = text,
		.len = (int)strlen(text) };

	lone_send(&bench, raw, &request);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	reads += request->kind == KU_ZK_GET && strcmp(request->path, SEM) == 0;
	if (request->kind != KU_ZK_SET || strcmp(request->path, SEM) != 0)
		return ku_zk_sim.submit(zk, request, done, arg);
	asked++;
	if (first != NULL)
		send_text(first);
	return refuses ? lone_refuse(zk, KU_ZK_NOAUTH, done, arg)
		       : ku_zk_sim.submit(zk, request, done, arg);
}

static void take_line(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	logged += strstr(line, "goes by") != NULL;
}

/* Set up; the node has "text" already, or does not exist. */
static void setup_with(const char *text)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	asked = reads = logged = 0;
	refuses = ending = false;
	first = NULL;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, SEM, text, KU_ZK_PERSISTENT);
	api = ku_zk_sim;
	api.submit = submit_it;
	options.log = take_line;
	client = lone_connected_with(&bench, &api, 1, &options);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	ck_assert_int_eq(err == KUSTOS_OK, !ending);
	lease = got;
}

/* Acquire a lease, of OURS, or of as many as NUMBER says. */
static void take_unless(struct kustos_cancel *cancel, bool fixed)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	o.max = fixed ? OURS : 0;
	o.max_path = fixed ? NULL : NUMBER;
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
		KUSTOS_OK);
	lease = NULL;
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER,
				 cancel, granted, NULL),
		KUSTOS_OK);
}

static void take(bool fixed)
{
	take_unless(NULL, fixed);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void run_until_it_is_left(void)
{
	for (int i = 0; i < 1000 && asked == 0; i++)
		run_ms(1);
	ck_assert_int_eq(asked, 1);
}

/* Give the lease back, if there is one, and check that nothing is left. */
static void teardown(void)
{
	if (lease != NULL)
		ck_assert_int_eq(kustos_hold_release(lease), KUSTOS_OK);
	kustos_semaphore_destroy(sem);
	run_ms(1000);
	ck_assert_ptr_null(client->lines.tree);
	lone_teardown(&bench, client);
}

static void check_text(const char *text)
{
	char there[256] = "";

	ck_assert(model_data(bench.model, SEM, there, sizeof(there)));
	ck_assert_str_eq(there, text);
}

static const struct {
	const char *text; /* before */
	const char *left; /* afterwards; NULL: the same */
	bool disagrees;
} texts[] = {
	{ NULL, "3", false },
	{ "", "3", false },
	{ "3", NULL, false },
	{ "7", NULL, true },
	{ "2147483647", NULL, true },
	{ "2147483648", NULL, false },
	{ "4294967303", NULL, false },
	{ "12345678901", NULL, false },
	{ "0", NULL, false },
	{ "-7", NULL, false },
	{ "7 of us", NULL, false },
	{ "7 of us, and more who go by something else, which is said at length",
		NULL, false },
};

START_TEST(what_stands_there_is_ours_or_a_number_or_left_alone)
{
	const char *left = texts[_i].left;

	setup_with(texts[_i].text);
	take(true);
	run_ms(1000);
	ck_assert_int_eq(asked, left != NULL || texts[_i].disagrees);
	ck_assert_int_eq(kustos_semaphore_disagrees(sem), texts[_i].disagrees);
	ck_assert_int_eq(logged, texts[_i].disagrees);
	check_text(left != NULL		      ? left
			: texts[_i].disagrees ? "3"
					      : texts[_i].text);
	teardown();
}
END_TEST

START_TEST(what_may_not_be_left_is_not_tried_again)
{
	setup_with("");
	refuses = true;
	take(true);
	run_ms(200000);
	ck_assert_int_eq(asked, 1);
	teardown();
}
END_TEST

/* The request is lost, or only its answer. */
START_TEST(what_was_lost_is_left_after_the_reconnect)
{
	setup_with("");
	take(true);
	run_until_it_is_left();
	if (_i == 1)
		run_ms(WAY_MS + 1);
	model_cut(bench.model, LONE_MACHINE, _i == 0);
	run_ms(5000);
	check_text("3");
	ck_assert_int_eq(asked, 2 - _i);
	ck_assert_int_eq(kustos_semaphore_disagrees(sem), 0);
	teardown();
}
END_TEST

/* A close does not wait for it, either. */
START_TEST(what_was_lost_is_left_by_nobody_once_it_is_destroyed)
{
	setup_with("");
	take(true);
	run_until_it_is_left();
	ending = lease == NULL;
	kustos_semaphore_destroy(sem);
	sem = NULL;
	model_cut(bench.model, LONE_MACHINE, true);
	run_ms(5000);
	ck_assert_int_eq(asked, 1);
	check_text("");
	teardown();
}
END_TEST

START_TEST(who_was_quicker_is_not_written_over)
{
	setup_with("");
	first = "7";
	take(true);
	run_ms(1000);
	ck_assert_int_eq(asked, 1);
	check_text("7");
	ck_assert_int_eq(kustos_semaphore_disagrees(sem), 1);
	/* Later numbers are not logged again. */
	send_text("8");
	run_ms(1000);
	ck_assert_int_eq(logged, 1);
	ck_assert_int_eq(asked, 1);
	teardown();
}
END_TEST

/* The node NUMBER does not exist. */
START_TEST(who_does_not_know_how_many_there_are_says_nothing)
{
	setup_with(_i == 0 ? "" : "7");
	take(false);
	run_ms(1000);
	ck_assert_ptr_null(lease);
	ck_assert_int_eq(asked, 0);
	ck_assert_int_eq(kustos_semaphore_disagrees(sem), 0);
	ending = true;
	teardown();
}
END_TEST

/* Everybody can read a shared number in NUMBER. */
START_TEST(a_number_that_is_shared_is_not_left)
{
	const struct ku_zk_request two = { .kind = KU_ZK_CREATE,
		.path = NUMBER,
		.data = "\0\0\0\2",
		.len = 4 };

	setup_with("");
	lone_send(&bench, raw, &two);
	take(false);
	run_ms(1000);
	ck_assert_ptr_nonnull(lease);
	ck_assert_int_eq(asked, 0);
	teardown();
}
END_TEST

/* To miss a change of the text does no harm. */
START_TEST(what_stands_there_is_not_read_again_in_case_of_a_change)
{
	setup_with("3");
	take(true);
	run_ms(200000);
	ck_assert_int_eq(reads, 1);
	teardown();
}
END_TEST

/* If something waited, a close would wait for it. */
START_TEST(L06_who_gives_up_while_it_is_away_leaves_nothing_that_waits)
{
	struct kustos_cancel *cancel = NULL;

	setup_with("");
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	model_server_stop(bench.model, 0);
	run_ms(1000);
	ck_assert_uint_eq(client->wire.waiting, 0);
	ending = true;
	take_unless(cancel, true);
	run_ms(100);
	ck_assert_uint_ne(client->wire.waiting, 0);
	kustos_cancel_fire(cancel);
	run_ms(100);
	ck_assert_uint_eq(client->wire.waiting, 0);
	model_heal(bench.model);
	run_ms(3000);
	kustos_cancel_destroy(cancel);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what leases go by");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t,
		what_stands_there_is_ours_or_a_number_or_left_alone, 0,
		sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(t, what_may_not_be_left_is_not_tried_again);
	tcase_add_loop_test(t, what_was_lost_is_left_after_the_reconnect, 0, 2);
	tcase_add_test(t, what_was_lost_is_left_by_nobody_once_it_is_destroyed);
	tcase_add_test(t, who_was_quicker_is_not_written_over);
	tcase_add_loop_test(t,
		who_does_not_know_how_many_there_are_says_nothing, 0, 2);
	tcase_add_test(t, a_number_that_is_shared_is_not_left);
	tcase_add_test(t,
		what_stands_there_is_not_read_again_in_case_of_a_change);
	tcase_add_test(t,
		L06_who_gives_up_while_it_is_away_leaves_nothing_that_waits);
	suite_add_tcase(s, t);
	return unit_main(s);
}
