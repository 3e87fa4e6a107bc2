/*
 * test_participants.c - a line seen from outside: who stands in it, asking one
 * of them to leave, taking a place away, removing an empty line.
 */
#include "mutex_pair.h"

#include <kustos/participant.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define T_MS 10000
#define HEX32 "00112233445566778899aabbccddeeff"

static void set_up(void)
{
	pair_open(T_MS, 32);
}

static struct kustos_participants *participants(void)
{
	struct kustos_participants *p = NULL;

	check_err(kustos_participants(client, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_ptr_nonnull(p);
	return p;
}

/* Make a mutex with these options on LINE. */
static struct kustos_mutex *mutex_with(const struct kustos_mutex_options *o)
{
	struct kustos_mutex *m = NULL;

	check_err(kustos_mutex_create(client, LINE, o, &m), KUSTOS_OK);
	return m;
}

/* The wall-clock time, as the server stores it. */
static int64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

START_TEST(U07_participants_come_in_order_with_all_that_is_known)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct ask a = { .calls = 0 };
	struct kustos_participants *p;
	struct kustos_participant *first;
	struct rival rival;
	int64_t held_ms = wall_ms(), asked_ms;

	ask(&a, rivals, SOON);
	line_wait(2);
	rival_enter(&rival);
	test_eventually(wall_ms() > held_ms + 5, 1000);
	asked_ms = wall_ms();
	p = participants();
	first = p->list[0];
	ck_assert_int_ge(first->age_ms, asked_ms - first->stat.ctime_ms);
	ck_assert_int_le(first->age_ms, wall_ms() - first->stat.ctime_ms);
	ck_assert_uint_eq(p->count, 3);
	ck_assert_uint_eq(p->foreign, 0);
	ck_assert_int_eq(p->mixed, 0);
	ck_assert_str_eq(first->path, kustos_hold_path(hold));
	ck_assert(first->stat.czxid == kustos_hold_token(hold));
	ck_assert(first->stat.ephemeral_owner == client_session_id(client));
	ck_assert(p->list[1]->stat.ephemeral_owner == client_session_id(other));
	ck_assert_str_eq(p->list[2]->path, rival.path);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(p->list[i]->holds, i == 0);
		ck_assert_int_eq(p->list[i]->number, i);
		ck_assert_int_eq(p->list[i]->style, KUSTOS_STYLE_CURATOR);
		ck_assert_int_gt(p->list[i]->stat.ctime_ms, 0);
	}
	kustos_participants_free(p);
	hold_give(hold);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	hold_give(a.hold);
	rival_leave(&rival);
}
END_TEST

