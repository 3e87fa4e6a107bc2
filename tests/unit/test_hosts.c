/*
 * test_hosts.c - hosts.h: from "host:port,.../chroot" to numeric addresses.
 */
#include "unit.h"

#include "hosts.h"
#include "random.h"
#include "resolve.h"

#include <stdbool.h>
#include <string.h>

static char why[KU_HOSTS_WHY];

static void parse(struct ku_hosts *hosts, const char *text)
{
	ck_assert_msg(ku_hosts_parse(hosts, text, why) == KUSTOS_OK,
		"\"%s\": %s", text, why);
}

static void numeric(struct ku_addresses *out, const char *text)
{
	struct ku_hosts hosts;

	parse(&hosts, text);
	ck_assert(ku_resolve_numeric(&hosts, out));
	ku_hosts_free(&hosts);
}

START_TEST(hosts_have_names_ports_and_a_chroot)
{
	struct ku_hosts h;

	parse(&h, "zk1:2182, zk2\t,\t[::1]:03,[fe80::1],10.0.0.1:65535/app/x");
	ck_assert_int_eq(h.count, 5);
	ck_assert_str_eq(h.list[0].name, "zk1");
	ck_assert_str_eq(h.list[0].port, "2182");
	ck_assert_str_eq(h.list[1].name, "zk2");
	ck_assert_str_eq(h.list[1].port, "2181");
	ck_assert_str_eq(h.list[2].name, "::1");
	ck_assert_str_eq(h.list[2].port, "3");
	ck_assert_str_eq(h.list[3].name, "fe80::1");
	ck_assert_str_eq(h.list[3].port, "2181");
	ck_assert_str_eq(h.list[4].name, "10.0.0.1");
	ck_assert_str_eq(h.list[4].port, "65535");
	ck_assert_str_eq(h.chroot, "/app/x");
	ku_hosts_free(&h);
}
END_TEST

START_TEST(a_name_may_have_letters_of_any_language)
{
	struct ku_hosts h;

	parse(&h, "z\xc3\xbcrich:1");
	ck_assert_str_eq(h.list[0].name, "z\xc3\xbcrich");
	ku_hosts_free(&h);
}
END_TEST

START_TEST(a_chroot_of_the_root_is_none)
{
	struct ku_hosts h;

	parse(&h, "zk1/");
	ck_assert_str_eq(h.chroot, "");
	ku_hosts_free(&h);
	parse(&h, "zk1");
	ck_assert_str_eq(h.chroot, "");
	ku_hosts_free(&h);
}
END_TEST

static const struct {
	const char *text, *why;
} malformed[] = {
	{ "", "an empty host" },
	{ ",zk", "an empty host" },
	{ "zk,", "an empty host" },
	{ "zk, ,zk2", "an empty host" },
	{ "/app", "an empty host" },
	{ "zk:", "a malformed port" },
	{ "zk:0", "a malformed port" },
	{ "zk:65536", "a malformed port" },
	{ "zk:21x", "a malformed port" },
	{ "zk:+21", "a malformed port" },
	{ "zk:000002181", "a malformed port" },
	{ ":2181", "a malformed host name" },
	{ "z k:2181", "a malformed host name" },
	{ "[]:2181", "a malformed host name" },
	{ "[[::1]]:2181", "a malformed host name" },
	{ "[::1", "brackets missing" },
	{ "::1", "brackets missing" },
	{ "fe80::1:2181", "brackets missing" },
	{ "[::1]2181", "a malformed port" },
	{ "ssl://zk:2281", "a URL instead of host:port" },
	{ "zk1,zk://zk2/app", "a URL instead of host:port" },
	{ "zk/app/", "a malformed chroot" },
	{ "zk//app", "a malformed chroot" },
	{ "zk/app/../x", "a malformed chroot" },
};

START_TEST(a_mistake_is_explained)
{
	struct ku_hosts h;

	ck_assert_int_eq(ku_hosts_parse(&h, malformed[_i].text, why),
		KUSTOS_EINVAL);
	ck_assert_msg(strstr(why, malformed[_i].why) == why, "\"%s\": \"%s\"",
		malformed[_i].text, why);
	ck_assert_ptr_null(h.list);
}
END_TEST

START_TEST(a_long_mistake_does_not_overflow_its_explanation)
{
	struct ku_hosts h;
	char text[2000];

	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(ku_hosts_parse(&h, text, why), KUSTOS_EINVAL);
	ck_assert_uint_lt(strlen(why), KU_HOSTS_WHY);
	ck_assert_int_eq(why[strlen(why) - 1], '"');
}
END_TEST

START_TEST(numeric_hosts_need_no_resolver)
{
	struct ku_addresses a;

	numeric(&a, "127.0.0.1:1,[::1]:2,127.0.0.1:1,127.0.0.1:3");
	ck_assert_int_eq(a.count, 3);
	ck_assert_str_eq(a.list[0].text, "127.0.0.1:1");
	ck_assert_str_eq(a.list[1].text, "[::1]:2");
	ck_assert_str_eq(a.list[2].text, "127.0.0.1:3");
	ck_assert_int_eq(ku_addresses_find(&a, "[::1]:2"), 1);
	ck_assert_int_eq(ku_addresses_find(&a, "[::1]:20"), -1);
	ku_addresses_free(&a);
	ck_assert_int_eq(a.count, 0);
}
END_TEST

