/*
 * test_edges.c - events that coincide: a reconnect and another session timeout,
 * an impatient retry policy and no server, a callback and its removal.
 */
#include "client_fixture.h"

#include "child.h"
#include "proxy.h"
#include "raw.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 10000

/* Make the server grant no more than "ms" to sessions from its next start
   on. */
static void shorten_sessions(struct server *server, int ms)
{
	char command[512];

	ck_assert_int_eq(server_stop(server), 0);
	snprintf(command, sizeof(command),
		"sed -i s/maxSessionTimeout=.*/maxSessionTimeout=%d/ "
		"%s/zoo.cfg",
		ms, server_dir(server));
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(server_restart(server), 0);
}

START_TEST(S01_a_timeout_that_a_reconnect_shortens_shortens_the_lease)
{
	struct server_options options = { .max_session_ms = 20000 };
	struct server *server = server_start(&options);
	struct proxy *proxy;
	struct kustos_client *c;

	ck_assert_ptr_nonnull(server);
	proxy = proxy_start("127.0.0.1", server_address(server),
		PROXY_ZOOKEEPER);
	c = client_connected(proxy_address(proxy), 20000);
	client_create(c, "/e", KUSTOS_CREATE_EPHEMERAL);
	shorten_sessions(server, 6000);
	test_eventually(client_session(c).timeout_ms == 6000, 8000);
	client_wait(c, KUSTOS_STATE_CONNECTED, 8000);
	proxy_set_mode(proxy, PROXY_HOLE);
	client_wait(c, KUSTOS_STATE_LOST, 6000);
	ck_assert_int_eq(raw_exists(server_address(server), "/e", NULL), 0);
	client_drop(c);
	proxy_free(proxy);
	server_free(server);
}
END_TEST

