/*
 * test_fork.c - a process with a client forks, or executes another program:
 * calls in the child return EFORKED, the parent is not disturbed, and no
 * descriptor is inherited.
 */
#include "child.h"
#include "client_fixture.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <kustos/cancel.h>

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct state {
	struct kustos_client *client;
	struct kustos_listener *listener;
	struct completions done;
};

#define CHECK(cond)                                \
	do {                                       \
		if (!(cond))                       \
			return __LINE__ % 100 + 1; \
	} while (0)
#define FORKED(call) CHECK((call) == KUSTOS_EFORKED)

static int ask_about_client(struct kustos_client *c)
{
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;
	struct kustos_listener *l;
	struct kustos_session s = KUSTOS_SESSION_INIT;

	FORKED(kustos_client_wait_connected(c, KUSTOS_FOREVER, NULL));
	FORKED(kustos_client_flush(c, KUSTOS_FOREVER, NULL));
	FORKED(kustos_client_session(c, &s));
	FORKED(kustos_client_stats(c, &stats));
	FORKED(kustos_client_listen(c, record_state, NULL, &l));
	CHECK(kustos_client_state(c) == KUSTOS_STATE_CLOSED);
	CHECK(kustos_client_lease_ms(c) == 0);
	CHECK(kustos_client_fd(c) == -1);
	CHECK(kustos_client_dispatch(c) == 0);
	return 0;
}

static int ask_for_nodes(struct kustos_client *c)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CHECK, .path = "/" };
	struct kustos_names *names;
	char *text;
	size_t len;

	op.version = -1;
	FORKED(kustos_create(c, "/x", NULL, 0, 0, KUSTOS_FOREVER, NULL, &text,
		NULL));
	FORKED(kustos_get(c, "/", KUSTOS_FOREVER, NULL, &text, &len, NULL));
	FORKED(kustos_set(c, "/", NULL, 0, -1, KUSTOS_FOREVER, NULL, NULL));
	FORKED(kustos_exists(c, "/", KUSTOS_FOREVER, NULL, NULL));
	FORKED(kustos_delete(c, "/x", -1, KUSTOS_FOREVER, NULL));
	FORKED(kustos_delete_guaranteed(c, "/x", 1));
	FORKED(kustos_children(c, "/", KUSTOS_FOREVER, NULL, &names, NULL));
	FORKED(kustos_sync(c, "/", KUSTOS_FOREVER, NULL));
	FORKED(kustos_multi(c, &op, 1, KUSTOS_FOREVER, NULL, NULL));
	return 0;
}

static int ask_async(struct kustos_client *c, struct completions *d)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CHECK, .path = "/" };
	const kustos_deadline end = KUSTOS_FOREVER;
	int before = completions_of(d);

	op.version = -1;
	FORKED(kustos_create_async(c, "/x", NULL, 0, 0, end, NULL,
		count_completion, d));
	FORKED(kustos_get_async(c, "/", end, NULL, count_completion, d));
	FORKED(kustos_set_async(c, "/", NULL, 0, -1, end, NULL,
		count_completion, d));
	FORKED(kustos_exists_async(c, "/", end, NULL, count_completion, d));
	FORKED(kustos_delete_async(c, "/x", -1, end, NULL, count_completion,
		d));
	FORKED(kustos_children_async(c, "/", end, NULL, count_completion, d));
	FORKED(kustos_sync_async(c, "/", end, NULL, count_completion, d));
	FORKED(kustos_multi_async(c, &op, 1, end, NULL, count_completion, d));
	CHECK(completions_of(d) == before);
	return 0;
}

/* All that the child may do: get EFORKED from each call, and free. */
static int use_and_close(void *arg)
{
	struct state *s = arg;
	int64_t linger_ms = -1;
	int rc;

	if ((rc = ask_about_client(s->client)) != 0 ||
		(rc = ask_for_nodes(s->client)) != 0 ||
		(rc = ask_async(s->client, &s->done)) != 0)
		return rc;
	kustos_client_unlisten(s->client, s->listener);
	CHECK(kustos_client_close(s->client, KUSTOS_FOREVER, &linger_ms) ==
		KUSTOS_EFORKED);
	return 0;
}

static struct record record;

enum when { CONNECTING, CONNECTED, BUSY, SUSPENDED, LOST, IN_FD_MODE, WHENS };

static void bring_to(struct state *s, enum when when, struct proxy *p)
{
	switch (when) {
	case CONNECTING:
		ck_assert_int_eq(kustos_client_state(s->client),
			KUSTOS_STATE_CONNECTING);
		return;
	case BUSY:
		proxy_set_mode(p, PROXY_HOLD);
		for (int i = 0; i < 3000; i++)
			ck_assert_int_eq(kustos_exists_async(s->client, "/",
						 KUSTOS_FOREVER, NULL,
						 count_completion, &s->done),
				KUSTOS_OK);
		return;
	case SUSPENDED:
		proxy_set_mode(p, PROXY_REFUSE);
		client_wait(s->client, KUSTOS_STATE_SUSPENDED, 2000);
		return;
	case LOST:
		proxy_set_mode(p, PROXY_REFUSE);
		client_wait(s->client, KUSTOS_STATE_LOST, 3000);
		return;
	default:
		return;
	}
}

