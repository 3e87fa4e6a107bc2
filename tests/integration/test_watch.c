/*
 * test_watch.c - the core's watches: many of them on one client, that they are
 * removed from the server, and the order of their events.
 */
#include "client_fixture.h"
#include "proxy.h"
#include "raw.h"

#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 20000
#define MANY 10000
#define LONG_PATH 155

static struct proxy *proxy;
static struct kustos_client *client;

static void set_up(void)
{
	proxy = fixture_proxy();
	client = client_connected(proxy_address(proxy), T_MS);
}

static void tear_down(void)
{
	client_close(client);
	proxy_free(proxy);
}

/* A watch, and the read that sets it. */
struct spy {
	struct ku_watch watch;
	struct ku_request request;
	char *path;
	bool set;
	int fired[KU_WATCH_GONE + 1];
};

static void spy_fired(struct ku_watch *watch, enum ku_watch_event event)
{
	struct spy *spy = (struct spy *)watch;

	__atomic_add_fetch(&spy->fired[event], 1, __ATOMIC_SEQ_CST);
}

static void spy_set(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct spy *spy = request->owner;
	bool kept = reply->rc == KU_ZK_OK ||
		(reply->rc == KU_ZK_NONODE &&
			request->what.kind == KU_ZK_EXISTS);

	if (!kept)
		ku_watch_failed(client, &spy->watch);
	__atomic_store_n(&spy->set, true, __ATOMIC_SEQ_CST);
}

static bool is_set(struct spy *spy)
{
	return __atomic_load_n(&spy->set, __ATOMIC_SEQ_CST);
}

static int fired(struct spy *spy, enum ku_watch_event event)
{
	return __atomic_load_n(&spy->fired[event], __ATOMIC_SEQ_CST);
}

/* Set a watch on a path by a read of this "kind". */
static enum kustos_err spy_on(struct spy *spy, enum ku_zk_kind kind,
	const char *path)
{
	enum kustos_err err;

	memset(spy, 0, sizeof(*spy));
	spy->path = strdup(path);
	spy->watch.fn = spy_fired;
	spy->request.what = (struct ku_zk_request){ .kind = kind,
		.path = spy->path,
		.version = -1,
		.watch = true };
	spy->request.done = spy_set;
	spy->request.owner = spy;
	ku_lock(client);
	err = ku_watch_add(client, &spy->watch,
		kind == KU_ZK_CHILDREN ? KU_ZK_WATCH_CHILDREN
				       : KU_ZK_WATCH_DATA,
		spy->path);
	if (err == KUSTOS_OK)
		ku_wire_send(client, &spy->request);
	ku_unlock(client);
	if (err != KUSTOS_OK)
		free(spy->path);
	return err;
}

static void spy_off(struct spy *spy)
{
	ku_lock(client);
	ku_watch_remove(client, &spy->watch);
	ku_unlock(client);
}

static void spies_free(struct spy *spies, int count)
{
	for (int i = 0; i < count; i++) {
		spy_off(&spies[i]);
		free(spies[i].path);
	}
	free(spies);
}

static void flush(void)
{
	ck_assert_int_eq(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
}

static int watches_on_server(void)
{
	static char text[4000000];
	int n = 0;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "wchp", text, sizeof(text)), 0);
	for (char *c = strstr(text, "0x"); c != NULL; c = strstr(c + 2, "0x"))
		n++;
	return n;
}

/* Set "count" watches on nodes that do not exist. */
static struct spy *watch_many(int count)
{
	struct spy *spies = calloc((size_t)count, sizeof(*spies));
	char path[64];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/w%d", i);
		ck_assert_int_eq(spy_on(&spies[i], KU_ZK_EXISTS, path),
			KUSTOS_OK);
	}
	for (int i = 0; i < count; i++)
		test_eventually(is_set(&spies[i]), 20000);
	return spies;
}

static bool has_reconnected(uint64_t disconnects)
{
	return client_stats(client).disconnects > disconnects &&
		kustos_client_state(client) == KUSTOS_STATE_CONNECTED;
}

/* Cut the connection.  Returns whether this, and the reconnect, were told as
   soon as they should be on a machine that is not busy. */
