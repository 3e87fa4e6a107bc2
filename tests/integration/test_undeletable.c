/*
 * test_undeletable.c - nodes of ours that may not be deleted, which no call
 * reports: they are logged, once for each folder.  For calls that report it,
 * and for places in a line, see test_mutex_edges.c.
 */
#include "client_fixture.h"
#include "raw.h"

#include <kustos/barrier.h>
#include <kustos/claim.h>
#include <kustos/queue.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define T_MS 10000

static atomic_int told;
static char last[256]; /* written before "told" grows */
static struct kustos_client *keeper;

static void count(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	if (level != KUSTOS_LOG_ERROR ||
		strstr(line, " cannot be deleted, and stays: ") == NULL)
		return;
	snprintf(last, sizeof(last), "%s", line);
	atomic_fetch_add(&told, 1);
}

/* A client from whose nodes nobody may delete any, except somebody who cleans
   up. */
static void set_up(void)
{
	static const struct kustos_acl acl[] = {
		{ KUSTOS_PERM_ALL & ~KUSTOS_PERM_DELETE, "world", "anyone" },
		{ KUSTOS_PERM_DELETE, "digest",
			"cleaner:cgDL7xWKomy9NiilPI0MIKMUbAc=" }
	};
	struct kustos_client_options options = client_options(fixture_address(),
		T_MS);

	options.acl = acl;
	options.acl_count = 2;
	options.log = count;
	atomic_store(&told, 0);
	keeper = client_open_with(&options);
	client_wait(keeper, KUSTOS_STATE_CONNECTED,
		5000); /* some do not wait */
}

static void clean(struct kustos_client *cleaner, const char *path)
{
	struct kustos_names *names = NULL;
	char child[256];

	if (kustos_children(cleaner, path, SOON, NULL, &names, NULL) !=
		KUSTOS_OK)
		return;
	for (size_t i = 0; i < names->count; i++) {
		snprintf(child, sizeof(child), "%s/%s", path, names->names[i]);
		ck_assert_int_eq(kustos_delete(cleaner, child, -1, SOON, NULL),
			KUSTOS_OK);
	}
	kustos_names_free(names);
}

static struct kustos_client *open_cleaner(void)
{
	struct kustos_client_options options = client_options(fixture_address(),
		T_MS);

	options.digest = "cleaner:clean";
	return client_open_with(&options);
}

static void tear_down(void)
{
	static const char *const folders[] = { "/kept", "/kept-locks",
		"/kept-receipts", "/full" };

	client_close(keeper);
	struct kustos_client *cleaner = open_cleaner();
	for (int i = 0; i < 4; i++)
		clean(cleaner, folders[i]);
	client_close(cleaner);
}