START_TEST(P07_a_policy_without_a_pause_stops_nothing_else)
{
	struct kustos_client_options options = client_options("127.0.0.1:1",
		T_MS);
	struct kustos_client *c;
	int64_t start = test_now_ms();

	options.retry = kustos_retry_forever(0);
	c = client_open_with(&options);
	ck_assert_int_eq(
		kustos_exists(c, "/x", kustos_after_ms(200), NULL, NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert_int_lt(test_now_ms() - start, 10000);
	client_drop(c);
}
END_TEST

/* What a creation returned. */
struct creation {
	struct kustos_client *client;
	int flags;
	enum kustos_err err;
	char *path;
};

static void *create_protected(void *arg)
{
	struct creation *creation = arg;

	creation->err = kustos_create(creation->client, "/lock", NULL, 0,
		KUSTOS_CREATE_PROTECTED | creation->flags, SOON, NULL,
		&creation->path, NULL);
	return NULL;
}

#define PLANTED 16 /* most of the time listed before ours */

/* Create nodes beside ours with names that begin with our node's name, or only
   with its GUID. */
static void plant(char *ours, size_t size, bool all)
{
	struct raw_names names;
	char path[1200];
	size_t guid = strlen("_c_00000000-0000-0000-0000-000000000000-");

	ck_assert_int_eq(raw_children(fixture_address(), "/", &names), 0);
	for (int i = 0; i < names.count; i++)
		if (strncmp(names.names[i], "_c_", 3) == 0)
			snprintf(ours, size, "/%s", names.names[i]);
	raw_names_free(&names);
	ck_assert_int_ne(ours[0], '\0');
	for (int i = 0; i < PLANTED; i++) {
		memset(path, 'a' + i, sizeof(path));
		memcpy(path, ours, all ? strlen(ours) : 1 + guid);
		path[sizeof(path) - 1] = '\0';
		ck_assert_int_eq(raw_create(fixture_address(), path, "x"), 0);
	}
}

START_TEST(S06_a_foreign_node_under_our_guid_is_not_ours)
{
	struct proxy *proxy = fixture_proxy();
	struct creation creation = { 0 };
	char ours[128] = "";
	pthread_t thread;

	creation.client = client_connected(proxy_address(proxy), T_MS);
	creation.flags = _i == 2 ? KUSTOS_CREATE_SEQUENTIAL : 0;
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	ck_assert_int_eq(
		pthread_create(&thread, NULL, create_protected, &creation), 0);
	test_eventually(proxy_fired(proxy) == 1, 3000);
	proxy_set_mode(proxy, PROXY_REFUSE);
	plant(ours, sizeof(ours), _i > 0);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(creation.err, KUSTOS_OK);
	ck_assert_str_eq(creation.path, ours);
	kustos_free(creation.path);
	client_close(creation.client);
	proxy_free(proxy);
}
END_TEST

START_TEST(U05_the_root_with_flags_stays_in_the_name_space)
{
	struct kustos_client_options options = client_options(fixture_address(),
		T_MS);
	struct kustos_client *c;
	char *path;

	options.name_space = "/billing";
	c = client_open_with(&options);
	ck_assert_int_eq(kustos_create(c, "/", NULL, 0, KUSTOS_CREATE_PROTECTED,
				 SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_create(c, "/", NULL, 0,
				 KUSTOS_CREATE_SEQUENTIAL, SOON, NULL, &path,
				 NULL),
		KUSTOS_OK);
	ck_assert_str_eq(path, "/0000000000");
	ck_assert_int_eq(
		raw_exists(fixture_address(), "/billing/0000000000", NULL), 0);
	kustos_free(path);
	client_close(c);
}
END_TEST

static void nothing(void *arg, const struct kustos_session *now)
{
	(void)arg;
	(void)now;
}

START_TEST(a_listener_may_be_removed_the_moment_it_is_added)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	struct kustos_listener *l;

	for (int i = 0; i < 2000; i++) {
		ck_assert_int_eq(kustos_client_listen(c, nothing, NULL, &l),
			KUSTOS_OK);
		kustos_client_unlisten(c, l);
	}
	client_close(c);
}
END_TEST

struct slow { /* a completion that blocks until it is let go */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool entered, go;
};

static void take_long(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct slow *slow = arg;

	(void)err;
	(void)result;
	pthread_mutex_lock(&slow->mutex);
	slow->entered = true;
	pthread_cond_broadcast(&slow->changed);
	while (!slow->go)
		pthread_cond_wait(&slow->changed, &slow->mutex);
	pthread_mutex_unlock(&slow->mutex);
}

static void *dispatch_once(void *arg)
{
	struct pollfd fd = { .fd = kustos_client_fd(arg), .events = POLLIN };

	if (poll(&fd, 1, PATIENCE_MS) == 1)
		(void)kustos_client_dispatch(arg);
	return NULL;
}

static void *close_it(void *arg)
{
	(void)kustos_client_close(arg, SOON, NULL);
	return NULL;
}

START_TEST(L11_a_close_waits_for_the_dispatch_of_another_thread)
{
	struct kustos_client_options options = client_options(fixture_address(),
		T_MS);
	struct slow slow = { .mutex = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER };
	struct kustos_client *c;
	pthread_t dispatcher, closer;

	options.dispatch = KUSTOS_DISPATCH_FD;
	c = client_open_with(&options);
	ck_assert_int_eq(kustos_client_wait_connected(c, SOON, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(
		kustos_exists_async(c, "/", SOON, NULL, take_long, &slow),
		KUSTOS_OK);
	pthread_create(&dispatcher, NULL, dispatch_once, c);
	pthread_mutex_lock(&slow.mutex);
	while (!slow.entered)
		pthread_cond_wait(&slow.changed, &slow.mutex);
	pthread_mutex_unlock(&slow.mutex);
	pthread_create(&closer, NULL, close_it, c);
	test_eventually(kustos_client_state(c) == KUSTOS_STATE_CLOSED, 8000);
	pthread_mutex_lock(&slow.mutex);
	slow.go = true;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.mutex);
	ck_assert_int_eq(pthread_join(dispatcher, NULL), 0);
	ck_assert_int_eq(pthread_join(closer, NULL), 0);
}
END_TEST

/* A listener whose first call blocks.  It removes itself when it is told LOST
   beside that call. */
struct leaver {
	struct slow slow;
	struct kustos_client *client;
	struct kustos_listener *listener;
	bool leaving, left;
};

static void set_flag(struct leaver *leaver, bool *flag)
{
	pthread_mutex_lock(&leaver->slow.mutex);
	*flag = true;
	pthread_mutex_unlock(&leaver->slow.mutex);
}

static bool is_set(struct leaver *leaver, const bool *flag)
{
	pthread_mutex_lock(&leaver->slow.mutex);
	bool set = *flag;
	pthread_mutex_unlock(&leaver->slow.mutex);
	return set;
}

static void leave_when_lost(void *arg, const struct kustos_session *now)
{
	struct leaver *leaver = arg;

	if (now->state == KUSTOS_STATE_CONNECTED)
		take_long(&leaver->slow, KUSTOS_OK, NULL);
	if (now->state != KUSTOS_STATE_LOST)
		return;
	set_flag(leaver, &leaver->leaving);
	kustos_client_unlisten(leaver->client, leaver->listener);
	set_flag(leaver, &leaver->left);
}

START_TEST(L11_a_listener_may_leave_beside_its_own_slow_call)
{
	struct proxy *proxy = fixture_proxy();
	struct leaver leaver = {
		.slow = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			.changed = PTHREAD_COND_INITIALIZER }
	};

	leaver.client = client_connected(proxy_address(proxy), 12000);
	ck_assert_int_eq(kustos_client_listen(leaver.client, leave_when_lost,
				 &leaver, &leaver.listener),
		KUSTOS_OK);
	test_eventually(is_set(&leaver, &leaver.slow.entered), 5000);
	proxy_set_mode(proxy, PROXY_HOLE);
	test_eventually(is_set(&leaver, &leaver.leaving), 10000);
	ck_assert(!is_set(&leaver, &leaver.left));
	set_flag(&leaver, &leaver.slow.go);
	pthread_cond_broadcast(&leaver.slow.changed);
	/* Before the next change of state, which would wake it anyway. */
	test_within(is_set(&leaver, &leaver.left), 3600);
	client_drop(leaver.client);
	proxy_free(proxy);
}
END_TEST

START_TEST(L06_a_close_in_a_hurry_still_tells_the_server)
{
	enum kustos_err err = KUSTOS_ELINGERING;

	/* A busy server may be too slow, and then the close says so. */
	for (int i = 0; i < 20 && err == KUSTOS_ELINGERING; i++) {
		struct kustos_client *c = client_connected(fixture_address(),
			T_MS);
		int64_t linger = -1;
		char path[16];

		snprintf(path, sizeof(path), "/e%d", i);
		client_create(c, path, KUSTOS_CREATE_EPHEMERAL);
		err = kustos_client_close(c, KUSTOS_NOW, &linger);
		ck_assert_int_eq(linger > 0, err == KUSTOS_ELINGERING);
		if (err == KUSTOS_OK)
			ck_assert_int_eq(
				raw_exists(fixture_address(), path, NULL),
				RAW_NONODE);
	}
	ck_assert_int_eq(err, KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("edges");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_test(t,
		S01_a_timeout_that_a_reconnect_shortens_shortens_the_lease);
	tcase_add_test(t, P07_a_policy_without_a_pause_stops_nothing_else);
	tcase_add_loop_test(t, S06_a_foreign_node_under_our_guid_is_not_ours, 0,
		3);
	tcase_add_test(t, U05_the_root_with_flags_stays_in_the_name_space);
	tcase_add_test(t, a_listener_may_be_removed_the_moment_it_is_added);
	tcase_add_test(t, L11_a_close_waits_for_the_dispatch_of_another_thread);
	tcase_add_test(t, L11_a_listener_may_leave_beside_its_own_slow_call);
	tcase_add_test(t, L06_a_close_in_a_hurry_still_tells_the_server);
	return fixture_main(s);
}
