/*
 * test_simple_herd.c - how many requests a release of the simple lock costs
 * when many wait for it.
 */
#include "proxy.h"
#include "simple_fixture.h"

#include <stdio.h>

#define T_MS 30000
#define HERD 24

static struct kustos_client *clients[HERD];
static struct kustos_simple *locks[HERD];
static struct ask asks[HERD];

static void set_up(void)
{
	proxy = fixture_proxy();
	for (int i = 0; i < HERD; i++) {
		clients[i] = client_connected(proxy_address(proxy), T_MS);
		locks[i] = simple_new(clients[i], 0);
		asks[i] = (struct ask){ .calls = 0 };
	}
}

static void tear_down(void)
{
	for (int i = 0; i < HERD; i++) {
		kustos_simple_destroy(locks[i]);
		client_close(clients[i]);
	}
	proxy_free(proxy);
	proxy = NULL;
}

/* Return one that has been granted the lock and was not seen before, or -1. */
static int winner(void)
{
	for (int i = 0; i < HERD; i++)
		if (!ask_waits(&asks[i]) && asks[i].hold != NULL)
			return i;
	return -1;
}

/* Each release wakes all.  The first time all of them try; later, hardly any
   but the one that is served. */
START_TEST(L28_a_release_costs_a_read_each_and_few_tries)
{
	struct rival rival;
	int tries = 0, reads = 0, waiting = HERD;

	node_take(&rival);
	for (int i = 0; i < HERD; i++)
		simple_ask(&asks[i], locks[i], SOON);
	wait_until_watched(HERD);
	proxy_reset_counts(proxy);
	rival_leave(&rival);
	for (int n = 0; n < HERD; n++) {
		int i;

		test_eventually(winner() >= 0, 5000);
		i = winner();
		waiting--;
		/* All but the winner watch the node again, and so does the
		   winner. */
		wait_until_watched(waiting + 1);
		if (n == 0) {
			printf("the first of %d: %d tries, %d reads\n", HERD,
				proxy_count(proxy, ZK_OP_CREATE2),
				proxy_count(proxy, ZK_OP_GET));
			ck_assert_int_le(proxy_count(proxy, ZK_OP_CREATE2),
				HERD);
			proxy_reset_counts(proxy);
		}
		hold_give(asks[i].hold);
		asks[i].hold = NULL;
	}
	tries = proxy_count(proxy, ZK_OP_CREATE2);
	reads = proxy_count(proxy, ZK_OP_GET);
	printf("the %d after it: %d tries, %d reads\n", HERD - 1, tries, reads);
	/* If all waiters tried each time, without pauses, it would be 276.  The
	   pauses are of milliseconds, and so do not help where everything is
	   slow. */
	ck_assert_int_lt(tries, HERD * (HERD - 1) * 3 / 8);
	ck_assert_int_lt(reads, HERD * HERD * 3 / 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("simple lock, herd");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, L28_a_release_costs_a_read_each_and_few_tries);
	return fixture_main(s);
}