/* Check that so many lines were logged, the last of them about "folder". */
static void check_told(int times, const char *folder)
{
	check_err(kustos_client_flush(keeper, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(atomic_load(&told), times);
	ck_assert_msg(strstr(last, folder) != NULL, "%s", last);
}

START_TEST(what_a_member_of_a_double_barrier_leaves_is_told_once)
{
	struct kustos_double_barrier *m = NULL;

	for (int i = 0; i < 2; i++) {
		check_err(kustos_double_barrier_create(keeper, "/kept", 5, NULL,
				  &m),
			KUSTOS_OK);
		check_err(kustos_double_barrier_enter(m, KUSTOS_NOW, NULL),
			KUSTOS_EBUSY);
		check_told(1, "/kept/");
		kustos_double_barrier_destroy(m);
	}
	ck_assert_int_eq(raw_count_children(fixture_address(), "/kept"), 2);
}
END_TEST

static void clean_kept(void)
{
	struct kustos_client *cleaner = open_cleaner();

	clean(cleaner, "/kept");
	client_close(cleaner);
}

/* In a round of two, a member and its own last node must not count as two. */
START_TEST(S12_a_member_is_not_counted_twice_beside_what_it_left)
{
	bool known = _i == 0;
	struct kustos_double_barrier *m = NULL;

	check_err(kustos_double_barrier_create(keeper, "/kept", 2, NULL, &m),
		KUSTOS_OK);
	check_err(kustos_double_barrier_enter(m, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	if (known)
		check_told(1, "/kept/");
	for (int i = 0; i < 2; i++) {
		check_err(kustos_double_barrier_enter(m, SOON, NULL),
			KUSTOS_ENOAUTH);
		ck_assert_int_eq(kustos_double_barrier_inside(m), 0);
	}
	check_told(1, "/kept/");
	ck_assert_int_eq(raw_count_children(fixture_address(), "/kept"), 1);

	/* Once that is gone, the member may be in the next round. */
	clean_kept();
	check_err(kustos_double_barrier_enter(m, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/kept"), 1);
	kustos_double_barrier_destroy(m);
}
END_TEST

/* That all are in is reported once, too. */
START_TEST(the_end_of_a_round_is_told_once)
{
	struct kustos_double_barrier *m = NULL;

	check_err(kustos_double_barrier_create(keeper, "/kept", 1, NULL, &m),
		KUSTOS_OK);
	check_err(kustos_double_barrier_enter(m, SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(m, SOON, NULL), KUSTOS_OK);
	check_told(1, "/kept/ready ");
	kustos_double_barrier_destroy(m);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/kept"), 2);
}
END_TEST

START_TEST(the_markers_of_claims_are_told_once)
{
	struct kustos_claims *claims = NULL;
	struct kustos_claim *claim = NULL;

	check_err(kustos_claims_create(keeper, "/kept", NULL, &claims),
		KUSTOS_OK);
	for (int i = 0; i < 2; i++) {
		check_err(kustos_create(keeper, "/kept/qn-", "x", 1,
				  KUSTOS_CREATE_SEQUENTIAL |
					  KUSTOS_CREATE_PARENTS,
				  SOON, NULL, NULL, NULL),
			KUSTOS_OK);
		check_err(kustos_claim_next(claims, SOON, NULL, &claim),
			KUSTOS_OK);
		kustos_claim_release(claim);
		check_told(1, "/kept-locks/");
	}
	kustos_claims_destroy(claims);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/kept-locks"),
		2);
}
END_TEST

START_TEST(a_receipt_is_told_of)
{
	struct kustos_queue *queue = NULL;

	check_err(kustos_queue_create(keeper, "/kept", NULL, &queue),
		KUSTOS_OK);
	check_err(kustos_queue_put(queue, "x", 1, SOON, NULL), KUSTOS_OK);
	kustos_queue_destroy(queue);
	check_told(1, "/kept-receipts/");
	ck_assert_int_eq(
		raw_count_children(fixture_address(), "/kept-receipts"), 1);
}
END_TEST

/* It is logged again after a deletion has succeeded meanwhile. */
START_TEST(what_a_program_has_deleted_is_told_once_until_one_succeeds)
{
	check_err(kustos_create(keeper, "/full/child", "", 0,
			  KUSTOS_CREATE_PARENTS, SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	check_err(kustos_create(keeper, "/empty", "", 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	for (int i = 0; i < 2; i++) {
		check_err(kustos_delete_guaranteed(keeper, "/full", 0),
			KUSTOS_OK);
		check_told(1, "/full cannot be deleted, and stays: ");
	}
	check_err(kustos_delete_guaranteed(keeper, "/empty", 0), KUSTOS_OK);
	check_err(kustos_delete_guaranteed(keeper, "/full", 0), KUSTOS_OK);
	check_told(2, "/full cannot be deleted, and stays: ");
	/* Another folder. */
	check_err(kustos_delete_guaranteed(keeper, "/full/child", 0),
		KUSTOS_OK);
	check_told(3, "/full/child cannot be deleted, and stays: ");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("undeletable");
	TCase *t = fixture_case(s, "a client from whose nodes none is deleted",
		30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		what_a_member_of_a_double_barrier_leaves_is_told_once);
	tcase_add_loop_test(t,
		S12_a_member_is_not_counted_twice_beside_what_it_left, 0, 2);
	tcase_add_test(t, the_end_of_a_round_is_told_once);
	tcase_add_test(t, the_markers_of_claims_are_told_once);
	tcase_add_test(t, a_receipt_is_told_of);
	tcase_add_test(t,
		what_a_program_has_deleted_is_told_once_until_one_succeeds);
	return fixture_main(s);
}
