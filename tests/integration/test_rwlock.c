/*
 * test_rwlock.c - one client or two and a server that works: what each call of
 * <kustos/rwlock.h> returns, and what it leaves on the server.
 */
#include "rwlock_fixture.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#define T_MS 40000
#define UUID "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx"
#define HEX "xxxxxxxxxxxx4xxxxxxxxxxxxxxxxxxx"
#define NUMBER "dddddddddd"

static void set_up(void)
{
	pair_open(T_MS, 0);
	rw_pair_make(32);
}

/* --- Names and data ------------------------------------------------------ */

static void check_name(struct kustos_hold *hold, const char *pattern)
{
	check_text(rw_name(hold), pattern);
}

static const struct {
	enum kustos_dialect dialect;
	enum kustos_side side;
	const char *name;
} names[] = {
	{ KUSTOS_DIALECT_CURATOR, KUSTOS_READ, "_c_" UUID "-__READ__" NUMBER },
	{ KUSTOS_DIALECT_CURATOR, KUSTOS_WRITE, "_c_" UUID "-__WRIT__" NUMBER },
	{ KUSTOS_DIALECT_KAZOO, KUSTOS_READ, HEX "__rlock__" NUMBER },
	{ KUSTOS_DIALECT_KAZOO, KUSTOS_WRITE, HEX "__lock__" NUMBER },
};
#define NAMES 4

START_TEST(a_lock_is_one_node_and_an_unlock_removes_it)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	enum kustos_side side = names[_i].side;
	struct kustos_rwlock *one = NULL;
	struct kustos_hold *hold;

	o.dialect = names[_i].dialect;
	check_err(kustos_rwlock_create(client, LINE, &o, &one), KUSTOS_OK);
	ck_assert_ptr_null(kustos_rwlock_hold(one, side));
	rw_lock(one, side);
	hold = kustos_rwlock_hold(one, side);
	ck_assert_ptr_nonnull(hold);
	ck_assert_ptr_null(kustos_rwlock_hold(one, !side));
	ck_assert_int_eq(kustos_rwlock_token(one, side),
		kustos_hold_token(hold));
	ck_assert_int_eq(kustos_rwlock_token(one, !side), 0);
	check_name(hold, names[_i].name);
	check_node(hold, client);
	ck_assert_int_eq(line_count(), 1);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	ck_assert_int_le(kustos_hold_remaining_ms(hold), LEASE_MS(T_MS));
	rw_unlock(one, side);
	rw_flush();
	ck_assert_int_eq(line_count(), 0);
	ck_assert_ptr_null(kustos_rwlock_hold(one, side));
	ck_assert_int_eq(kustos_rwlock_token(one, side), 0);
	kustos_rwlock_destroy(one);
}
END_TEST

/* Hold "side" with these options, and return the data of its node. */
static const char *stored(const struct kustos_rwlock_options *o,
	enum kustos_side side)
{
	static char data[1024];
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct kustos_rwlock *one = NULL;
	struct kustos_hold *hold;

	check_err(kustos_rwlock_create(client, LINE, o, &one), KUSTOS_OK);
	hold = rw_take(one, side);
	ck_assert_int_eq(raw_do_get(raw, kustos_hold_path(hold), data,
				 sizeof(data), NULL),
		0);
	hold_give(hold);
	kustos_rwlock_destroy(one);
	raw_close(raw);
	return data;
}

START_TEST(a_node_stores_what_it_was_told_to)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	enum kustos_side side = (enum kustos_side)_i;
	struct in6_addr address;
	const char *data = stored(&o, side);

	ck_assert(inet_pton(AF_INET, data, &address) == 1 ||
		inet_pton(AF_INET6, data, &address) == 1);
	o.data = "mine and more";
	o.data_len = 4;
	ck_assert_str_eq(stored(&o, side), "mine");
	o.holder_record = 1;
	o.reason = "spring-cleaning";
	data = stored(&o, side);
	ck_assert_int_eq(data[0], '{');
	ck_assert_ptr_nonnull(strstr(data, "spring-cleaning"));
}
END_TEST

/* --- Lock and unlock ----------------------------------------------------- */