START_TEST(U07_a_line_that_is_empty_or_missing_is_told_apart)
{
	struct kustos_participants *p = NULL;

	check_err(kustos_participants(client, LINE, SOON, NULL, &p),
		KUSTOS_ENONODE);
	check_err(kustos_participants(client, "bad", SOON, NULL, &p),
		KUSTOS_EINVAL);
	check_err(kustos_participants(client, LINE, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(p);
	hold_give(hold_take(mutex));
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	p = participants();
	ck_assert_uint_eq(p->count, 0);
	kustos_participants_free(p);
	kustos_participants_free(NULL);
}
END_TEST

START_TEST(L20_who_is_not_to_wait_does_not_wait_for_a_connection)
{
	struct kustos_participants *p = NULL;
	struct kustos_hold *hold;

	pair_close();
	pair_open_behind_proxy(T_MS, 32);
	hold = hold_take(mutex);
	pair_flush();
	proxy_arm(proxy, PROXY_LOSE_REQUEST, ZK_OP_GET, 1);
	check_err(kustos_participants(client, LINE, KUSTOS_NOW, NULL, &p),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	check_err(kustos_participants(client, LINE, KUSTOS_NOW, NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 1);
	kustos_participants_free(p);
	hold_give(hold);
}
END_TEST

START_TEST(U04_all_styles_are_seen_and_foreign_names_are_counted)
{
	static const char *const prefixes[] = { LINE "/" HEX32 "__lock__",
		LINE "/" HEX32 "-lock-", LINE "/x-72057594037927936-",
		LINE "/config", LINE "/other-" };
	static const enum kustos_style styles[] = { KUSTOS_STYLE_CURATOR,
		KUSTOS_STYLE_KAZOO, KUSTOS_STYLE_LOCK, KUSTOS_STYLE_SESSION };
	struct kustos_hold *hold = hold_take(mutex);
	struct raw *raw = raw_open(fixture_address(), T_MS);
	struct kustos_participants *p;
	char made[128];

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(raw_do_create(raw, prefixes[i],
					 i == 2 ? NULL : "x",
					 i == 3 ? RAW_EPHEMERAL
						: RAW_EPHEMERAL_SEQUENTIAL,
					 made, sizeof(made)),
			0);
	p = participants();
	ck_assert_uint_eq(p->count, 4);
	ck_assert_uint_eq(p->foreign, 2);
	ck_assert_int_eq(p->mixed, 1);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(p->list[i]->style, styles[i]);
	ck_assert_str_eq(p->list[1]->data, "x");
	ck_assert_uint_eq(p->list[1]->len, 1);
	ck_assert_ptr_null(p->list[3]->data); /* as Java's recipe has it */
	ck_assert_uint_eq(p->list[3]->len, 0);
	kustos_participants_free(p);
	raw_close(raw);
	hold_give(hold);
}
END_TEST

/* Hold a mutex with these options, and copy what its node stores. */
static void read_data(const struct kustos_mutex_options *o, char *data,
	size_t size)
{
	struct kustos_mutex *m = mutex_with(o);
	struct kustos_hold *hold = hold_take(m);
	struct kustos_participants *p = participants();

	ck_assert_uint_eq(p->count, 1);
	ck_assert_uint_lt(p->list[0]->len, size);
	ck_assert_ptr_nonnull(p->list[0]->data);
	memcpy(data, p->list[0]->data, p->list[0]->len + 1);
	kustos_participants_free(p);
	hold_give(hold);
	kustos_mutex_destroy(m);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
}

static void no_revoke(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
}

START_TEST(U04_a_writer_of_kazoos_waits_for_the_reader_before_it)
{
	static const char *const names[] = { "__lock__0000000000",
		"__rlock__0000000001", "__lock__0000000002",
		"__rlock__0000000003" };
	struct kustos_participants *p;
	char path[128];

	for (int i = _i, flags = KUSTOS_CREATE_PARENTS; i < 4; i++) {
		snprintf(path, sizeof(path), LINE "/" HEX32 "%s", names[i]);
		check_err(kustos_create(other, path, "", 0, flags, SOON, NULL,
				  NULL, NULL),
			KUSTOS_OK);
	}
	p = participants();
	ck_assert_uint_eq(p->count, 4 - _i);
	for (int i = 0; i < (int)p->count; i++) {
		ck_assert_int_eq(p->list[i]->kind,
			(i + _i) % 2 ? KUSTOS_KIND_READ : KUSTOS_KIND_WRITE);
		ck_assert_int_eq(p->list[i]->holds, i == 0);
	}
	kustos_participants_free(p);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
}
END_TEST

START_TEST(U07_a_node_stores_what_its_options_say)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	char data[512], pid[32], host[256];

	read_data(&o, data, sizeof(data));
	ck_assert_str_eq(data, "127.0.0.1"); /* from where we reach it */
	o.data = "mine";
	o.data_len = 4;
	read_data(&o, data, sizeof(data));
	ck_assert_str_eq(data, "mine");
	o.on_revoke = no_revoke;
	read_data(&o, data, sizeof(data));
	ck_assert_str_eq(data, "mine");
	o.data = NULL;
	o.data_len = 0;
	read_data(&o, data, sizeof(data));
	ck_assert_str_eq(data, "");
	o.on_revoke = NULL;
	o.holder_record = 1;
	o.reason = "nightly \"report\"\n";
	read_data(&o, data, sizeof(data));
	snprintf(pid, sizeof(pid), "\"pid\":%d", (int)getpid());
	ck_assert_ptr_nonnull(strstr(data, pid));
	ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
	ck_assert_ptr_nonnull(strstr(data, host));
	ck_assert_ptr_nonnull(strstr(data, "test_participants"));
	ck_assert_ptr_nonnull(strstr(data, "nightly \\\"report\\\"\\u000a"));
	ck_assert_int_eq(data[0], '{');
	ck_assert_int_eq(data[strlen(data) - 1], '}');
}
END_TEST

START_TEST(a_node_stores_the_clients_own_data_if_it_has_some)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *named;
	struct kustos_mutex *m = NULL;

	o.node_data = "blue";
	o.node_data_len = 4;
	named = client_open_with(&o);
	check_err(kustos_mutex_create(named, LINE, NULL, &m), KUSTOS_OK);
	struct kustos_hold *hold = hold_take(m);
	struct kustos_participants *p = participants();
	ck_assert_str_eq(p->list[0]->data, "blue");
	kustos_participants_free(p);
	hold_give(hold);
	kustos_mutex_destroy(m);
	client_close(named);
}
END_TEST

/*
 * Asking.
 */
struct asked {
	int calls;
	bool release;
	struct kustos_hold *hold;
};

static void on_revoke(void *arg, struct kustos_hold *hold)
{
	struct asked *asked = arg;

	asked->hold = hold;
	if (asked->release)
		check_err(kustos_hold_release(hold), KUSTOS_OK);
	__atomic_add_fetch(&asked->calls, 1, __ATOMIC_SEQ_CST);
}

static struct kustos_mutex *revocable(struct asked *asked)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	o.on_revoke = on_revoke;
	o.on_revoke_arg = asked;
	return mutex_with(&o);
}

static void request(const char *path)
{
	check_err(kustos_participant_revoke(other, path, SOON, NULL),
		KUSTOS_OK);
}

START_TEST(a_revocable_holder_is_asked_once_for_each_request)
{
	struct asked asked = { .calls = 0 };
	struct kustos_mutex *m = revocable(&asked);
	struct kustos_hold *hold = hold_take(m);

	for (int i = 1; i <= 3; i++) {
		request(kustos_hold_path(hold));
		test_eventually(calls_of(&asked.calls) == i, 2000);
		ck_assert_ptr_eq(asked.hold, hold);
		/* Other data is not a request. */
		ck_assert_int_eq(raw_set(fixture_address(),
					 kustos_hold_path(hold), "__REVOKE_"),
			0);
		check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	}
	test_never(calls_of(&asked.calls) > 3, 50);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	hold_give(hold);
	kustos_mutex_destroy(m);
}
END_TEST

START_TEST(a_revocable_holder_may_give_it_back_when_asked)
{
	struct asked asked = { .release = true };
	struct kustos_mutex *m = revocable(&asked);
	struct kustos_hold *hold = hold_take(m);
	struct ask a = { .calls = 0 };

	ask(&a, rivals, SOON);
	line_wait(2);
	request(kustos_hold_path(hold));
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	test_eventually(calls_of(&asked.calls) == 1, 2000);
	hold_give(a.hold);
	kustos_mutex_destroy(m);
}
END_TEST

/* The one that asked waits for the node to go. */
START_TEST(a_holder_that_was_asked_hands_over_to_no_thread_of_its_own)
{
	struct asked asked = { .calls = 0 };
	struct kustos_mutex *m = revocable(&asked);
	struct ask own = { .release = true }, theirs = { .release = true };
	struct kustos_hold *hold = hold_take(m);

	ask(&own, m, SOON);
	ask(&theirs, rivals, SOON);
	line_wait(2);
	request(kustos_hold_path(hold));
	test_eventually(calls_of(&asked.calls) == 1, 2000);
	hold_give(hold);
	check_err(ask_wait(&own, 2000), KUSTOS_OK);
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	ck_assert_int_gt(own.token, theirs.token);
	kustos_mutex_destroy(m);
}
END_TEST

START_TEST(who_is_asked_while_waiting_learns_of_it_when_it_holds)
{
	struct asked asked = { .calls = 0 };
	struct kustos_mutex *m = revocable(&asked);
	struct kustos_participants *p;
	struct rival line[3];
	struct ask a = { .calls = 0 };

	for (int i = 0; i < 1 + _i; i++)
		rival_enter(&line[i]);
	ask(&a, m, SOON);
	line_wait(2 + _i);
	p = participants();
	request(p->list[1 + _i]->path);
	kustos_participants_free(p);
	test_never(calls_of(&asked.calls) > 0 || !ask_waits(&a), 50);
	for (int i = 0; i < 1 + _i; i++)
		rival_leave(&line[i]);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	test_eventually(calls_of(&asked.calls) == 1, 2000);
	ck_assert_ptr_eq(asked.hold, a.hold);
	hold_give(a.hold);
	kustos_mutex_destroy(m);
}
END_TEST

START_TEST(a_holder_that_is_not_revocable_is_left_in_peace)
{
	struct kustos_hold *hold = hold_take(mutex);
	char path[128];

	snprintf(path, sizeof(path), "%s", kustos_hold_path(hold));
	request(path);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	hold_give(hold);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_participant_revoke(other, path, SOON, NULL),
		KUSTOS_ENONODE);
}
END_TEST

