/*
 * test_queue_put.c - kustos queue put: what is reported when not all can be
 * put.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#define JOBS "/queues/jobs"
#define MANY 2000 /* more than may be in flight at a time */

static struct cli a;
static struct proxy *proxy;

static void set_up(void)
{
	proxy = fixture_proxy();
	setenv("KUSTOS_HOSTS", proxy_address(proxy), 1);
}

static void tear_down(void)
{
	proxy_free(proxy);
}

/* Only the items before the gap are certain.  Items behind it exist, but the
   next one is unknown, because the receipt was deleted. */
START_TEST(S15_what_is_there_behind_a_gap_is_not_told_to_be_there)
{
	int unread;

	cli_start(&a, "queue", "put", JOBS);
	cli_type(&a, "first\n");
	test_within(fixture_children(JOBS) == 1, CLI_MS);
	proxy_set_mode(proxy, PROXY_HOLE);
	for (int i = 0; i < MANY; i++)
		cli_type(&a, "x\n");
	test_within(ioctl(a.in, FIONREAD, &unread) == 0 && unread == 0, CLI_MS);
	cli_eof(&a);
	raw_delete_tree(fixture_address(), JOBS "-receipts");
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(cli_end(&a), 124);
	cli_hears_error(&a, JOBS ": the first 1 are there for certain\n");
	ck_assert_int_gt(fixture_children(JOBS), 1);
}
END_TEST

/* There is room enough. */
START_TEST(a_put_that_is_not_answered_in_time_does_not_speak_of_room)
{
	cli_start(&a, "queue", "put", "-w5", "--session-timeout=60000", JOBS);
	cli_type(&a, "first\n");
	test_within(fixture_children(JOBS) == 1, CLI_MS);
	proxy_set_mode(proxy, PROXY_HOLD);
	cli_type(&a, "x\n");
	cli_eof(&a);
	ck_assert_int_eq(cli_end(&a), 121);
	cli_hears_error(&a, JOBS ": not all items were put within 5 s\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos queue put");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		S15_what_is_there_behind_a_gap_is_not_told_to_be_there);
	tcase_add_test(t,
		a_put_that_is_not_answered_in_time_does_not_speak_of_room);
	return fixture_main(s);
}