START_TEST(S21_a_name_is_not_taken_for_numeric)
{
	struct ku_addresses a;
	struct ku_hosts h;

	parse(&h, "127.0.0.1,localhost");
	ck_assert(!ku_resolve_numeric(&h, &a));
	ck_assert_int_eq(a.count, 0);
	ck_assert_ptr_null(a.list);
	ku_hosts_free(&h);
}
END_TEST

START_TEST(names_that_do_not_resolve_are_left_out)
{
	const char *reason;
	struct ku_addresses a;
	struct ku_hosts h;

	parse(&h, "no-such-host.invalid,127.0.0.1:7");
	ck_assert_int_eq(ku_resolve(&h, &a, &reason), KUSTOS_OK);
	ck_assert_int_eq(a.count, 1);
	ck_assert_str_eq(a.list[0].text, "127.0.0.1:7");
	ku_addresses_free(&a);
	ku_hosts_free(&h);
	parse(&h, "no-such-host.invalid");
	ck_assert_int_eq(ku_resolve(&h, &a, &reason), KUSTOS_EDISCONNECTED);
	ck_assert_str_ne(reason, "");
	ck_assert_int_eq(a.count, 0);
	ku_hosts_free(&h);
}
END_TEST

START_TEST(addresses_compare_as_sets)
{
	struct ku_addresses a, b, c;

	numeric(&a, "127.0.0.1:1,127.0.0.2:1");
	numeric(&b, "127.0.0.2:1,127.0.0.1:1");
	numeric(&c, "127.0.0.2:1,127.0.0.1:2");
	ck_assert(ku_addresses_equal(&a, &b));
	ck_assert(!ku_addresses_equal(&a, &c));
	ku_addresses_free(&a);
	ku_addresses_free(&b);
	ku_addresses_free(&c);
}
END_TEST

START_TEST(L23_servers_that_share_an_ip_are_told)
{
	struct ku_addresses a;

	numeric(&a, "127.0.0.1:1,127.0.0.2:1,[::1]:1");
	ck_assert(ku_addresses_distinct(&a));
	ku_addresses_free(&a);
	numeric(&a, "127.0.0.1:1,127.0.0.2:1,127.0.0.1:2");
	ck_assert(!ku_addresses_distinct(&a));
	ku_addresses_free(&a);
	numeric(&a, "[::1]:1,127.0.0.2:1,[::1]:2");
	ck_assert(!ku_addresses_distinct(&a));
	ku_addresses_free(&a);
}
END_TEST

static int count_of(const char *text, char c)
{
	int n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

START_TEST(L03_the_list_for_the_library_is_odd_and_complete)
{
	static const char *const lists[] = { "127.0.0.1:1",
		"127.0.0.1:1,127.0.0.2:1", "127.0.0.1:1,127.0.0.2:1,[::1]:9",
		"127.0.0.1:1,127.0.0.2:1,127.0.0.3:1,127.0.0.4:1" };
	struct ku_random random;
	struct ku_addresses a;
	size_t i;
	int j;

	ku_random_seed(&random, 1);
	for (i = 0; i < UNIT_COUNT(lists); i++) {
		char *text;

		numeric(&a, lists[i]);
		text = ku_addresses_join(&a, &random);
		ck_assert_ptr_nonnull(text);
		ck_assert_int_eq(count_of(text, ',') % 2, 0);
		ck_assert_int_le(count_of(text, ','), a.count);
		ck_assert_ptr_null(strpbrk(text, "[]"));
		for (j = 0; j < a.count; j++) {
			char bare[KU_ADDRESS_SIZE];

			ku_address_bare(&a.list[j], bare);
			ck_assert_ptr_nonnull(strstr(text, bare));
		}
		free(text);
		ku_addresses_free(&a);
	}
}
END_TEST

START_TEST(the_list_for_the_library_is_shuffled)
{
	bool first[3] = { false, false, false };
	struct ku_random random;
	struct ku_addresses a;
	int i, j;

	ku_random_seed(&random, 1);
	numeric(&a, "127.0.0.1:1,127.0.0.2:1,127.0.0.3:1");
	for (i = 0; i < 100; i++) {
		char *text = ku_addresses_join(&a, &random);

		for (j = 0; j < 3; j++)
			if (strstr(text, a.list[j].text) == text)
				first[j] = true;
		free(text);
	}
	ck_assert(first[0] && first[1] && first[2]);
	ku_addresses_free(&a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hosts");
	TCase *tcase = tcase_create("parse");

	tcase_add_test(tcase, hosts_have_names_ports_and_a_chroot);
	tcase_add_test(tcase, a_name_may_have_letters_of_any_language);
	tcase_add_test(tcase, a_chroot_of_the_root_is_none);
	tcase_add_loop_test(tcase, a_mistake_is_explained, 0,
		UNIT_COUNT(malformed));
	tcase_add_test(tcase, a_long_mistake_does_not_overflow_its_explanation);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("resolve");
	tcase_add_test(tcase, numeric_hosts_need_no_resolver);
	tcase_add_test(tcase, S21_a_name_is_not_taken_for_numeric);
	tcase_add_test(tcase, names_that_do_not_resolve_are_left_out);
	tcase_add_test(tcase, addresses_compare_as_sets);
	tcase_add_test(tcase, L23_servers_that_share_an_ip_are_told);
	tcase_add_test(tcase, L03_the_list_for_the_library_is_odd_and_complete);
	tcase_add_test(tcase, the_list_for_the_library_is_shuffled);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
