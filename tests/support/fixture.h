/*
 * fixture.h - libcheck cases with a ZooKeeper server, and waiting for
 * conditions.
 *
 * A program for tests against a server looks like this:
 *
 *	int main(void)
 *	{
 *		Suite *s = suite_create("mutex");
 *		TCase *t = fixture_case(s, "one server", 30);
 *
 *		tcase_add_test(t, S05_a_lost_lock_is_not_re_entered);
 *		return fixture_main(s);
 *	}
 *
 * One server serves all tests of the program.  Before each test it is running,
 * whatever the test before did to it, and its tree is empty.
 */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include "net.h"
#include "server.h"

#include <check.h>

/* How many times longer than on an idle machine a test may take: because of a
   busy machine, a sanitizer or valgrind. */
#define TEST_SLOW 10

/* The time to wait for something that takes no time on an idle machine. */
#define PATIENCE_MS 60000

/* Wait until the condition holds, which it should within "ms" on an idle
   machine; fail the test if it does not in TEST_SLOW times that. */
#define test_eventually(cond, ms) test_within(cond, TEST_SLOW *(ms))

/* Wait until the condition holds; fail the test if it does not within "ms",
   which is a promise on any machine. */
#define test_within(cond, ms)                                        \
	do {                                                         \
		int64_t end_ms_ = test_now_ms() + (ms);              \
		while (!(cond)) {                                    \
			if (test_now_ms() > end_ms_)                 \
				ck_abort_msg("not within %d ms: %s", \
					(int)(ms), #cond);           \
			test_pause_1ms();                            \
		}                                                    \
	} while (0)

/* Fail the test if the condition comes true within "ms".  This does not prove
   that it never does: on a busy machine the error may come later. */
#define test_never(cond, ms)                                                \
	do {                                                                \
		int64_t end_ms_ = test_now_ms() + (ms);                     \
		while (test_now_ms() <= end_ms_) {                          \
			if (cond)                                           \
				ck_abort_msg("within %d ms: %s", (int)(ms), \
					#cond);                             \
			test_pause_1ms();                                   \
		}                                                           \
	} while (0)

/* Set the options of the shared server, before fixture_main().  What they
   point to must stay. */
void fixture_options(const struct server_options *options);

/* Add a case whose tests have the shared server, and should take no longer than
   "seconds" each on an idle machine. */
TCase *fixture_case(Suite *suite, const char *name, double seconds);

/* Add a case whose tests start themselves what they need. */
TCase *fixture_bare_case(Suite *suite, const char *name, double seconds);

/* Return the shared server, and its address. */
struct server *fixture_server(void);
const char *fixture_address(void);

/* Start a proxy (proxy.h) in front of that server, for the protocol of
   ZooKeeper.  The caller ends it with proxy_free().  If it cannot be started,
   the test fails. */
struct proxy;
struct proxy *fixture_proxy(void);

/* Return how many children a node of that server has; 0 also if it is not there. */
int fixture_children(const char *path);

/* Does this shell command succeed?  It looks for something that a test needs
   besides a server.  If it does not succeed, something is not tested, so the
   program counts as skipped unless a test fails. */
bool fixture_has(const char *command);

/* Run the suite.  Returns the exit code of the program: 0, 1, or 77 with a line
   on standard output if there is no server, or something else is missing. */
int fixture_main(Suite *suite);

/* Do measured times say something about the library?  If a sanitizer checks
   every access, they say more about the checks, and about what else the machine
   does. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_CLOCK_COUNTS 0
#else
#define TEST_CLOCK_COUNTS 1
#endif

#endif