START_TEST(each_side_nests_and_only_the_last_unlock_gives_it_back)
{
	enum kustos_side side = (enum kustos_side)_i;
	uint64_t sent;

	rw_lock(rw, side);
	rw_flush();
	sent = client_stats(client).sent;
	for (int i = 0; i < 100; i++)
		check_err(kustos_rwlock_lock(rw, side,
				  i % 2 ? KUSTOS_NOW : SOON, NULL),
			KUSTOS_OK);
	for (int i = 0; i < 100; i++)
		rw_unlock(rw, side);
	/* The watch of its own node, and no more requests. */
	ck_assert_uint_le(client_stats(client).sent, sent + 1);
	ck_assert_int_eq(line_count(), 1);
	rw_unlock(rw, side);
	rw_flush();
	ck_assert_int_eq(line_count(), 0);
	check_err(kustos_rwlock_unlock(rw, side), KUSTOS_ENOTHELD);
}
END_TEST

#define ORDERS 5
static const char *const orders[ORDERS] = { "10 10", "10 01", "1001 1010",
	"1001 0011", "1110 1011" };

/* As digits: 1 locks for writing, 0 for reading; then come the unlocks. */
START_TEST(the_sides_count_by_themselves)
{
	const char *step = orders[_i];
	int held[2] = { 0, 0 };

	for (; *step != ' '; step++) {
		rw_lock(rw, (enum kustos_side)(*step - '0'));
		held[*step - '0']++;
	}
	for (step++; *step != '\0'; step++) {
		ck_assert_int_eq(line_count(), (held[0] > 0) + (held[1] > 0));
		rw_unlock(rw, (enum kustos_side)(*step - '0'));
		held[*step - '0']--;
		rw_flush();
	}
	ck_assert_int_eq(line_count(), 0);
	for (int side = 0; side < 2; side++) {
		check_err(kustos_rwlock_unlock(rw, (enum kustos_side)side),
			KUSTOS_ENOTHELD);
		ck_assert_ptr_null(
			kustos_rwlock_hold(rw, (enum kustos_side)side));
	}
}
END_TEST

struct stranger {
	enum kustos_err errs[2];
	struct kustos_hold *seen[2];
};

static void *unlock_both(void *arg)
{
	struct stranger *s = arg;

	for (int side = 0; side < 2; side++) {
		s->errs[side] = kustos_rwlock_unlock(rw,
			(enum kustos_side)side);
		s->seen[side] = kustos_rwlock_hold(rw, (enum kustos_side)side);
	}
	return NULL;
}

START_TEST(U01_unlock_by_another_thread_is_an_error_and_does_nothing)
{
	enum kustos_side side = (enum kustos_side)_i;
	struct stranger s = { .seen = { NULL, NULL } };
	pthread_t thread;

	check_err(kustos_rwlock_unlock(rw, side), KUSTOS_ENOTHELD);
	rw_lock(rw, side);
	check_err(kustos_rwlock_unlock(rw, !side), KUSTOS_ENOTHELD);
	ck_assert_int_eq(pthread_create(&thread, NULL, unlock_both, &s), 0);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		check_err(s.errs[i], KUSTOS_ENOTHELD);
		ck_assert_ptr_null(s.seen[i]);
	}
	check_node(kustos_rwlock_hold(rw, side), client);
	rw_unlock(rw, side);
}
END_TEST

static void *release_it(void *hold)
{
	hold_give(hold);
	return NULL;
}

START_TEST(U01_a_hold_is_released_by_any_thread)
{
	enum kustos_side side = (enum kustos_side)_i;
	struct kustos_hold *hold = rw_take(rw, side);
	pthread_t thread;

	check_err(kustos_rwlock_unlock(rw, side), KUSTOS_ENOTHELD);
	check_node(hold, client);
	ck_assert_int_eq(pthread_create(&thread, NULL, release_it, hold), 0);
	pthread_join(thread, NULL);
	hold_give(rw_take(rw_rivals, KUSTOS_WRITE));
}
END_TEST

