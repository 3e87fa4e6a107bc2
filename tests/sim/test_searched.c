/*
 * test_searched.c - the answer to a creation is lost, and the search for its
 * node meets nodes that look alike, loses answers itself, is forbidden, or
 * comes too late.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/node.h>

#include <stdio.h>
#include <string.h>

#define DIR "/dir"
#define PROTECTED (KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PROTECTED)
#define NUMBERED (PROTECTED | KUSTOS_CREATE_SEQUENTIAL)

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static int end; /* -1: not yet */
static int creations, said;
static char path[128]; /* where the last creation was sent to */

enum fate { ANSWERED, UNHEARD, LOST, REFUSED, LATE };
/* Of the next request of each kind; REFUSED: of all. */
static enum fate fates[KU_ZK_MULTI + 1];

/* Another client deletes the node just before a request for it comes. */
static void delete_before(const struct ku_zk_request *request)
{
	const struct ku_zk_request gone = { .kind = KU_ZK_DELETE,
		.path = request->path,
		.version = -1 };

	lone_send(&bench, raw, &gone);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	enum fate fate = fates[request->kind];

	if (strncmp(request->path, DIR, strlen(DIR)) != 0)
		fate = ANSWERED;
	else if (fate != REFUSED)
		fates[request->kind] = ANSWERED;
	if (request->kind == KU_ZK_CREATE) {
		creations++;
		strcpy(path, request->path);
	}
	switch (fate) {
	case UNHEARD:
		return lone_lose(zk, request, done, arg);
	case LOST:
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	case REFUSED:
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	case LATE:
		delete_before(request);
		break;
	case ANSWERED:
		break;
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void take_line(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	said += level == KUSTOS_LOG_ERROR &&
		strstr(line, "may have been made") != NULL;
}

static void setup(void)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	memset(fates, 0, sizeof(fates));
	creations = said = 0;
	end = -1;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 5);
	bench_create(&bench, raw, DIR, "", KU_ZK_PERSISTENT);
	o.retry = kustos_retry_n_times(8, 500);
	o.log = take_line;
	client = lone_connected_with(&bench, &api, 1, &o);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	ck_assert_int_eq(end, -1);
	end = (int)err;
	if (err == KUSTOS_OK)
		strcpy(path, result->path);
}