static bool told_soon(struct record *record)
{
	int before = record_count(record, KUSTOS_STATE_SUSPENDED);
	int connected = record_count(record, KUSTOS_STATE_CONNECTED);
	uint64_t disconnects = client_stats(client).disconnects;
	int64_t start = test_boot_ns();
	int64_t suspended, back;

	proxy_cut(proxy);
	test_eventually(record_count(record, KUSTOS_STATE_SUSPENDED) > before ||
			has_reconnected(disconnects),
		5000);
	if (record_count(record, KUSTOS_STATE_SUSPENDED) == before)
		return false; /* too late to be told */
	test_eventually(
		record_count(record, KUSTOS_STATE_CONNECTED) > connected, 5000);
	suspended = record_when(record, KUSTOS_STATE_SUSPENDED, before + 1) -
		start;
	back = record_when(record, KUSTOS_STATE_CONNECTED, connected + 1) -
		start;
	printf("%d watches: suspended after %d us, back after %d us\n", MANY,
		(int)(suspended / 1000), (int)(back / 1000));
	return suspended < 50 * KU_NS_PER_MS && back < 500 * KU_NS_PER_MS;
}

/* With one context for each watch, every event would take 100 ms. */
START_TEST(P01_ten_thousand_watches_do_not_slow_a_session_event)
{
	struct spy *spies = watch_many(MANY);
	struct record record;
	int cuts = 1;

	record_start(&record, client);
	while (!told_soon(&record) && cuts < 20)
		cuts++;
	ck_assert_int_lt(cuts, 20);
	for (int i = 0; i < MANY; i++)
		for (int event = 0; event <= KU_WATCH_GONE; event++)
			ck_assert_int_eq(spies[i].fired[event], 0);
	ck_assert_int_eq(raw_create(fixture_address(), "/w7", NULL), 0);
	test_eventually(fired(&spies[7], KU_WATCH_CREATED) == 1, 5000);
	record_stop(&record, client);
	spies_free(spies, MANY);
	flush();
}
END_TEST

START_TEST(P03_watches_taken_off_are_taken_off_on_the_server)
{
	struct spy *spies = watch_many(200);

	ck_assert_int_eq(watches_on_server(), 200);
	for (int i = 0; i < 200; i++)
		spy_off(&spies[i]);
	flush();
	ck_assert_int_eq(watches_on_server(), 0);
	spies_free(spies, 200);
}
END_TEST

START_TEST(P03_the_last_of_several_watches_takes_it_off)
{
	struct spy a, b, c;

	ck_assert_int_eq(raw_create(fixture_address(), "/n", NULL), 0);
	ck_assert_int_eq(spy_on(&a, KU_ZK_GET, "/n"), KUSTOS_OK);
	ck_assert_int_eq(spy_on(&b, KU_ZK_EXISTS, "/n"), KUSTOS_OK);
	ck_assert_int_eq(spy_on(&c, KU_ZK_CHILDREN, "/n"), KUSTOS_OK);
	flush();
	spy_off(&a);
	spy_off(&c);
	flush();
	ck_assert_int_eq(watches_on_server(), 1);
	ck_assert_int_eq(raw_create(fixture_address(), "/n/x", NULL), 0);
	ck_assert_int_eq(raw_set(fixture_address(), "/n", "x"), 0);
	test_eventually(fired(&b, KU_WATCH_CHANGED) == 1, 2000);
	flush();
	ck_assert_int_eq(fired(&a, KU_WATCH_CHANGED), 0);
	ck_assert_int_eq(fired(&c, KU_WATCH_CHILDREN), 0);
	ck_assert_int_eq(watches_on_server(), 0);
	free(a.path);
	free(b.path);
	free(c.path);
}
END_TEST

/* The server has not confirmed yet that the first watch is removed. */
START_TEST(P03_a_watch_put_on_behind_the_end_of_another_is_taken_off)
{
	struct spy a, b;

	ck_assert_int_eq(raw_create(fixture_address(), "/n", NULL), 0);
	ck_assert_int_eq(spy_on(&a, KU_ZK_GET, "/n"), KUSTOS_OK);
	flush();
	ck_assert_int_eq(watches_on_server(), 1);
	proxy_set_mode(proxy, PROXY_HOLD);
	spy_off(&a);
	ck_assert_int_eq(spy_on(&b, KU_ZK_GET, "/n"), KUSTOS_OK);
	spy_off(&b);
	proxy_set_mode(proxy, PROXY_PASS);
	test_eventually(is_set(&b), 5000);
	flush();
	ck_assert_int_eq(watches_on_server(), 0);
	free(a.path);
	free(b.path);
}
END_TEST

START_TEST(P03_a_watch_taken_off_while_disconnected_is_taken_off_later)
{
	struct spy *spies = watch_many(20);

	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	for (int i = 0; i < 20; i++)
		spy_off(&spies[i]);
	proxy_set_mode(proxy, PROXY_PASS);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	test_eventually(watches_on_server() == 0, 2000);
	spies_free(spies, 20);
}
END_TEST

