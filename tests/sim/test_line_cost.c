/*
 * test_line_cost.c - which requests a place in a line sends, and when: exactly
 * those in the table of doc/design.md, "Lines".  Each is written down as it is
 * sent, and so is the grant.
 */
#include "line_impl.h"
#include "lone_line.h"

#include "../unit/unit.h"

#include <stdio.h>
#include <string.h>

#define LONG (KU_LINE_LONG + 2)
#define LIVELY 300 /* so many have been in the line before */

static char sent[2048]; /* words, each after a space */

static void note(const char *word, const char *path)
{
	size_t len = strlen(sent);
	int32_t number;

	if (path != NULL && ku_name_sequence(path, &number))
		snprintf(sent + len, sizeof(sent) - len, " %s-%d", word,
			(int)number);
	else
		snprintf(sent + len, sizeof(sent) - len, " %s", word);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const char *const words[] = {
		[KU_ZK_CREATE] = "create",
		[KU_ZK_DELETE] = "delete",
		[KU_ZK_GET] = "get",
		[KU_ZK_SET] = "set",
		[KU_ZK_EXISTS] = "exists",
		[KU_ZK_CHILDREN] = "list",
		[KU_ZK_MULTI] = "transaction",
		[KU_ZK_UNWATCH] = "unwatch",
	};
	bool watches = request->kind == KU_ZK_GET && request->watch;

	/* Others are for the session, at times of its own. */
	if (request->kind == KU_ZK_MULTI ||
		strncmp(request->path, LINE, strlen(LINE)) == 0)
		note(watches ? "watch" : words[request->kind], request->path);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	static struct ku_zk_api api;

	api = ku_zk_sim;
	api.submit = submit_it;
	lone_line_open(&api);
	sent[0] = '\0';
}

/* Let everything happen that is under way, and check that it was "wanted". */
static void check_sent(const char *wanted)
{
	lone_run_ms(&lone.bench, lone.client, 100);
	const char *said = sent[0] == ' ' ? sent + 1 : sent;

	ck_assert_str_eq(said, wanted);
	sent[0] = '\0';
}

/* --- Those who stand before, and behind ----------------------------------- */

static char rivals[2 * LONG][64]; /* their nodes, by number */

static void rival_enters(int number)
{
	struct bench_reply made = bench_create(&lone.bench, lone.raw,
		LINE "/lock-", "", KU_ZK_EPHEMERAL_SEQUENTIAL);
	int32_t given = -1;

	ck_assert_int_eq(made.rc, KU_ZK_OK);
	ck_assert(ku_name_sequence(made.path, &given));
	ck_assert_int_eq(given, number);
	ck_assert_uint_lt(strlen(made.path), sizeof(rivals[number]));
	strcpy(rivals[number], made.path);
}

static void rival_goes(int number)
{
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, rivals[number], -1).rc,
		KU_ZK_OK);
}

/* The same, after it has left the proof that it was granted. */
static void rival_proves(int number)
{
	ck_assert_int_eq(bench_set(&lone.bench, lone.raw, LINE,
				 rivals[number] + strlen(LINE "/"), -1)
				 .rc,
		KU_ZK_OK);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	note("granted", NULL);
	lone_line_granted(arg, err, got);
}