/* Create a node, and run until the first try has had its fate. */
static void create(int flags, enum fate fate)
{
	fates[KU_ZK_CREATE] = fate;
	ck_assert_int_eq(kustos_create_async(client, DIR "/node-", "", 0, flags,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(creations, 1);
	ck_assert_int_eq(end, -1);
}

static void check_end(enum kustos_err err, int sent, int nodes)
{
	lone_run_ms(&bench, client, 5000);
	ck_assert_int_eq(end, err);
	ck_assert_int_eq(creations, sent);
	ck_assert_int_eq(model_child_count(bench.model, DIR), nodes);
}

/* The plain creation is sent once more before each look. */
START_TEST(S06_a_search_whose_answer_is_lost_is_made_again)
{
	static const enum ku_zk_kind kinds[] = { KU_ZK_EXISTS, KU_ZK_CHILDREN,
		KU_ZK_EXISTS };

	fates[kinds[_i]] = LOST;
	create(_i == 0 ? KUSTOS_CREATE_EPHEMERAL : NUMBERED, UNHEARD);
	check_end(KUSTOS_OK, _i == 0 ? 3 : 1, 1);
	ck_assert_int_eq(fates[kinds[_i]], ANSWERED);
}
END_TEST

/* Without its stat nothing tells whose node it is. */
START_TEST(S06_a_node_that_may_not_be_looked_at_ends_as_unknown)
{
	fates[KU_ZK_EXISTS] = REFUSED;
	create(KUSTOS_CREATE_EPHEMERAL, UNHEARD);
	check_end(KUSTOS_EUNKNOWN, 2, 1);
}
END_TEST

START_TEST(S06_a_node_that_goes_as_it_is_found_is_made_anew)
{
	fates[KU_ZK_EXISTS] = LATE;
	create(NUMBERED, UNHEARD);
	check_end(KUSTOS_OK, 2, 1);
}
END_TEST

/* What was found is deleted, as its stat may not be read; but another client
   has deleted it. */
START_TEST(S06_a_node_that_goes_as_it_is_deleted_is_made_anew)
{
	fates[KU_ZK_EXISTS] = REFUSED;
	fates[KU_ZK_DELETE] = LATE;
	create(NUMBERED, UNHEARD);
	check_end(KUSTOS_OK, 2, 1);
	ck_assert_int_eq(said, 0);
}
END_TEST

START_TEST(S06_a_node_that_may_not_be_looked_at_or_deleted_is_told_of)
{
	fates[KU_ZK_EXISTS] = fates[KU_ZK_DELETE] = REFUSED;
	create(NUMBERED, UNHEARD);
	check_end(KUSTOS_EUNKNOWN, 1, 1);
	ck_assert_int_eq(said, 1);
}
END_TEST

START_TEST(a_node_that_was_found_counts_as_one_of_the_sessions)
{
	create(NUMBERED, UNHEARD);
	check_end(KUSTOS_OK, 1, 1);
	ck_assert_int_gt(ku_footprint_czxid(&client->footprint, path), 0);
}
END_TEST

/* Another client makes a node whose name begins with our GUID.  It is not
   ephemeral, so its owner tells nothing. */
static void lure(const char *leaf)
{
	char name[128];
	size_t head = strlen(path) - strlen("node-");

	snprintf(name, sizeof(name), "%.*s%s", (int)head, path, leaf);
	bench_create(&bench, raw, name, "", KU_ZK_PERSISTENT);
}

START_TEST(S06_a_node_that_begins_with_our_guid_is_not_ours)
{
	static const char *const leaves[] = { "else-0000000001", "node-",
		"node-000000001", "node-000000000001", "node-00000000x1",
		"node-0000000001 " };

	create(NUMBERED & ~KUSTOS_CREATE_EPHEMERAL, LOST);
	for (int i = 0; i < (int)UNIT_COUNT(leaves); i++)
		lure(leaves[i]);
	check_end(KUSTOS_OK, 2, (int)UNIT_COUNT(leaves) + 1);
}
END_TEST

START_TEST(S06_a_node_that_begins_with_our_name_is_not_ours)
{
	create(KUSTOS_CREATE_PROTECTED, LOST);
	lure("node-0000000001");
	lure("node");
	check_end(KUSTOS_OK, 2, 3);
}
END_TEST

/* The server's numbers have 11 characters from -1000000000 down. */
START_TEST(S18_a_node_of_a_long_negative_number_is_found)
{
	create(NUMBERED & ~KUSTOS_CREATE_EPHEMERAL, LOST);
	lure("node--2147483640");
	check_end(KUSTOS_OK, 1, 1);
}
END_TEST

/* Any other client may make a node of the same name, if there is no GUID in
   it. */
START_TEST(only_a_guid_tells_that_a_node_is_being_made)
{
	create(_i == 0 ? KUSTOS_CREATE_EPHEMERAL : PROTECTED, LOST);
	ck_assert_int_eq(
		ku_create_makes(client->ops.newest, ku_path_leaf(path)), _i);
	check_end(KUSTOS_OK, 2, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("searches in the simulator");
	TCase *t = tcase_create("searches");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, S06_a_search_whose_answer_is_lost_is_made_again,
		0, 3);
	tcase_add_test(t, S06_a_node_that_may_not_be_looked_at_ends_as_unknown);
	tcase_add_test(t, S06_a_node_that_goes_as_it_is_found_is_made_anew);
	tcase_add_test(t, S06_a_node_that_goes_as_it_is_deleted_is_made_anew);
	tcase_add_test(t,
		S06_a_node_that_may_not_be_looked_at_or_deleted_is_told_of);
	tcase_add_test(t, a_node_that_was_found_counts_as_one_of_the_sessions);
	tcase_add_test(t, S06_a_node_that_begins_with_our_guid_is_not_ours);
	tcase_add_test(t, S06_a_node_that_begins_with_our_name_is_not_ours);
	tcase_add_test(t, S18_a_node_of_a_long_negative_number_is_found);
	tcase_add_loop_test(t, only_a_guid_tells_that_a_node_is_being_made, 0,
		2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