/*
 * Taking a place away.
 */
static enum kustos_err break_it(const struct kustos_participant *shown)
{
	return kustos_participant_break(other, shown, SOON, NULL);
}

START_TEST(breaking_takes_a_place_away_and_the_next_one_holds)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct kustos_participants *p;
	struct ask a = { .calls = 0 };
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	ask(&a, rivals, SOON);
	line_wait(2);
	p = participants();
	request(p->list[0]->path); /* changes the node, which must not matter */
	check_err(break_it(p->list[0]), KUSTOS_OK);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	test_eventually(calls_of(&lost) == 1, 2000);
	check_err(break_it(p->list[0]), KUSTOS_ENONODE);
	kustos_participants_free(p);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	check_node(a.hold, other);
	hold_give(a.hold);
}
END_TEST

START_TEST(breaking_refuses_what_is_not_what_was_shown)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct kustos_participants *p = participants();
	struct kustos_stat *stat = &p->list[0]->stat;

	stat->czxid--; /* another node */
	check_err(break_it(p->list[0]), KUSTOS_ECHANGED);
	stat->czxid++;
	stat->ephemeral_owner++; /* another owner */
	check_err(break_it(p->list[0]), KUSTOS_ECHANGED);
	check_err(break_it(NULL), KUSTOS_EINVAL);
	check_node(hold, client);
	kustos_participants_free(p);
	hold_give(hold);
}
END_TEST

