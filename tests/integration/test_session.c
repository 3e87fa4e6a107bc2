/*
 * test_session.c - sessions, epochs and listeners: what is told of a loss and
 * of the next session, and that no request is forgotten meanwhile.
 */
#include "callback_gate.h"
#include "client_fixture.h"
#include "proxy.h"
#include "raw.h"

#include <kustos/cancel.h>

#include <stdlib.h>
#include <string.h>

/* Long enough that nothing expires by itself.  Not longer, because a server may
   leave the handshake of a session that is just being killed unanswered, and
   the client notices that only after a third of this. */
#define LONG_MS 6000
#define LONGER_MS 12000

static struct record record;

START_TEST(a_new_session_follows_an_expired_one_by_itself)
{
	struct kustos_client *c = client_connected(fixture_address(), LONG_MS);
	struct kustos_session before = client_session(c);

	ck_assert_int_eq(before.epoch, 1);
	ck_assert_str_eq(before.server, fixture_address());
	ck_assert_int_eq(before.timeout_ms, LONG_MS);
	client_create(c, "/mine", KUSTOS_CREATE_EPHEMERAL);
	client_kill_session(c);
	client_wait_epoch(c, before.epoch, 5000);
	ck_assert_int_eq(client_epoch(c), 2);
	ck_assert(client_session_id(c) != before.session_id);
	ck_assert_int_eq(raw_exists(fixture_address(), "/mine", NULL),
		RAW_NONODE);
	client_create(c, "/mine", KUSTOS_CREATE_EPHEMERAL);
	client_close(c);
	ck_assert_int_eq(raw_exists(fixture_address(), "/mine", NULL),
		RAW_NONODE);
}
END_TEST

/* Check that each loss was told once, in order, and was followed by the next
   epoch. */
static void check_losses(struct record *r, int losses)
{
	int64_t lost = 0, connected = 0;

	pthread_mutex_lock(&r->mutex);
	ck_assert_int_le(r->count, RECORD_MAX);
	for (int i = 0; i < r->count; i++) {
		const struct kustos_session *s = &r->told[i].session;

		if (s->state == KUSTOS_STATE_LOST) {
			ck_assert_int_eq(s->epoch, ++lost);
			ck_assert_int_ge(lost, connected);
		} else if (s->state == KUSTOS_STATE_CONNECTED) {
			ck_assert_int_gt(s->epoch, lost);
			connected = s->epoch;
		}
	}
	pthread_mutex_unlock(&r->mutex);
	ck_assert_int_eq(lost, losses);
	ck_assert_int_eq(connected, losses + 1);
}

/* Return the epoch that was last told as connected. */
static int64_t last_epoch(struct record *r)
{
	int64_t epoch = 0;

	pthread_mutex_lock(&r->mutex);
	for (int i = 0; i < r->count; i++)
		if (r->told[i].session.state == KUSTOS_STATE_CONNECTED)
			epoch = r->told[i].session.epoch;
	pthread_mutex_unlock(&r->mutex);
	return epoch;
}

START_TEST(U03_every_loss_is_told_once_and_in_order)
{
	struct kustos_client *c = client_connected(fixture_address(), LONG_MS);
	const int losses = 5;

	record_start(&record, c);
	for (int64_t epoch = 1; epoch <= losses; epoch++) {
		client_kill_session(c);
		client_wait_epoch(c, epoch, 5000);
	}
	test_eventually(last_epoch(&record) == losses + 1, 1000);
	record_stop(&record, c);
	check_losses(&record, losses);
	ck_assert_uint_eq(client_stats(c).losses, losses);
	ck_assert_uint_eq(client_stats(c).sessions, losses + 1);
	client_close(c);
}
END_TEST