static void ask(void)
{
	lone.hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(lone.mutex, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
}

/* Ask behind so many; the place watches itself, and the nearest two. */
static void ask_behind(int before)
{
	char wanted[128];
	int len = 0;

	for (int i = 0; i < before; i++)
		rival_enters(i);
	ask();
	len = snprintf(wanted, sizeof(wanted), "create list");
	for (int i = before; i >= 0 && i >= before - KU_WATCHED; i--)
		len += snprintf(wanted + len, sizeof(wanted) - (size_t)len,
			" watch-%d", i);
	check_sent(wanted);
	ck_assert_ptr_null(lone.hold);
}

static void give(const char *wanted)
{
	lone_line_check();
	lone_line_give();
	check_sent(wanted);
}

/* --- A short line --------------------------------------------------------- */

/* Its own node is watched late. */
START_TEST(a_lock_is_a_creation_and_a_listing_where_nobody_is)
{
	ask();
	check_sent("create list granted watch-0");
	give("delete-0");
}
END_TEST

/* The line is no longer young.  Once a number has come right after the last
   one, the next is expected to, and proves that nobody is there. */
START_TEST(a_lock_is_a_creation_alone_where_the_number_proves_it)
{
	for (int i = 0; i < LIVELY; i++) {
		struct bench_reply made = bench_create(&lone.bench, lone.raw,
			LINE "/lock-", "", KU_ZK_EPHEMERAL_SEQUENTIAL);

		ck_assert_int_eq(
			bench_delete(&lone.bench, lone.raw, made.path, -1).rc,
			KU_ZK_OK);
	}
	ask();
	check_sent("create list granted watch-300");
	give("delete-300");
	ask();
	check_sent("create list granted watch-301");
	give("delete-301");
	ask();
	check_sent("create granted watch-302");
	give("delete-302");
}
END_TEST

/* One, or two, which are all watched. */
START_TEST(the_nearest_goes_and_nothing_is_sent_before_the_grant)
{
	int before = _i;

	ask_behind(before);
	for (int i = 0; i < before - 1; i++) {
		rival_goes(i);
		check_sent("");
	}
	rival_goes(before - 1);
	check_sent("granted");
	give(before == 1 ? "delete-1" : "delete-2");
}
END_TEST

START_TEST(the_second_before_goes_and_one_listing_tells_that_one_is_left)
{
	ask_behind(3);
	rival_goes(0);
	check_sent("");
	rival_goes(1);
	check_sent("list");
	rival_goes(2);
	check_sent("granted");
	give("delete-3");
}
END_TEST

/* The second before it has given up; then the new one is watched. */
START_TEST(the_second_before_goes_and_another_takes_its_place)
{
	ask_behind(3);
	rival_goes(1);
	check_sent("list watch-0");
	rival_goes(0);
	check_sent("");
	rival_goes(2);
	check_sent("granted");
	give("delete-3");
}
END_TEST

/* Once the place of ours is granted, the one behind it looks. */
START_TEST(behind_a_place_of_ours_that_waits_only_the_creation_is_sent)
{
	struct kustos_mutex_options apart = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_hold *before;

	apart.local_handoffs = 0;
	kustos_mutex_destroy(lone.mutex);
	ck_assert_int_eq(
		kustos_mutex_create(lone.client, LINE, &apart, &lone.mutex),
		KUSTOS_OK);
	ask_behind(1);
	ask();
	check_sent("create");
	rival_goes(0);
	check_sent("list watch-2 granted");
	before = lone.hold;
	ck_assert_int_eq(kustos_hold_release(before), KUSTOS_OK);
	check_sent("delete-1 granted");
	give("delete-2");
}
END_TEST

/* --- A long line ---------------------------------------------------------- */

/* Ask behind LONG others, and before as many.  All but the nearest two go. */
static void ask_in_a_long_line(void)
{
	ask_behind(LONG);
	for (int i = LONG + 1; i < 2 * LONG; i++)
		rival_enters(i);
	for (int i = 0; i < LONG - 2; i++)
		rival_goes(i);
	check_sent("");
}

static void others_go(void)
{
	for (int i = LONG + 1; i < 2 * LONG; i++)
		rival_goes(i);
}

/* Give it back, with those behind still there. */
static void give_in_a_long_line(const char *wanted)
{
	ck_assert_ptr_nonnull(lone.hold);
	lone_line_give();
	check_sent(wanted);
	others_go();
}

/* The proof of the second before it, or of the third, which the second found.
   Only after the first of these is it this place's turn to leave one. */
START_TEST(in_a_long_line_a_get_of_its_node_does_for_the_listing)
{
	ask_in_a_long_line();
	rival_proves(LONG - 2 - _i);
	rival_goes(LONG - 2);
	check_sent("get");
	rival_goes(LONG - 1);
	check_sent("granted");
	give_in_a_long_line(_i == 0 ? "transaction" : "delete-34");
}
END_TEST

/* Then it reads with its grant as well, without waiting for the answer, and so
   begins the proofs anew. */
START_TEST(in_a_long_line_it_lists_where_there_is_no_proof)
{
	ask_in_a_long_line();
	rival_goes(LONG - 2);
	check_sent("get list");
	rival_goes(LONG - 1);
	check_sent("get granted");
	give_in_a_long_line("transaction");
}
END_TEST

/* It has read the line's node, and might write the proof over the data of that
   version.  But then its own node is deleted from outside, and the line is
   short: perhaps it is another one, whose data has that version, too. */
START_TEST(what_was_read_for_a_node_that_is_gone_allows_no_proof)
{
	const struct ku_place *place;

	ask_in_a_long_line();
	rival_proves(LONG - 2);
	rival_goes(LONG - 2);
	check_sent("get");
	others_go();
	place = ku_ring_place(lone.client->lines.here.next);
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, place->path, -1).rc,
		KU_ZK_OK);
	check_sent("unwatch-33 create list watch-68 watch-33");
	rival_goes(LONG - 1);
	check_sent("granted");
	give("delete-68");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("requests of a line in the simulator");
	TCase *t = tcase_create("requests");

	tcase_add_checked_fixture(t, setup, lone_line_close);
	tcase_add_test(t, a_lock_is_a_creation_and_a_listing_where_nobody_is);
	tcase_add_test(t,
		a_lock_is_a_creation_alone_where_the_number_proves_it);
	tcase_add_loop_test(t,
		the_nearest_goes_and_nothing_is_sent_before_the_grant, 1, 3);
	tcase_add_test(t,
		the_second_before_goes_and_one_listing_tells_that_one_is_left);
	tcase_add_test(t, the_second_before_goes_and_another_takes_its_place);
	tcase_add_test(t,
		behind_a_place_of_ours_that_waits_only_the_creation_is_sent);
	tcase_add_loop_test(t,
		in_a_long_line_a_get_of_its_node_does_for_the_listing, 0, 2);
	tcase_add_test(t, in_a_long_line_it_lists_where_there_is_no_proof);
	tcase_add_test(t,
		what_was_read_for_a_node_that_is_gone_allows_no_proof);
	suite_add_tcase(s, t);
	return unit_main(s);
}
