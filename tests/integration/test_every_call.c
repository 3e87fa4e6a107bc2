/*
 * test_every_call.c - what is true of every public call: what it says to NULL.
 */
#include "client_fixture.h"
#include "every_call.h"
#include "support/fixture.h"

#include <stdio.h>
#include <string.h>

/* What is about no object. */
static bool has_no_object(const char *name)
{
	size_t len = strlen(name);

	return strcmp(name + len - 5, "_name") == 0 ||
		strncmp(name, "kustos_retry_", 13) == 0 ||
		strcmp(name, "kustos_strerror") == 0 ||
		strcmp(name, "kustos_after_ms") == 0;
}

/* Return how many calls a map names; all of them have been made. */
static int check_map(const char *path)
{
	FILE *map = fopen(path, "r");
	char line[256], name[64];
	int calls = 0;

	ck_assert_msg(map != NULL, "no map %s", path);
	while (fgets(line, sizeof(line), map) != NULL) {
		if (sscanf(line, " %63[a-z_];", name) != 1 ||
			strncmp(name, "kustos_", 7) != 0)
			continue;
		calls++;
		ck_assert_msg(has_no_object(name) || every_has(name),
			"%s() is not in every_call.c", name);
	}
	fclose(map);
	return calls;
}

START_TEST(every_call_takes_NULL_for_its_object)
{
	static const char *const maps[] = { KUSTOS_MAPS };
	const struct every none = { .client = NULL };
	int calls = 0;

	ck_assert_int_eq(every_ask(&none, KUSTOS_EINVAL), 0);
	ck_assert_int_eq(every_free(&none, KUSTOS_OK), 0);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		calls += check_map(maps[i]);
	ck_assert_int_gt(calls, 150);
}
END_TEST

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)err;
	(void)first;
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)selector;
	(void)hold;
	while (!kustos_cancel_fired(cancel))
		test_pause_1ms();
}

START_TEST(what_is_made_has_to_go_somewhere)
{
	struct kustos_client_options o = client_options("127.0.0.1:1", 2000);
	struct kustos_semaphore_options two = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_selector_options leader = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_client *c = client_open_with(&o);
	const enum kustos_err no = KUSTOS_EINVAL;

	two.max = 2;
	leader.lead = lead;
	ck_assert_int_eq(kustos_client_open(&o, NULL), no);
	ck_assert_int_eq(kustos_cancel_create(NULL), no);
	ck_assert_int_eq(kustos_client_listen(c, record_state, NULL, NULL), no);
	ck_assert_int_eq(kustos_observe(c, "/x", see, NULL, NULL), no);
	ck_assert_int_eq(kustos_mutex_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_rwlock_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_semaphore_create(c, "/x", &two, NULL), no);
	ck_assert_int_eq(kustos_semaphore_mutex_create(c, "/x", NULL, NULL),
		no);
	ck_assert_int_eq(kustos_simple_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_latch_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_selector_create(c, "/x", &leader, NULL), no);
	ck_assert_int_eq(kustos_barrier_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_double_barrier_create(c, "/x", 1, NULL, NULL),
		no);
	ck_assert_int_eq(kustos_countdown_create(c, "/x", 1, NULL, NULL), no);
	ck_assert_int_eq(kustos_queue_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_claims_create(c, "/x", NULL, NULL), no);
	client_drop(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("every call");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, every_call_takes_NULL_for_its_object);
	tcase_add_test(t, what_is_made_has_to_go_somewhere);
	return fixture_main(s);
}