START_TEST(an_outage_shorter_than_the_lease_keeps_session_and_epoch)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), LONGER_MS);
	int64_t id = client_session_id(c);

	record_start(&record, c);
	client_create(c, "/mine", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_REFUSE);
	client_wait(c, KUSTOS_STATE_SUSPENDED, 2000);
	ck_assert_int_gt(kustos_client_lease_ms(c), 0);
	ck_assert_str_eq(client_session(c).server, "");
	test_eventually(record_count(&record, KUSTOS_STATE_SUSPENDED) == 1,
		1000);
	proxy_set_mode(p, PROXY_PASS);
	client_wait(c, KUSTOS_STATE_CONNECTED, 3000);
	ck_assert_int_eq(client_epoch(c), 1);
	ck_assert(client_session_id(c) == id);
	ck_assert_int_eq(raw_exists(fixture_address(), "/mine", NULL), 0);
	test_eventually(record_count(&record, KUSTOS_STATE_CONNECTED) == 2,
		1000);
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_LOST), 0);
	client_close(c);
	proxy_free(p);
}
END_TEST

START_TEST(L17_the_same_session_after_a_loss_is_a_new_epoch)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), LONGER_MS);
	int64_t id = client_session_id(c);

	record_start(&record, c);
	client_create(c, "/mine", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_REFUSE);
	client_wait(c, KUSTOS_STATE_LOST, LEASE_MS(LONGER_MS));
	ck_assert_int_eq(kustos_client_lease_ms(c), 0);
	proxy_set_mode(p, PROXY_PASS);
	client_wait_epoch(c, 1, 3000);
	ck_assert_int_eq(client_epoch(c), 2);
	ck_assert(client_session_id(c) == id);
	ck_assert_int_eq(raw_exists(fixture_address(), "/mine", NULL), 0);
	ck_assert_uint_eq(client_stats(c).sessions, 1);
	test_eventually(last_epoch(&record) == 2, 1000);
	record_stop(&record, c);
	check_losses(&record, 1);
	client_close(c);
	proxy_free(p);
}
END_TEST

START_TEST(a_listener_is_told_the_state_of_now_first)
{
	struct kustos_client *c = client_connected(fixture_address(), LONG_MS);

	record_start(&record, c);
	ck_assert_int_eq(record.told[0].session.state, KUSTOS_STATE_CONNECTED);
	ck_assert(record.told[0].session.session_id == client_session_id(c));
	record_stop(&record, c);
	client_kill_session(c);
	client_wait_epoch(c, 1, 5000);
	ck_assert_int_eq(record.count, 1);
	client_close(c);
}
END_TEST

/* A listener that stays in its callback until it is let go. */
struct slow {
	struct kustos_client *client;
	struct kustos_listener *listener;
	struct gate gate;
	int unlistened;
};

static void stand_when_told(void *arg, const struct kustos_session *now)
{
	struct slow *s = arg;

	(void)now;
	stand(&s->gate);
}

static void *unlisten_main(void *arg)
{
	struct slow *s = arg;

	kustos_client_unlisten(s->client, s->listener);
	raise_flag(&s->unlistened);
	return NULL;
}

START_TEST(unlisten_waits_for_a_running_callback)
{
	struct slow s = { .unlistened = 0 };
	pthread_t thread;

	s.client = client_connected(fixture_address(), LONG_MS);
	ck_assert_int_eq(kustos_client_listen(s.client, stand_when_told, &s,
				 &s.listener),
		KUSTOS_OK);
	test_eventually(flag(&s.gate.entered), 1000);
	ck_assert_int_eq(pthread_create(&thread, NULL, unlisten_main, &s), 0);
	test_never(flag(&s.unlistened), 100);
	ck_assert_int_eq(flag(&s.gate.left), 0);
	raise_flag(&s.gate.open);
	pthread_join(thread, NULL);
	ck_assert_int_eq(flag(&s.gate.left), 1);
	client_kill_session(s.client);
	client_wait_epoch(s.client, 1, 5000);
	ck_assert_int_eq(flag(&s.gate.entered), 1);
	client_close(s.client);
}
END_TEST

