/* test_mntr.c - mntr.h: the numbers in a server's answer to "mntr". */
#include "mntr.h"
#include "unit.h"

#include <string.h>

static const char answer[] = "zk_version\t3.8.0-5, built on 2022-02-25\n"
			     "zk_max_packets_received\t99\n"
			     "zk_packets_received\t4711\n"
			     "zk_packets_received_ago\t1\n"
			     "zk_bytes_received_count\t8000000000\n";

START_TEST(a_number_is_found_by_its_whole_name)
{
	ck_assert_int_eq(mntr_number(answer, "zk_packets_received"), 4711);
	ck_assert_int_eq(mntr_number(answer, "zk_bytes_received_count"),
		8000000000);
}
END_TEST

START_TEST(what_is_not_there_is_not_known)
{
	ck_assert_int_eq(mntr_number(answer, "packets_received"), -1);
	ck_assert_int_eq(mntr_number(answer, "zk_packets"), -1);
	ck_assert_int_eq(mntr_number("", "zk_packets_received"), -1);
	ck_assert_int_eq(
		mntr_number("mntr is not executed because it is not in the "
			    "whitelist.\n",
			"zk_packets_received"),
		-1);
}
END_TEST

START_TEST(who_cannot_be_asked_is_named)
{
	struct mntr sum;
	char why[64];

	/* Nobody listens there. */
	ck_assert(!mntr_ask("127.0.0.1:1/chroot", &sum, why, sizeof(why)));
	ck_assert_str_eq(why, "127.0.0.1:1 does not answer \"mntr\"");
	ck_assert(!mntr_ask("256.0.0.1:1", &sum, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "does not answer"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mntr");
	TCase *t = tcase_create("mntr");

	tcase_add_test(t, a_number_is_found_by_its_whole_name);
	tcase_add_test(t, what_is_not_there_is_not_known);
	tcase_add_test(t, who_cannot_be_asked_is_named);
	suite_add_tcase(s, t);
	return unit_main(s);
}
