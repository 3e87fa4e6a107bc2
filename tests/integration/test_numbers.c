/*
 * test_numbers.c - libzookeeper numbers the requests of a process, and some
 * numbers have a meaning of their own: an answer to -8, -4 or -2 is taken for
 * that of a SetWatches, an AUTH or a ping, and after -1 the numbers start
 * again.  time(), from which numbering starts, is replaced so that these
 * numbers come soon.  But where it is embedded, the numbers are ours.
 */
#include "client_fixture.h"
#include "proxy.h"

#include <time.h>

#define T_MS 8000 /* each unanswered number takes a third of it */
#define IDLE_T_MS 8000
#define BEFORE_ALL (-12)
#define PASSES 2

#ifdef KU_EMBEDDED
#define IS_EMBEDDED true
#else
#define IS_EMBEDDED false
#endif

static int begun; /* how often numbering has begun */

/* Called for the first number when libzookeeper is loaded, and whenever its
   numbers have reached -1; nothing else here calls it.  Sanitizers do not work
   yet at that time. */
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

/* Have so many requests been made that the numbers have been all the way
   "count" times? */
static bool is_through(int requests, int count)
{
	if (IS_EMBEDDED)
		return requests >= -BEFORE_ALL * count;
	ck_assert_int_lt(requests, -BEFORE_ALL * count);
	return passes() >= count;
}

/* Make so many requests at once, and check that all are answered. */
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

/* In each pass these numbers belong to other requests: a single one, one of
   several, a heartbeat, the first request of a connection. */
START_TEST(P08_requests_whose_numbers_mean_something_else_are_answered)
{
	struct kustos_session before, after;
	struct kustos_client *client;

	client = client_connected(fixture_address(), T_MS);
	before = client_session(client);
	client_create(client, "/n", 0);
	for (int i = 0; !is_through(i, PASSES); i++)
		ask(client, 1 + i % 3);
	after = client_session(client);
	ck_assert(after.session_id == before.session_id);
	ck_assert_int_eq(after.epoch, before.epoch);
	/* Some were not answered, and so the connection was broken. */
	if (IS_EMBEDDED)
		ck_assert_uint_eq(client_stats(client).disconnects, 0);
	else
		ck_assert_uint_ge(client_stats(client).disconnects, PASSES);
	client_close(client);
}
END_TEST

/* It ends the handle as refused credentials would, but the client had given
   none. */
START_TEST(P08_an_error_under_the_number_of_an_auth_is_no_refusal)
{
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);

	for (int i = 0; !is_through(i, 1); i++)
		ck_assert_int_eq(
			kustos_exists(client, "/none", SOON, NULL, NULL),
			KUSTOS_ENONODE);
	ck_assert_int_le(client_epoch(client), 2);
	client_close(client);
}
END_TEST

/* So that the numbers last for long. */
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