START_TEST(S13_who_reads_and_asks_to_write_is_told_at_once_that_it_cannot)
{
	const kustos_deadline deadlines[] = { KUSTOS_NOW, SOON,
		KUSTOS_FOREVER };
	uint64_t sent;

	rw_lock(rw, KUSTOS_READ);
	rw_lock(rw, KUSTOS_READ);
	rw_flush();
	sent = client_stats(client).sent;
	for (int i = 0; i < 9; i++)
		check_err(kustos_rwlock_lock(rw, KUSTOS_WRITE, deadlines[i % 3],
				  NULL),
			KUSTOS_EDEADLK);
	ck_assert_uint_le(client_stats(client).sent, sent + 1);
	ck_assert_int_eq(line_count(), 1);
	check_err(kustos_rwlock_unlock(rw, KUSTOS_WRITE), KUSTOS_ENOTHELD);
	rw_unlock(rw, KUSTOS_READ);
	check_err(kustos_rwlock_lock(rw, KUSTOS_WRITE, SOON, NULL),
		KUSTOS_EDEADLK);
	rw_unlock(rw, KUSTOS_READ);
	rw_lock(rw, KUSTOS_WRITE);
	rw_unlock(rw, KUSTOS_WRITE);
}
END_TEST

/* A hold belongs to no thread, so its owner waits for itself as anybody
   would. */