START_TEST(S24_a_child_gets_EFORKED_and_the_parent_goes_on)
{
	enum when when = (enum when)_i;
	struct proxy *p = fixture_proxy();
	struct kustos_client_options o = client_options(proxy_address(p), 9000);
	struct state s = { .client = NULL };
	int64_t id = 0;

	if (when == CONNECTING)
		proxy_set_mode(p, PROXY_REFUSE);
	if (when == IN_FD_MODE)
		o.dispatch = KUSTOS_DISPATCH_FD;
	s.client = client_open_with(&o);
	if (when != CONNECTING) {
		client_wait(s.client, KUSTOS_STATE_CONNECTED, 3000);
		id = client_session_id(s.client);
		client_create(s.client, "/held", KUSTOS_CREATE_EPHEMERAL);
	}
	ck_assert_int_eq(kustos_client_listen(s.client, record_state, &record,
				 &s.listener),
		KUSTOS_OK);
	bring_to(&s, when, p);
	ck_assert_int_eq(child_run(use_and_close, &s), 0);

	proxy_set_mode(p, PROXY_PASS);
	client_wait(s.client, KUSTOS_STATE_CONNECTED, 3000);
	if (when != CONNECTING) {
		ck_assert(client_session_id(s.client) == id);
		ck_assert_int_eq(raw_exists(fixture_address(), "/held", NULL),
			0);
	}
	if (when == BUSY)
		test_eventually(completions_of(&s.done) == 3000, 5000);
	ck_assert_int_eq(kustos_exists(s.client, "/",
				 kustos_after_ms(PATIENCE_MS), NULL, NULL),
		KUSTOS_OK);
	kustos_client_unlisten(s.client, s.listener);
	client_close(s.client);
	proxy_free(p);
}
END_TEST

/* A child may have clients of its own. */
static int open_own(void *arg)
{
	struct state *s = arg;
	struct kustos_client *own = client_connected(fixture_address(), 10000);

	CHECK(kustos_exists(own, "/", kustos_after_ms(PATIENCE_MS), NULL,
		      NULL) == KUSTOS_OK);
	CHECK(kustos_client_close(s->client, KUSTOS_NOW, NULL) ==
		KUSTOS_EFORKED);
	CHECK(kustos_exists(own, "/", kustos_after_ms(PATIENCE_MS), NULL,
		      NULL) == KUSTOS_OK);
	CHECK(kustos_client_close(own, kustos_after_ms(PATIENCE_MS), NULL) ==
		KUSTOS_OK);
	return 0;
}

START_TEST(S24_a_child_may_open_a_client_of_its_own)
{
	struct state s = { .client = client_connected(fixture_address(),
				   10000) };
	int64_t id = client_session_id(s.client);

	client_create(s.client, "/held", KUSTOS_CREATE_EPHEMERAL);
	ck_assert_int_eq(child_run(open_own, &s), 0);
	ck_assert_int_eq(kustos_exists(s.client, "/held",
				 kustos_after_ms(PATIENCE_MS), NULL, NULL),
		KUSTOS_OK);
	ck_assert(client_session_id(s.client) == id);
	ck_assert_int_eq(client_epoch(s.client), 1);
	client_close(s.client);
}
END_TEST

/* A retry policy that, when told to, blocks where it is called, with the client
   locked. */
static atomic_bool stays;
static sem_t is_there, may_go;

static int64_t try_again(void *arg, enum kustos_err err, int tries,
	int64_t elapsed_ms)
{
	(void)arg;
	(void)err;
	(void)tries;
	(void)elapsed_ms;
	if (atomic_exchange(&stays, false)) {
		sem_post(&is_there);
		sem_wait(&may_go);
	}
	return 10;
}

static int fire(void *arg)
{
	struct kustos_cancel *cancel = arg;

	kustos_cancel_fire(cancel);
	CHECK(kustos_cancel_fired(cancel) == 0);
	kustos_cancel_destroy(cancel);
	return 0;
}

START_TEST(S24_a_child_that_fires_a_cancel_object_ends_no_wait_of_its_parent)
{
	struct kustos_client_options o = client_options("127.0.0.1:1", 10000);
	struct completions done = { .calls = 0 };
	struct kustos_cancel *cancel;

	ck_assert_int_eq(sem_init(&is_there, 0, 0), 0);
	ck_assert_int_eq(sem_init(&may_go, 0, 0), 0);
	o.retry = kustos_retry_custom(try_again, NULL);
	struct kustos_client *c = client_open_with(&o);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, cancel,
				 count_completion, &done),
		KUSTOS_OK);
	atomic_store(&stays, true);
	ck_assert_int_eq(sem_wait(&is_there), 0);
	ck_assert_int_eq(child_run(fire, cancel), 0);
	sem_post(&may_go);
	ck_assert_int_eq(kustos_cancel_fired(cancel), 0);
	ck_assert_int_eq(completions_of(&done), 0);
	kustos_cancel_fire(cancel);
	test_eventually(completions_of(&done) == 1, PATIENCE_MS);
	client_drop(c);
	kustos_cancel_destroy(cancel);
	sem_destroy(&is_there);
	sem_destroy(&may_go);
}
END_TEST

