/*
 * fixture.c - what ties the test bed to libcheck.
 */
#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SKIPPED 77 /* automake's exit code for "not run" */
#define READY_MS 30000
#define SLOW_CASE 4 /* for a whole case, as a test that hangs must end, too */

static const struct server_options *shared_options;
static struct server *shared;
static int *lacking; /* of fixture_has(), shared with the tests' processes */

void fixture_options(const struct server_options *options)
{
	shared_options = options;
}

struct server *fixture_server(void)
{
	return shared;
}

const char *fixture_address(void)
{
	return server_address(shared);
}

struct proxy *fixture_proxy(void)
{
	struct proxy *proxy = proxy_start("127.0.0.1", fixture_address(),
		PROXY_ZOOKEEPER);

	ck_assert_msg(proxy != NULL, "no proxy before the server");
	return proxy;
}

int fixture_children(const char *path)
{
	int count = raw_count_children(fixture_address(), path);

	if (count == RAW_NONODE)
		return 0;
	ck_assert_int_ge(count, 0);
	return count;
}

/* The setup is unchecked: it runs before libcheck's fork, so that the server
   belongs to the program and not to one test. */
static void bring_up(void)
{
	shared = server_start(shared_options);
	ck_assert_msg(shared != NULL, "the server did not come up");
}

static void take_down(void)
{
	server_free(shared);
	shared = NULL;
}

/* This one is checked: it runs in the test's process. */
static void make_ready(void)
{
	if (server_pid(shared) != 0)
		server_resume(shared);
	if (server_wait(shared, READY_MS) < 0)
		ck_assert_int_eq(server_restart(shared), 0);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), "/"), 0);
}

TCase *fixture_bare_case(Suite *suite, const char *name, double seconds)
{
	TCase *t = tcase_create(name);

	tcase_set_timeout(t, SLOW_CASE * seconds);
	suite_add_tcase(suite, t);
	return t;
}

TCase *fixture_case(Suite *suite, const char *name, double seconds)
{
	TCase *t = fixture_bare_case(suite, name, seconds);

	tcase_add_unchecked_fixture(t, bring_up, take_down);
	tcase_add_checked_fixture(t, make_ready, NULL);
	return t;
}

bool fixture_has(const char *command)
{
	if (system(command) == 0)
		return true;
	printf("not tested without: %s\n", command);
	__atomic_add_fetch(lacking, 1, __ATOMIC_SEQ_CST);
	return false;
}

static bool share_lacking(void)
{
	lacking = mmap(NULL, sizeof(*lacking), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return lacking != MAP_FAILED;
}

int fixture_main(Suite *suite)
{
	const char *missing = server_missing();
	SRunner *runner = srunner_create(suite);
	int failed;

	/* A build in the background ignores these signals.  Programs that a
	   test starts would inherit that, and could not be ended by them. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (missing != NULL) {
		printf("skipped: %s\n", missing);
		srunner_free(runner);
		return SKIPPED;
	}
	if (!share_lacking()) {
		perror("mmap");
		return 1;
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	if (failed != 0)
		return 1;
	return *lacking == 0 ? 0 : SKIPPED;
}
