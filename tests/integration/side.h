/*
 * side.h - for tests: one handle of the real library behind lib/zk.h, the events
 * that it delivered, and requests that are waited for.
 */
#ifndef TEST_SIDE_H
#define TEST_SIDE_H

#include "support/fixture.h"

#include "zk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 15000
#define EVENTS 64

/* One handle, and the events that it delivered. */
struct side {
	struct ku_zk *zk;
	struct ku_zk_session session; /* as of the last look */
	pthread_mutex_t mutex;	      /* of the one that has entered */
	int event_count;
	struct {
		enum ku_zk_event event;
		enum ku_zk_state state;
		char path[32];
	} events[EVENTS];
};

static inline void enter_side(void *arg)
{
	struct side *side = arg;

	pthread_mutex_lock(&side->mutex);
}

static inline void leave_side(void *arg)
{
	struct side *side = arg;

	pthread_mutex_unlock(&side->mutex);
}

static inline void on_event(void *arg, enum ku_zk_event event,
	enum ku_zk_state state, const char *path)
{
	struct side *side = arg;
	int i = side->event_count % EVENTS;

	side->events[i].event = event;
	side->events[i].state = state;
	snprintf(side->events[i].path, sizeof(side->events[i].path), "%s",
		path);
	side->event_count++;
}

static inline int count_events(struct side *side, enum ku_zk_event event,
	int state, const char *path)
{
	int i, n = 0;

	enter_side(side);
	ck_assert_int_le(side->event_count, EVENTS);
	for (i = 0; i < side->event_count; i++)
		n += side->events[i].event == event &&
			(state < 0 || (int)side->events[i].state == state) &&
			!strcmp(side->events[i].path, path);
	leave_side(side);
	return n;
}

static inline void await_event(struct side *side, enum ku_zk_event event,
	int state, const char *path, int count)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (count_events(side, event, state, path) < count) {
		ck_assert_msg(test_now_ms() < end, "no event %d %s", event,
			path);
		test_pause_1ms();
	}
}

static inline void look_side(struct side *side)
{
	enter_side(side);
	ku_zk_library.session(side->zk, &side->session);
	leave_side(side);
}

static inline bool kick_side(struct side *side)
{
	bool kicked;

	enter_side(side);
	kicked = ku_zk_library.kick(side->zk);
	leave_side(side);
	return kicked;
}

static inline void steer_side(struct side *side, const char *addresses,
	bool move)
{
	enter_side(side);
	ku_zk_library.steer(side->zk, addresses, move);
	leave_side(side);
}

static inline int auth_side(struct side *side, const char *scheme,
	const char *credentials)
{
	int rc;

	enter_side(side);
	rc = ku_zk_library.add_auth(side->zk, scheme, credentials,
		(int)strlen(credentials));
	leave_side(side);
	return rc;
}

static inline int submit_side(struct side *side,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	int rc;

	enter_side(side);
	rc = ku_zk_library.submit(side->zk, request, done, arg);
	ku_zk_library.push(side->zk);
	leave_side(side);
	return rc;
}

static inline void await_connects(struct side *side, int count)
{
	await_event(side, KU_ZK_EVENT_SESSION, KU_ZK_STATE_CONNECTED, "",
		count);
	look_side(side);
}

static inline enum kustos_err try_side(struct side *side, const char *addresses)
{
	struct ku_zk_open params = {
		.addresses = addresses,
		.timeout_ms = TIMEOUT_MS,
		.enter = enter_side,
		.leave = leave_side,
		.event = on_event,
		.arg = side,
	};
	enum kustos_err err;

	memset(side, 0, sizeof(*side));
	pthread_mutex_init(&side->mutex, NULL);
	enter_side(side);
	err = ku_zk_library.open(NULL, &params, &side->zk);
	leave_side(side);
	return err;
}

static inline void open_side(struct side *side, const char *addresses)
{
	ck_assert_int_eq(try_side(side, addresses), KUSTOS_OK);
}

/* A reply, copied. */
struct answer {
	atomic_bool done;
	int rc, len, name_count, result_count;
	bool has_stat, has_data;
	struct kustos_stat stat;
	char path[64], data[64], first_name[64];
	struct ku_zk_result results[8];
	char result_paths[8][64];
};

static inline void on_done(void *arg, const struct ku_zk_reply *reply)
{
	struct answer *out = arg;
	int i;

	out->rc = reply->rc;
	out->len = reply->len;
	out->name_count = reply->name_count;
	out->result_count = reply->result_count;
	out->has_stat = reply->stat != NULL;
	out->has_data = reply->data != NULL;
	if (reply->stat)
		out->stat = *reply->stat;
	if (reply->path)
		snprintf(out->path, sizeof(out->path), "%s", reply->path);
	if (reply->data)
		memcpy(out->data, reply->data, (size_t)reply->len);
	if (reply->name_count)
		snprintf(out->first_name, sizeof(out->first_name), "%s",
			reply->names[0]);
	for (i = 0; i < reply->result_count; i++) {
		out->results[i] = reply->results[i];
		if (reply->results[i].path)
			snprintf(out->result_paths[i], 64, "%s",
				reply->results[i].path);
	}
	atomic_store(&out->done, true);
}

static inline int await_answer(struct answer *answer)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (!atomic_load(&answer->done)) {
		ck_assert_msg(test_now_ms() < end, "no reply");
		test_pause_1ms();
	}
	return answer->rc;
}

/* The answer to the last request. */
static struct answer answer;

static inline int submit(struct side *side, struct ku_zk_request request)
{
	static const struct kustos_acl open_acl = { KUSTOS_PERM_ALL, "world",
		"anyone" };

	memset(&answer, 0, sizeof(answer));
	request.acl = &open_acl;
	request.acl_count = 1;
	return submit_side(side, &request, on_done, &answer);
}

/* Send a request, wait for its answer and return the result code; "answer" has
   the rest. */
static inline int ask(struct side *side, struct ku_zk_request request)
{
	ck_assert_int_eq(submit(side, request), KU_ZK_OK);
	return await_answer(&answer);
}

#define ASK(side, ...) ask((side), (struct ku_zk_request){ __VA_ARGS__ })

#endif