/* An event that was missed while disconnected is told afterwards. */
START_TEST(a_watch_survives_a_disconnect_and_tells_what_was_missed)
{
	struct spy spy;

	ck_assert_int_eq(raw_create(fixture_address(), "/n", NULL), 0);
	ck_assert_int_eq(spy_on(&spy, KU_ZK_GET, "/n"), KUSTOS_OK);
	flush();
	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	ck_assert_int_eq(raw_delete(fixture_address(), "/n"), 0);
	proxy_set_mode(proxy, PROXY_PASS);
	test_eventually(fired(&spy, KU_WATCH_DELETED) == 1, 5000);
	free(spy.path);
}
END_TEST

START_TEST(L07_the_paths_watched_are_capped_and_fit_one_frame)
{
	struct spy *spies = calloc(8000, sizeof(*spies));
	char path[LONG_PATH + 1];
	enum kustos_err err;
	int n = 0;

	for (;;) {
		snprintf(path, sizeof(path), "/%0*d", LONG_PATH - 1, n);
		err = spy_on(&spies[n], KU_ZK_EXISTS, path);
		if (err != KUSTOS_OK || n == 7999)
			break;
		n++;
	}
	ck_assert_int_eq(err, KUSTOS_ELIMIT);
	ck_assert_int_eq(n, 700000 / (LONG_PATH + 4));
	for (int i = 0; i < n; i++)
		test_eventually(is_set(&spies[i]), 20000);
	proxy_cut(proxy);
	client_wait_epoch(client, 0, 5000);
	test_eventually(client_stats(client).disconnects == 1, 2000);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	flush();
	test_never(client_stats(client).disconnects != 1, 300);
	ck_assert_int_eq(watches_on_server(), n);
	ck_assert_int_eq(raw_create(fixture_address(), spies[0].path, NULL), 0);
	test_eventually(fired(&spies[0], KU_WATCH_CREATED) == 1, 5000);
	/* A watch that was removed makes room. */
	ck_assert_int_eq(spy_on(&spies[n], KU_ZK_EXISTS, path), KUSTOS_OK);
	test_eventually(is_set(&spies[n]), 2000);
	spies_free(spies, n + 1);
	flush();
}
END_TEST

/* Answers and events come in one stream.  So a client that reads a change has
   already been told the event of this change, however busy the stream is. */
START_TEST(S22_a_waiting_read_does_not_overtake_an_event)
{
	struct completions noise = { 0 };
	struct kustos_stat stat;
	struct spy spy;
	int asked = 0;

	ck_assert_int_eq(raw_create(fixture_address(), "/n", NULL), 0);
	for (int round = 1; round <= 100; round++) {
		ck_assert_int_eq(spy_on(&spy, KU_ZK_GET, "/n"), KUSTOS_OK);
		flush();
		for (int i = 0; i < 100; i++, asked++)
			ck_assert_int_eq(kustos_get_async(client, "/n", SOON,
						 NULL, count_completion,
						 &noise),
				KUSTOS_OK);
		ck_assert_int_eq(raw_set(fixture_address(), "/n", "x"), 0);
		ck_assert_int_eq(
			kustos_get(client, "/n", SOON, NULL, NULL, NULL, &stat),
			KUSTOS_OK);
		ck_assert_int_eq(stat.version, round);
		ck_assert_int_eq(fired(&spy, KU_WATCH_CHANGED), 1);
		free(spy.path);
	}
	test_eventually(completions_of(&noise) == asked, 5000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watch");
	TCase *t = fixture_case(s, "watch", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, P01_ten_thousand_watches_do_not_slow_a_session_event);
	tcase_add_test(t, P03_watches_taken_off_are_taken_off_on_the_server);
	tcase_add_test(t, P03_the_last_of_several_watches_takes_it_off);
	tcase_add_test(t,
		P03_a_watch_put_on_behind_the_end_of_another_is_taken_off);
	tcase_add_test(t,
		P03_a_watch_taken_off_while_disconnected_is_taken_off_later);
	tcase_add_test(t,
		a_watch_survives_a_disconnect_and_tells_what_was_missed);
	tcase_add_test(t, L07_the_paths_watched_are_capped_and_fit_one_frame);
	tcase_add_test(t, S22_a_waiting_read_does_not_overtake_an_event);
	return fixture_main(s);
}
