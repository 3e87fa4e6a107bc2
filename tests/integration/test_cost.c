/*
 * test_cost.c - what clients cost in threads, descriptors and memory, compared
 * with bare handles; and that they give it back.
 */
#include "child.h"
#include "client_fixture.h"
#include "process.h"
#include "zk.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 200
#define CROWD 20

/* With a sanitizer, memory use says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY 0
#else
#define MEASURES_MEMORY 1
#endif

static struct record record;

static void use_once(const struct kustos_client_options *o)
{
	struct kustos_client *c = client_open_with(o);
	struct completions done = { 0 };

	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	record_listen(&record, c);
	client_create(c, "/a", KUSTOS_CREATE_EPHEMERAL);
	ck_assert_int_eq(kustos_exists_async(c, "/a", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	client_close(c);
	ck_assert_int_eq(completions_of(&done), 1);
}

START_TEST(P05_clients_that_come_and_go_leave_nothing)
{
	struct kustos_client_options o = client_options(fixture_address(),
		5000);
	int threads = thread_count(), fds = fd_count();
	long warm_kb = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (i == ROUNDS / 4)
			warm_kb = rss_kb();
		o.dispatch = i % 4 == 3 ? KUSTOS_DISPATCH_FD
					: KUSTOS_DISPATCH_THREAD;
		use_once(&o);
	}
	long grown_kb = rss_kb() - warm_kb;
	test_eventually(thread_count() == threads, 2000);
	ck_assert_int_eq(fd_count(), fds);
	printf("%d clients came and went: %ld KB more than after %d\n", ROUNDS,
		grown_kb, ROUNDS / 4);
	if (MEASURES_MEMORY)
		ck_assert_int_lt(grown_kb, 200);
}
END_TEST

static void ignore_event(void *arg, enum ku_zk_event event,
	enum ku_zk_state state, const char *path)
{
	(void)arg;
	(void)event;
	(void)state;
	(void)path;
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void enter(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&turn);
}

static void leave(void *arg)
{
	(void)arg;
	pthread_mutex_unlock(&turn);
}

static struct ku_zk *bare[CROWD];
static struct kustos_client *clients[CROWD];

static void open_bare(int i)
{
	struct ku_zk_open params = {
		.addresses = fixture_address(),
		.timeout_ms = 20000,
		.enter = enter,
		.leave = leave,
		.event = ignore_event,
	};
	struct ku_zk_session s;

	enter(NULL);
	ck_assert_int_eq(ku_zk_library.open(NULL, &params, &bare[i]),
		KUSTOS_OK);
	leave(NULL);
	do {
		test_pause_1ms();
		enter(NULL);
		ku_zk_library.session(bare[i], &s);
		leave(NULL);
	} while (s.state != KU_ZK_STATE_CONNECTED);
}

static void open_client(int i)
{
	clients[i] = client_connected(fixture_address(), 20000);
}

struct cost {
	int threads, fds;
	long rss_kb;
};

static struct cost cost_now(void)
{
	malloc_trim(0);
	return (struct cost){ thread_count(), fd_count(), rss_kb() };
}

/* The greatest of n numbers with this sum, if they are as equal as possible. */
static int share(int sum, int n)
{
	return (sum + n - 1) / n;
}

/* Return what each of "CROWD" costs.  The first few are not counted, because
   they pay for memory that all share. */
static struct cost cost_of(void (*open)(int i))
{
	struct cost from = { 0, 0, 0 }, to;

	for (int i = 0; i < CROWD; i++) {
		if (i == CROWD / 4)
			from = cost_now();
		open(i);
	}
	to = cost_now();
	int n = CROWD - CROWD / 4;
	to.threads = share(to.threads - from.threads, n);
	to.fds = share(to.fds - from.fds, n);
	to.rss_kb = (to.rss_kb - from.rss_kb) / n;
	return to;
}

START_TEST(P06_the_first_client_starts_no_more_threads_than_another)
{
	struct cost none = cost_now();

	open_client(0);
	ck_assert_int_le(thread_count() - none.threads, 3);
	/* The client may just be looking through its descriptors, which takes
	   one more. */
	test_eventually(fd_count() - none.fds <= 4, 1000);
	client_close(clients[0]);
}
END_TEST

/* In a process of its own: report how many KB the first one takes. */
static int first_main(int fd, void *arg)
{
	void (*open)(int i) = *(void (**)(int))arg;
	char line[32];
	long none;

	malloc_trim(0);
	none = private_kb();
	open(0);
	malloc_trim(0);
	snprintf(line, sizeof(line), "%ld", private_kb() - none);
	return child_say(fd, line);
}

static long first_kb(void (*open)(int i))
{
	struct child child;
	char line[32];

	ck_assert_int_eq(child_start(&child, first_main, &open), 0);
	ck_assert_int_eq(child_hear(child.fd, line, sizeof(line), PATIENCE_MS),
		0);
	child_end(&child);
	return strtol(line, NULL, 10);
}

START_TEST(P06_the_first_client_costs_little_more_than_a_bare_handle)
{
	long handle_kb = first_kb(open_bare), client_kb = first_kb(open_client);

	printf("the first of a process: a bare handle %ld KB, a client %ld\n",
		handle_kb, client_kb);
	if (MEASURES_MEMORY)
		ck_assert_int_le(client_kb - handle_kb, 100);
}
END_TEST

START_TEST(P06_an_idle_client_costs_little_more_than_a_bare_handle)
{
	struct cost handle = cost_of(open_bare);
	struct cost client = cost_of(open_client);

	printf("a bare handle: %d threads, %d descriptors, %ld KB\n",
		handle.threads, handle.fds, handle.rss_kb);
	printf("an idle client: %d threads, %d descriptors, %ld KB\n",
		client.threads, client.fds, client.rss_kb);
	ck_assert_int_le(client.threads, 3);
	ck_assert_int_le(client.fds, 4);
	if (MEASURES_MEMORY)
		ck_assert_int_le(client.rss_kb - handle.rss_kb, 150);
	/* A listener's thread ends when there is nothing more to tell. */
	client.threads = thread_count();
	record_start(&record, clients[0]);
	test_eventually(record_count(&record, KUSTOS_STATE_CONNECTED) == 1,
		1000);
	test_eventually(thread_count() == client.threads, 3000);
	for (int i = 0; i < CROWD; i++) {
		client_close(clients[i]);
		ku_zk_library.close(bare[i]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cost");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_test(t, P05_clients_that_come_and_go_leave_nothing);
	tcase_add_test(t,
		P06_the_first_client_starts_no_more_threads_than_another);
	tcase_add_test(t,
		P06_the_first_client_costs_little_more_than_a_bare_handle);
	tcase_add_test(t,
		P06_an_idle_client_costs_little_more_than_a_bare_handle);
	return fixture_main(s);
}