START_TEST(a_hold_of_a_reader_is_nobodys_deadlock)
{
	struct kustos_lockable write = kustos_rwlock_lockable(rw, KUSTOS_WRITE);
	struct kustos_hold *hold = rw_take(rw, KUSTOS_READ);

	check_err(kustos_rwlock_lock(rw, KUSTOS_WRITE, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	rw_lock(rw, KUSTOS_READ);
	check_err(rw_try(rw, KUSTOS_WRITE), KUSTOS_EBUSY);
	hold_give(hold);
	/* Nor does it look at what its caller has locked. */
	check_err(
		kustos_acquire_all(&write, 1, kustos_after_ms(30), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	rw_unlock(rw, KUSTOS_READ);
}
END_TEST

START_TEST(an_unlock_that_is_not_to_wait_does_not)
{
	struct kustos_client_options how = pair_proxy(T_MS);
	struct kustos_client *far = client_open_with(&how);
	struct kustos_rwlock *one;

	client_wait(far, KUSTOS_STATE_CONNECTED, 5000);
	check_err(kustos_rwlock_create(far, LINE, NULL, &one), KUSTOS_OK);
	rw_lock(one, KUSTOS_WRITE);
	proxy_set_mode(proxy, PROXY_HOLD);
	rw_unlock(one, KUSTOS_WRITE);
	ck_assert_int_eq(line_count(), 1);
	proxy_set_mode(proxy, PROXY_PASS);
	kustos_rwlock_destroy(one);
	client_close(far);
}
END_TEST

/* Requests take a while to arrive. */
START_TEST(an_unlock_that_waits_has_taken_place_when_it_returns)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_client_options how = pair_proxy(T_MS);
	struct kustos_client *far = client_open_with(&how);
	struct kustos_rwlock *waits;

	client_wait(far, KUSTOS_STATE_CONNECTED, 5000);
	o.unlock_waits = 1;
	check_err(kustos_rwlock_create(far, LINE, &o, &waits), KUSTOS_OK);
	proxy_set_delay(proxy, 100, 0);
	for (int i = 0; i < 4; i++) {
		rw_lock(waits, (enum kustos_side)(i % 2));
		rw_unlock(waits, (enum kustos_side)(i % 2));
		ck_assert_int_eq(line_count(), 0);
	}
	proxy_set_delay(proxy, 0, 0);
	kustos_rwlock_destroy(waits);
	client_close(far);
}
END_TEST

/* --- Arguments ----------------------------------------------------------- */

START_TEST(options_of_any_size_are_read_as_far_as_they_go)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_rwlock *one = NULL;

	/* The options of an older program: what is behind their end is not
	   read. */
	o.size = offsetof(struct kustos_rwlock_options, dialect);
	o.dialect = (enum kustos_dialect)77;
	o.data_len = 5;
	check_err(kustos_rwlock_create(client, LINE, &o, &one), KUSTOS_OK);
	rw_lock(one, KUSTOS_READ);
	check_name(kustos_rwlock_hold(one, KUSTOS_READ), names[0].name);
	rw_unlock(one, KUSTOS_READ);
	kustos_rwlock_destroy(one);
	one = NULL;
	o.size = sizeof(o);
	o.data_len = 0;
	check_err(kustos_rwlock_create(client, LINE, &o, &one), KUSTOS_EINVAL);
	o.dialect = KUSTOS_DIALECT_CURATOR;
	o.data_len = 5;
	check_err(kustos_rwlock_create(client, LINE, &o, &one), KUSTOS_EINVAL);
	o.data_len = 0;
	o.local_handoffs = -1;
	check_err(kustos_rwlock_create(client, LINE, &o, &one), KUSTOS_EINVAL);
	o.local_handoffs = 1;
	o.size = 0;
	check_err(kustos_rwlock_create(client, LINE, &o, &one), KUSTOS_EINVAL);
	ck_assert_ptr_null(one);
}
END_TEST

static void not_granted(void *arg, enum kustos_err err,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	ck_abort_msg("told %s", kustos_err_name(err));
}

static void check_bad_side(enum kustos_side side)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_rwlock_lock(rw, side, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_rwlock_unlock(rw, side), KUSTOS_EINVAL);
	check_err(kustos_rwlock_acquire(rw, side, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_acquire_async(rw, side, SOON, NULL, not_granted,
			  NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(kustos_rwlock_hold(rw, side));
	ck_assert_ptr_null(kustos_rwlock_lockable(rw, side).object);
	ck_assert_ptr_null(hold);
}

START_TEST(what_is_malformed_is_refused)
{
	static const char *const paths[] = { "", "a", "/", "//a", "/a/",
		"/a//b", "/a/../b", "/\x01" };
	struct kustos_rwlock *one = NULL;
	struct kustos_hold *hold = NULL;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		check_err(kustos_rwlock_create(client, paths[i], NULL, &one),
			KUSTOS_EINVAL);
	check_err(kustos_rwlock_create(client, NULL, NULL, &one),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_create(client, LINE, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_create(NULL, LINE, NULL, &one), KUSTOS_EINVAL);
	ck_assert_ptr_null(one);
	check_bad_side((enum kustos_side)2);
	check_bad_side((enum kustos_side) - 1);
	check_err(kustos_rwlock_lock(NULL, KUSTOS_READ, SOON, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_unlock(NULL, KUSTOS_READ), KUSTOS_EINVAL);
	ck_assert_ptr_null(kustos_rwlock_lockable(NULL, KUSTOS_READ).object);
	check_err(kustos_rwlock_acquire(NULL, KUSTOS_READ, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_acquire(rw, KUSTOS_READ, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_acquire_async(rw, KUSTOS_READ, SOON, NULL, NULL,
			  NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(kustos_rwlock_hold(NULL, KUSTOS_READ));
	ck_assert_int_eq(kustos_rwlock_token(NULL, KUSTOS_READ), 0);
	ck_assert_int_eq(kustos_rwlock_mixed(NULL), 0);
	kustos_rwlock_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, rw_pair_close);
	tcase_add_loop_test(t, a_lock_is_one_node_and_an_unlock_removes_it, 0,
		NAMES);
	tcase_add_loop_test(t, a_node_stores_what_it_was_told_to, 0, SIDES);
	tcase_add_loop_test(t,
		each_side_nests_and_only_the_last_unlock_gives_it_back, 0,
		SIDES);
	tcase_add_loop_test(t, the_sides_count_by_themselves, 0, ORDERS);
	tcase_add_loop_test(t,
		U01_unlock_by_another_thread_is_an_error_and_does_nothing, 0,
		SIDES);
	tcase_add_loop_test(t, U01_a_hold_is_released_by_any_thread, 0, SIDES);
	tcase_add_test(t,
		S13_who_reads_and_asks_to_write_is_told_at_once_that_it_cannot);
	tcase_add_test(t, a_hold_of_a_reader_is_nobodys_deadlock);
	tcase_add_test(t, an_unlock_that_is_not_to_wait_does_not);
	tcase_add_test(t, an_unlock_that_waits_has_taken_place_when_it_returns);
	tcase_add_test(t, options_of_any_size_are_read_as_far_as_they_go);
	tcase_add_test(t, what_is_malformed_is_refused);
	return fixture_main(s);
}