/* The child uses a client of its own with a cancel object of its parent. */
static int wait_with(void *arg)
{
	struct kustos_cancel *cancel = arg;
	struct kustos_client *own = client_connected(fixture_address(), 10000);
	const kustos_deadline end = kustos_after_ms(PATIENCE_MS);
	struct completions done = { .calls = 0 };

	FORKED(kustos_client_wait_connected(own, end, cancel));
	FORKED(kustos_client_flush(own, end, cancel));
	FORKED(kustos_exists(own, "/", end, cancel, NULL));
	FORKED(kustos_exists(own, "/", KUSTOS_NOW, cancel, NULL));
	FORKED(kustos_exists_async(own, "/", end, cancel, count_completion,
		&done));
	CHECK(kustos_exists(own, "/", end, NULL, NULL) == KUSTOS_OK);
	CHECK(completions_of(&done) == 0);
	CHECK(kustos_client_close(own, end, NULL) == KUSTOS_OK);
	kustos_cancel_destroy(cancel);
	return 0;
}

/* The parent is idle when it forks.  Otherwise locks of a sanitizer's allocator
   or of other libraries might stay locked in the child for ever. */
#define QUIET_MS 60000

START_TEST(S24_a_child_cannot_wait_with_a_cancel_object_of_its_parent)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), QUIET_MS);
	struct completions done = { .calls = 0 };
	struct kustos_cancel *cancel;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	proxy_set_mode(p, PROXY_HOLD);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, cancel,
				 count_completion, &done),
		KUSTOS_OK);
	ck_assert_int_eq(child_run(wait_with, cancel), 0);
	ck_assert_int_eq(completions_of(&done), 0);
	kustos_cancel_fire(cancel);
	test_eventually(completions_of(&done) == 1, PATIENCE_MS);
	ck_assert_int_eq(child_run(wait_with, cancel), 0);
	proxy_set_mode(p, PROXY_PASS);
	client_drop(c);
	kustos_cancel_destroy(cancel);
	proxy_free(p);
}
END_TEST

static bool is_inherited(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

/* Would an executed program inherit this descriptor?  Store what it is, such as
   "socket:[123]" or "anon_inode:[timerfd]".  Other threads close descriptors
   and open others, so it counts only if it was there before and after. */
static bool name_inherited(int fd, char *name, size_t size)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!is_inherited(fd))
		return false;
	ssize_t len = readlink(link, name, size - 1);
	name[len > 0 ? len : 0] = '\0';
	return len > 0 && is_inherited(fd);
}

/* Fail if an executed program would inherit a descriptor that is not known.
   Sockets and pipes do not count: return how many there are. */
static int check_inherited(const bool *known)
{
	char name[128];
	int library = 0;

	for (int fd = 3; fd < 256; fd++) {
		if (known[fd] || !name_inherited(fd, name, sizeof(name)))
			continue;
		ck_assert_msg(strncmp(name, "socket:", 7) == 0 ||
				strncmp(name, "pipe:", 5) == 0,
			"%d: %s", fd, name);
		library++;
	}
	return library;
}

/* One socket and one pipe of libzookeeper_mt; never a socket of our probes, which
   are under way while the server does not answer. */
#ifdef KU_EMBEDDED
#define INHERITED 0
#else
#define INHERITED 3
#endif

START_TEST(P13_our_descriptors_are_closed_by_exec)
{
	struct kustos_client_options o = client_options(fixture_address(),
		2000);
	struct kustos_client *c;
	bool known[256];
	int most = 0;

	for (int fd = 0; fd < 256; fd++)
		known[fd] = fcntl(fd, F_GETFD) >= 0;
	o.dispatch = KUSTOS_DISPATCH_FD;
	c = client_open_with(&o);
	client_wait(c, KUSTOS_STATE_CONNECTED, 3000);
	ck_assert(fcntl(kustos_client_fd(c), F_GETFD) & FD_CLOEXEC);
	ck_assert_int_le(check_inherited(known), INHERITED);
	ck_assert_int_eq(server_pause(fixture_server()), 0);
	for (int64_t end = test_now_ms() + 1500; test_now_ms() < end;) {
		int library = check_inherited(known);

		if (library > most)
			most = library;
		test_pause_1ms();
	}
	ck_assert_int_le(most, INHERITED);
	ck_assert_int_eq(server_resume(fixture_server()), 0);
	client_drop(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fork");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_loop_test(t, S24_a_child_gets_EFORKED_and_the_parent_goes_on,
		0, WHENS);
	tcase_add_test(t, S24_a_child_may_open_a_client_of_its_own);
	tcase_add_test(t,
		S24_a_child_that_fires_a_cancel_object_ends_no_wait_of_its_parent);
	tcase_add_test(t,
		S24_a_child_cannot_wait_with_a_cancel_object_of_its_parent);
	tcase_add_test(t, P13_our_descriptors_are_closed_by_exec);
	return fixture_main(s);
}
