/*
 * test_mutex_parent.c - the node of the line itself: who creates it, who
 * removes it, and what it stores.
 */
#include "mutex_pair.h"

#include <string.h>

#define T_MS 20000
#define MANY 60 /* enough waiters for a long line */

static void set_up(void)
{
	pair_open(T_MS, 0);
}

static bool is_there(const char *path)
{
	return raw_exists(fixture_address(), path, NULL) == 0;
}

START_TEST(L21_a_line_that_was_reaped_is_made_again)
{
	for (int i = 0; i < 4; i++) {
		hold_give(hold_take(i % 2 ? mutex : rivals));
		test_eventually(!is_there("/locks"), 5000);
	}
}
END_TEST

/* kazoo creates it once and relies on it. */
START_TEST(L21_a_line_of_kazoos_dialect_is_not_reaped)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *plain = NULL;

	o.dialect = KUSTOS_DIALECT_KAZOO;
	check_err(kustos_mutex_create(client, LINE, &o, &plain), KUSTOS_OK);
	hold_give(hold_take(plain));
	kustos_mutex_destroy(plain);
	/* Meanwhile a line that can be reaped is gone. */
	check_err(kustos_mutex_create(client, "/locks/b", NULL, &plain),
		KUSTOS_OK);
	hold_give(hold_take(plain));
	kustos_mutex_destroy(plain);
	test_eventually(!is_there("/locks/b"), 5000);
	test_never(!is_there(LINE), 250);
}
END_TEST

struct remover {
	atomic_bool stop;
	atomic_int removed;
};

/* Delete the line's node whenever it is empty. */
static void *remove_it(void *arg)
{
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct remover *r = arg;

	ck_assert_ptr_nonnull(raw);
	while (!atomic_load(&r->stop)) {
		atomic_fetch_add(&r->removed,
			raw_do_delete(raw, LINE, -1) == 0);
		(void)raw_do_delete(raw, "/locks", -1);
	}
	raw_close(raw);
	return NULL;
}

START_TEST(L21_a_line_that_is_removed_at_any_moment_is_made_again)
{
	struct remover r = { .removed = 0 };
	int64_t end = test_now_ms() + PATIENCE_MS;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, remove_it, &r), 0);
	for (int i = 0; i < 300 || atomic_load(&r.removed) < 10; i++) {
		ck_assert_int_lt(test_now_ms(), end);
		struct kustos_hold *hold = hold_take(i % 2 ? mutex : rivals);

		if (i % 10 == 0)
			check_node(hold, i % 2 ? client : other);
		hold_give(hold);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
}
END_TEST

/* MANY waiters are served. */
static void serve_many(void)
{
	static struct ask asks[MANY];
	struct kustos_hold *hold = hold_take(mutex);

	memset(asks, 0, sizeof(asks));
	for (int i = 0; i < MANY; i++) {
		asks[i].release = true;
		ask(&asks[i], i % 2 ? mutex : rivals, SOON);
		if (i == MANY / 2)
			line_wait(MANY / 2 + 2);
	}
	line_wait(MANY + 1);
	hold_give(hold);
	for (int i = 0; i < MANY; i++)
		check_err(ask_wait(&asks[i], 8000), KUSTOS_OK);
	for (int i = 1; i < MANY; i++)
		if (i % 2 == 0) /* each client has its own order */
			ck_assert_int_gt(asks[i].token, asks[i - 2].token);
}

START_TEST(what_a_program_keeps_in_the_node_of_a_line_is_not_touched)
{
	char data[64];
	struct raw_stat stat;
	struct raw *raw = raw_open(fixture_address(), 60000);

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_create(fixture_address(), "/locks", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, "ours"), 0);
	serve_many();
	ck_assert_int_eq(raw_do_get(raw, LINE, data, sizeof(data), &stat), 0);
	ck_assert_str_eq(data, "ours");
	ck_assert_int_eq(stat.version, 0);
	raw_close(raw);
}
END_TEST

/* Return the one that holds the lock. */
static struct ask *holder(struct ask *asks)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (test_now_ms() < end) {
		for (int i = 0; i < MANY; i++)
			if (!ask_waits(&asks[i]) && asks[i].hold != NULL)
				return &asks[i];
		test_pause_1ms();
	}
	ck_abort_msg("nobody is served");
	return NULL;
}

START_TEST(what_a_program_writes_to_the_node_of_a_long_line_stays)
{
	static struct ask asks[MANY];
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct raw_stat stat;
	char data[128];

	ck_assert_ptr_nonnull(raw);
	for (int i = 0; i < MANY; i++) {
		ask(&asks[i], i % 2 ? mutex : rivals, SOON);
		if (i < 10) /* so that these take turns and see the line */
			line_wait(i + 1);
	}
	line_wait(MANY);
	for (int i = 0; i < MANY; i++) {
		struct ask *a = holder(asks);

		/* So what the client reads before it leaves a name there has
		   been read. */
		check_err(kustos_client_flush((a - asks) % 2 ? client : other,
				  SOON, NULL),
			KUSTOS_OK);
		if (i == 8) { /* earlier names have been here */
			ck_assert_int_eq(raw_do_get(raw, LINE, data,
						 sizeof(data), &stat),
				0);
			ck_assert_int_gt(stat.version, 0);
			ck_assert_int_eq(raw_do_set(raw, LINE, "news", -1), 0);
			/* So that the node is not reaped before it is read. */
			ck_assert_int_eq(raw_do_create(raw, LINE "/stays", "",
						 RAW_PERSISTENT, NULL, 0),
				0);
		}
		hold_give(a->hold);
		a->hold = NULL;
	}
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_do_get(raw, LINE, data, sizeof(data), &stat), 0);
	ck_assert_str_eq(data, "news");
	ck_assert_int_eq(raw_do_delete(raw, LINE "/stays", -1), 0);
	raw_close(raw);
}
END_TEST

int main(void)
{
	static const struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=100"
	};
	Suite *s = suite_create("mutex, parent");
	TCase *t;

	fixture_options(&options);
	t = fixture_case(s, "one server", 30);
	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_test(t, L21_a_line_that_was_reaped_is_made_again);
	tcase_add_test(t, L21_a_line_of_kazoos_dialect_is_not_reaped);
	tcase_add_test(t,
		L21_a_line_that_is_removed_at_any_moment_is_made_again);
	tcase_add_test(t,
		what_a_program_keeps_in_the_node_of_a_line_is_not_touched);
	tcase_add_test(t,
		what_a_program_writes_to_the_node_of_a_long_line_stays);
	return fixture_main(s);
}