static void unlisten_myself(void *arg, const struct kustos_session *now)
{
	struct slow *s = arg;

	(void)now;
	stand(&s->gate); /* until the listener is known */
	kustos_client_unlisten(s->client, s->listener);
	raise_flag(&s->unlistened);
}

START_TEST(a_listener_may_unlisten_itself)
{
	struct slow s = { .unlistened = 0 };

	s.client = client_connected(fixture_address(), LONG_MS);
	ck_assert_int_eq(kustos_client_listen(s.client, unlisten_myself, &s,
				 &s.listener),
		KUSTOS_OK);
	raise_flag(&s.gate.open);
	test_eventually(flag(&s.unlistened), 1000);
	client_kill_session(s.client);
	client_wait_epoch(s.client, 1, 5000);
	ck_assert_int_eq(flag(&s.gate.entered), 1);
	client_close(s.client);
}
END_TEST

/* L2: a request that slips past the check just before the library's thread ends
   is never completed by the library. */
struct hammer {
	struct kustos_client *client;
	struct completions done;
	int started;
	int stop;
};

static void *hammer_main(void *arg)
{
	struct hammer *h = arg;

	while (!flag(&h->stop)) {
		if (h->started - completions_of(&h->done) > 2000) {
			test_pause_1ms();
			continue;
		}
		ck_assert_int_eq(kustos_exists_async(h->client, "/",
					 KUSTOS_FOREVER, NULL, count_completion,
					 &h->done),
			KUSTOS_OK);
		h->started++;
	}
	return NULL;
}

static void *sync_hammer_main(void *arg)
{
	struct hammer *h = arg;

	while (!flag(&h->stop)) {
		h->started++;
		enum kustos_err err = kustos_exists(h->client, "/",
			KUSTOS_FOREVER, NULL, NULL);
		count_completion(&h->done, err, NULL);
	}
	return NULL;
}

START_TEST(L02_every_request_ends_though_the_session_expires_under_it)
{
	struct kustos_client_options o = client_options(fixture_address(),
		LONG_MS);
	o.retry = kustos_retry_forever(1);
	struct kustos_client *c = client_open_with(&o);
	struct hammer async = { .client = c }, sync = { .client = c };
	pthread_t threads[2];
	const int kills = 12;

	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);

	pthread_create(&threads[0], NULL, hammer_main, &async);
	pthread_create(&threads[1], NULL, sync_hammer_main, &sync);
	for (int64_t epoch = 1; epoch <= kills; epoch++) {
		client_kill_session(c);
		client_wait_epoch(c, epoch, 5000);
	}
	raise_flag(&async.stop);
	raise_flag(&sync.stop);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL); /* none hangs */
	test_eventually(completions_of(&async.done) == async.started, 5000);
	ck_assert_int_eq(completions_of(&sync.done), sync.started);
	ck_assert_int_gt(async.started, 10 * kills);
	ck_assert_uint_gt(client_stats(c).failed, 0);
	ck_assert_msg(async.done.failed == 0, "%d failed, %d",
		async.done.failed, async.done.err); /* reads are sent again */
	ck_assert_int_eq(sync.done.failed, 0);
	client_close(c);
	ck_assert_int_eq(completions_of(&async.done), async.started);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_test(t, a_new_session_follows_an_expired_one_by_itself);
	tcase_add_test(t, U03_every_loss_is_told_once_and_in_order);
	tcase_add_test(t,
		an_outage_shorter_than_the_lease_keeps_session_and_epoch);
	tcase_add_test(t, L17_the_same_session_after_a_loss_is_a_new_epoch);
	tcase_add_test(t, a_listener_is_told_the_state_of_now_first);
	tcase_add_test(t, unlisten_waits_for_a_running_callback);
	tcase_add_test(t, a_listener_may_unlisten_itself);
	tcase_add_test(t,
		L02_every_request_ends_though_the_session_expires_under_it);
	return fixture_main(s);
}
