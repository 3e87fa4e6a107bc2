/*
 * test_numbers.c - libzookeeper numbers the requests of a process, and some of
 * the numbers mean something else: what is answered to -8, -4 or -2 is taken for
 * the answer to a SetWatches, an AUTH or a ping, and at -1 it begins anew.
 */
#include "client_fixture.h"
#include "proxy.h"

#include <time.h>

#define T_MS 8000 /* a third is spent on each number that goes unheard */
#define IDLE_T_MS 8000
#define BEFORE_ALL (-12)
#define PASSES 2

static int begun; /* how often numbering has */

/* Called when libzookeeper is loaded, and when its numbers have reached -1, for
   the number to begin at; by nobody else here.  No sanitizer is ready then. */
__attribute__((visibility("default"), no_sanitize("address,thread,undefined")))
time_t
time(time_t *out)
{
	__atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
	if (out != NULL)
		*out = BEFORE_ALL;
	return BEFORE_ALL;
}

static int passes(void)
{
	return __atomic_load_n(&begun, __ATOMIC_SEQ_CST) - 1;
}

/* Ask so many things at once, and see that all are answered. */
static void ask(struct kustos_client *client, int count)
{
	struct completions done = { 0 };

	for (int i = 0; i < count; i++)
		ck_assert_int_eq(kustos_get_async(client, "/n", SOON, NULL,
					 count_completion, &done),
			KUSTOS_OK);
	test_eventually(completions_of(&done) == count, PATIENCE_MS);
	ck_assert_int_eq(done.failed, 0);
}

/* From pass to pass the numbers fall to other requests: one alone, one of
   several, a heartbeat, the greeting of a connection. */
START_TEST(P08_requests_whose_numbers_mean_something_else_are_answered)
{
	struct kustos_session before, after;
	struct kustos_client *client;

	client = client_connected(fixture_address(), T_MS);
	before = client_session(client);
	client_create(client, "/n", 0);
	for (int i = 0; passes() < PASSES; i++) {
		ck_assert_int_lt(i, -BEFORE_ALL * PASSES);
		ask(client, 1 + i % 3);
	}
	after = client_session(client);
	ck_assert(after.session_id == before.session_id);
	ck_assert_int_eq(after.epoch, before.epoch);
	/* Some at least went unanswered, and broke the connection. */
	ck_assert_uint_ge(client_stats(client).disconnects, PASSES);
	client_close(client);
}
END_TEST

/* It ends the handle, as if credentials had been refused; but none were given. */
START_TEST(P08_an_error_under_the_number_of_an_auth_is_no_refusal)
{
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);

	for (int i = 0; passes() < 1; i++) {
		ck_assert_int_lt(i, -BEFORE_ALL);
		ck_assert_int_eq(
			kustos_exists(client, "/none", SOON, NULL, NULL),
			KUSTOS_ENONODE);
	}
	ck_assert_int_le(client_epoch(client), 2);
	client_close(client);
}
END_TEST

/* So that the numbers last. */
START_TEST(P08_an_idle_client_asks_once_in_an_eighth_of_its_timeout)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *client = client_connected(proxy_address(p),
		IDLE_T_MS);

	proxy_reset_counts(p);
	test_never(proxy_count(p, PROXY_ANY) > 5, IDLE_T_MS / 2);
	ck_assert_int_ge(proxy_count(p, PROXY_ANY), 1);
	client_close(client);
	proxy_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("numbers");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_test(t,
		P08_requests_whose_numbers_mean_something_else_are_answered);
	tcase_add_test(t,
		P08_an_error_under_the_number_of_an_auth_is_no_refusal);
	tcase_add_test(t,
		P08_an_idle_client_asks_once_in_an_eighth_of_its_timeout);
	return fixture_main(s);
}