START_TEST(cleaning_removes_a_line_only_if_it_is_empty)
{
	struct kustos_hold *hold = hold_take(mutex);

	check_err(kustos_line_clean(other, LINE, SOON, NULL), KUSTOS_OK);
	check_node(hold, client);
	hold_give(hold);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_line_clean(other, LINE, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_exists(fixture_address(), LINE, NULL), RAW_NONODE);
	check_err(kustos_line_clean(other, LINE, SOON, NULL), KUSTOS_OK);
	check_err(kustos_line_clean(other, "bad", SOON, NULL), KUSTOS_EINVAL);
	hold_give(hold_take(mutex));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("participants");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_test(t,
		U07_participants_come_in_order_with_all_that_is_known);
	tcase_add_test(t, U07_a_line_that_is_empty_or_missing_is_told_apart);
	tcase_add_test(t,
		L20_who_is_not_to_wait_does_not_wait_for_a_connection);
	tcase_add_test(t,
		U04_all_styles_are_seen_and_foreign_names_are_counted);
	tcase_add_loop_test(t,
		U04_a_writer_of_kazoos_waits_for_the_reader_before_it, 0, 2);
	tcase_add_test(t, U07_a_node_stores_what_its_options_say);
	tcase_add_test(t, a_node_stores_the_clients_own_data_if_it_has_some);
	tcase_add_test(t, a_revocable_holder_is_asked_once_for_each_request);
	tcase_add_test(t, a_revocable_holder_may_give_it_back_when_asked);
	tcase_add_test(t,
		a_holder_that_was_asked_hands_over_to_no_thread_of_its_own);
	tcase_add_loop_test(t,
		who_is_asked_while_waiting_learns_of_it_when_it_holds, 0, 3);
	tcase_add_test(t, a_holder_that_is_not_revocable_is_left_in_peace);
	tcase_add_test(t, breaking_takes_a_place_away_and_the_next_one_holds);
	tcase_add_test(t, breaking_refuses_what_is_not_what_was_shown);
	tcase_add_test(t, cleaning_removes_a_line_only_if_it_is_empty);
	return fixture_main(s);
}
