/*
 * test_ls_break.c - kustos ls and kustos break.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <kustos/participant.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UUID "01234567-89ab-cdef-0123-456789abcdef"
#define HEX32 "0123456789abcdef0123456789abcdef"
#define FIRST "/l/_c_" UUID "-lock-0000000000"

static struct cli a, b, c;
static struct raw *other; /* a session of somebody else's */

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	other = raw_open(fixture_address(), 60000);
	ck_assert_ptr_nonnull(other);
}

static void tear_down(void)
{
	raw_close(other);
}

static int count(void)
{
	return raw_count_children(fixture_address(), "/l");
}

static bool is_there(const char *path)
{
	int rc = raw_exists(fixture_address(), path, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

static void stand(const char *path, const char *data)
{
	if (!is_there("/l"))
		ck_assert_int_eq(raw_create(fixture_address(), "/l", NULL), 0);
	ck_assert_int_eq(
		raw_do_create(other, path, data, RAW_EPHEMERAL, NULL, 0), 0);
}

/* Let "a" hold /l until it is told to go on, and "b" wait. */
static void hold_and_wait(void)
{
	cli_start(&a, "lock", "--reason=because", "/l", "--", "sh", "-c",
		"echo held $KUSTOS_NODE $KUSTOS_TOKEN; read go");
	cli_hears(&a, "held ");
	cli_hears(&a, "\n");
	cli_start(&b, "lock", "/l", "--", "echo", "got it");
	test_within(count() == 2, CLI_MS);
}

static void let_go(void)
{
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_end(&b), 0);
}

/* Let Python parse "json" as j, and check that "claim" is true. */
static void expect_json(const char *json, const char *claim)
{
	char program[512];
	FILE *f;

	if (!fixture_has("python3 -c 'import json' 2>/dev/null"))
		return;
	snprintf(program, sizeof(program),
		"python3 -c 'import json, sys; j = json.load(sys.stdin); "
		"assert %s, j'",
		claim);
	f = popen(program, "we");
	ck_assert_ptr_nonnull(f);
	fputs(json, f);
	ck_assert_msg(pclose(f) == 0, "%s: %s", claim, json);
}

START_TEST(ls_shows_who_holds_and_who_waits)
{
	hold_and_wait();
	ck_assert_int_eq(cli_run(&c, "ls", "/l"), 0);
	cli_hears(&c, "/l: 1 holds, 1 waits\n");
	cli_hears(&c, "\nholds ");
	cli_hears(&c, ": because\n");
	cli_hears(&c, "\nwaits ");
	cli_hears(&c, " curator ");
	ck_assert_str_eq(c.err_text, "");
	let_go();
}
END_TEST

START_TEST(ls_prints_json)
{
	hold_and_wait();
	ck_assert_int_eq(cli_run(&c, "ls", "--json", "/l"), 0);
	expect_json(c.out_text,
		"[p[\"state\"] for p in j[\"participants\"]] == "
		"[\"holds\", \"waits\"]");
	expect_json(c.out_text,
		"j[\"participants\"][0][\"record\"][\"reason\"] == "
		"\"because\"");
	expect_json(c.out_text,
		"j[\"participants\"][0][\"record\"][\"pid\"] > 1");
	expect_json(c.out_text,
		"j[\"participants\"][0][\"token\"] < "
		"j[\"participants\"][1][\"token\"]");
	expect_json(c.out_text,
		"j[\"mixed\"] is False and j[\"foreign\"] == 0");
	let_go();
}
END_TEST

/* Everything else that the server knows of the node. */
START_TEST(ls_prints_what_the_server_knows)
{
	struct raw_stat stat;
	char claim[256];

	stand(FIRST, "x");
	ck_assert_int_eq(raw_exists(fixture_address(), FIRST, &stat), 0);
	ck_assert_int_eq(cli_run(&c, "ls", "--json", "/l"), 0);
	snprintf(claim, sizeof(claim),
		"\"number\":0,\"style\":\"curator\",\"token\":%lld,"
		"\"session\":\"0x%llx\",\"since_ms\":%lld,\"since\":\"",
		(long long)stat.czxid, (long long)stat.ephemeral_owner,
		(long long)stat.ctime_ms);
	cli_hears(&c, claim);
	snprintf(claim, sizeof(claim),
		"__import__(\"datetime\").datetime.fromisoformat("
		"j[\"participants\"][0][\"since\"].replace(\"Z\", "
		"\"+00:00\")).timestamp() == %lld / 1000",
		(long long)stat.ctime_ms);
	expect_json(c.out_text, claim);
}
END_TEST

START_TEST(ls_of_a_free_lock_says_so)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/l", NULL), 0);
	ck_assert_int_eq(cli_run(&c, "ls", "/l"), 0);
	ck_assert_str_eq(c.out_text, "/l: free\n");
	ck_assert_int_eq(cli_run(&c, "ls", "--json", "/l"), 0);
	expect_json(c.out_text, "j[\"participants\"] == []");
}
END_TEST

/* No recipe of ours can be there. */
START_TEST(ls_of_the_root_says_what_there_is)
{
	ck_assert_int_eq(cli_run(&c, "ls", "/"), 0);
	cli_hears(&c, "/: no line here, but 1 node below it; 'kustos top'");
	ck_assert_str_eq(c.err_text, "");
}
END_TEST

START_TEST(ls_of_no_path_gives_117)
{
	ck_assert_int_eq(cli_run(&c, "ls", "/nowhere"), 117);
	ck_assert_str_eq(c.out_text, "");
	ck_assert_str_eq(c.err_text,
		"kustos: /nowhere: there is no such node\n");
}
END_TEST

START_TEST(ls_knows_the_names_of_other_libraries)
{
	stand(FIRST, "10.0.0.1");
	stand("/l/" HEX32 "__lock__0000000001", "a kazoo");
	stand("/l/members", NULL);
	ck_assert_int_eq(cli_run(&c, "ls", "--json", "/l"), 0);
	expect_json(c.out_text,
		"[p[\"style\"] for p in j[\"participants\"]] == "
		"[\"curator\", \"kazoo\"]");
	expect_json(c.out_text,
		"j[\"participants\"][1][\"data\"] == \"a kazoo\"");
	expect_json(c.out_text, "j[\"foreign\"] == 1");
	expect_json(c.out_text, "j[\"mixed\"] is True");
	ck_assert_int_eq(cli_run(&c, "ls", "/l"), 0);
	cli_hears(&c, "1 more has a name of an unknown style\n");
	cli_hears(&c, "mixed dialects");
}
END_TEST

/* Such data may be meant to take over an operator's terminal. */
START_TEST(ls_does_not_print_control_characters)
{
	stand(FIRST,
		"\033[2J\tbad\xff\xc2\x9b"
		"1m \xc3\xa9");
	ck_assert_int_eq(cli_run(&c, "ls", "/l"), 0);
	cli_hears(&c, "  \\x1b[2J\\x09bad\\xff\\xc2\\x9b1m \xc3\xa9\n");
	ck_assert_int_eq(cli_run(&c, "ls", "--json", "/l"), 0);
	expect_json(c.out_text,
		"j[\"participants\"][0][\"data\"] == "
		"\"\\x1b[2J\\tbad\\ufffd\\x9b1m \\xe9\"");
}
END_TEST

static void expect_no_record(const char *data)
{
	stand(FIRST, data);
	ck_assert_int_eq(cli_run(&c, "ls", "--json", "/l"), 0);
	expect_json(c.out_text, "j[\"participants\"][0][\"record\"] is None");
	cli_hears(&c, "\"record\":null");
	ck_assert_int_eq(raw_delete(fixture_address(), FIRST), 0);
}

START_TEST(what_only_looks_like_a_record_is_data)
{
	static const char *const bad[] = { "{\"host\":\"h\"", "{\"host\":}",
		"{\"host\":\"h\"}x", "{\"host\":\"\\ud800\\u0000\"",
		"{\"a\":01}", "[1]", "{\"a\":1,}", "{\"a\" 1}",
		"{\"a\":\"\n\"}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_no_record(bad[i]);
}
END_TEST

START_TEST(what_is_nested_too_deeply_is_data)
{
	enum { DEPTH = 2000 };
	char deep[2 * DEPTH + 16] = "{\"a\":";

	memset(deep + strlen(deep), '[', DEPTH);
	memset(deep + strlen(deep), ']', DEPTH);
	deep[strlen(deep)] = '}';
	expect_no_record(deep);
}
END_TEST

START_TEST(breaking_ends_the_holder_and_serves_the_next)
{
	hold_and_wait();
	ck_assert_int_eq(cli_run(&c, "break", "--yes", "/l"), 0);
	cli_hears(&c, "holds ");
	cli_hears(&c, "broken: /l/_c_");
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_int_eq(cli_end(&b), 0);
	cli_hears(&b, "got it\n");
	ck_assert_int_eq(count(), 0);
}
END_TEST

/* The request was sent again, and found no node. */
START_TEST(a_break_whose_answer_is_lost_is_one)
{
	struct proxy *proxy = fixture_proxy();

	stand(FIRST, "x");
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_DELETE, 1);
	ck_assert_int_eq(cli_run(&c, "break", "-y", "--hosts",
				 proxy_address(proxy), "/l"),
		0);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	cli_hears(&c, "broken: /l/_c_");
	ck_assert(!is_there(FIRST));
	proxy_free(proxy);
}
END_TEST

START_TEST(nothing_is_broken_without_a_confirmation)
{
	stand(FIRST, "x");
	ck_assert_int_eq(cli_run(&c, "break", "/l"), 119);
	cli_hears_error(&c, "kustos: nothing is broken ");
	ck_assert(is_there(FIRST));
}
END_TEST

static void ask_on_terminal(void)
{
	const char *argv[] = { cli_program(), "break", "/l", NULL };

	cli_start_on_terminal(&c, argv);
	cli_hears(&c, UUID);
	cli_hears(&c, "Break it? [y/N] ");
	ck_assert(is_there(FIRST));
}

START_TEST(a_person_on_a_terminal_is_asked)
{
	stand(FIRST, "x");
	ask_on_terminal();
	cli_type(&c, "\n");
	ck_assert_int_eq(cli_end(&c), 119);
	ck_assert(is_there(FIRST));
	ask_on_terminal();
	cli_type(&c, "y\n");
	ck_assert_int_eq(cli_end(&c), 0);
	ck_assert(!is_there(FIRST));
}
END_TEST

START_TEST(who_is_asked_is_shown_for_what_wherever_the_output_goes)
{
	const char *argv[] = { "sh", "-c", "exec \"$0\" break /l >/dev/null",
		cli_program(), NULL };

	stand(FIRST, "x");
	cli_start_on_terminal(&c, argv);
	cli_hears(&c, UUID);
	cli_hears(&c, "Break it? [y/N] ");
	cli_type(&c, "n\n");
	ck_assert_int_eq(cli_end(&c), 119);
}
END_TEST

/* While the person thinks, another one takes exactly this place. */
START_TEST(a_node_that_is_not_the_one_shown_is_left_alone)
{
	stand(FIRST, "x");
	ask_on_terminal();
	ck_assert_int_eq(raw_delete(fixture_address(), FIRST), 0);
	stand(FIRST, "x");
	cli_type(&c, "y\n");
	ck_assert_int_eq(cli_end(&c), 118);
	ck_assert(is_there(FIRST));
}
END_TEST

START_TEST(a_holder_that_has_left_meanwhile_is_not_replaced_by_the_next)
{
	stand(FIRST, "x");
	ask_on_terminal();
	ck_assert_int_eq(raw_delete(fixture_address(), FIRST), 0);
	stand("/l/_c_" UUID "-lock-0000000001", "y");
	cli_type(&c, "y\n");
	ck_assert_int_eq(cli_end(&c), 118);
	ck_assert_int_eq(count(), 1);
}
END_TEST

START_TEST(a_token_guards_against_a_change_between_two_commands)
{
	struct raw_stat stat;
	char token[32];

	stand(FIRST, "x");
	ck_assert_int_eq(raw_exists(fixture_address(), FIRST, &stat), 0);
	snprintf(token, sizeof(token), "%lld", (long long)stat.czxid - 1);
	ck_assert_int_eq(cli_run(&c, "break", "-y", "--token", token, "/l"),
		118);
	ck_assert(is_there(FIRST));
	snprintf(token, sizeof(token), "%lld", (long long)stat.czxid);
	ck_assert_int_eq(
		cli_run(&c, "break", "-y", "--json", "--token", token, "/l"),
		0);
	ck_assert(!is_there(FIRST));
	expect_json(c.out_text, "j[\"action\"] == \"broken\"");
	expect_json(c.out_text, "j[\"participant\"][\"state\"] == \"holds\"");
}
END_TEST

START_TEST(one_who_waits_can_be_named)
{
	static const char second[] = "/l/_c_" UUID "-lock-0000000001";

	stand(FIRST, "x");
	stand(second, "y");
	ck_assert_int_eq(cli_run(&c, "break", "-y", second), 0);
	ck_assert(is_there(FIRST) && !is_there(second));
	ck_assert_int_eq(cli_run(&c, "break", "-y", second), 117);
	cli_hears_error(&c, "nobody is in line there");
	ck_assert_int_eq(cli_run(&c, "break", "-y", "/l/"), 125);
}
END_TEST

START_TEST(a_lease_is_named_as_it_is_shown)
{
	const char *name;
	char path[128];

	cli_start(&a, "semaphore", "-n2", "/l", "--", "sh", "-c",
		"echo held $KUSTOS_NODE; read go");
	cli_hears(&a, "held ");
	cli_hears(&a, "\n");
	ck_assert_int_eq(cli_run(&c, "ls", "/l"), 0);
	name = strstr(c.out_text, "_c_");
	snprintf(path, sizeof(path), "/l/%.*s", (int)strcspn(name, " "), name);
	ck_assert_int_eq(cli_run(&c, "break", "-y", path), 0);
	cli_hears(&c, "broken: /l/leases/_c_");
	ck_assert_int_eq(cli_end(&a), 122);
}
END_TEST

START_TEST(who_has_an_extra_mark_is_shown_and_broken_if_that_is_named)
{
	static const char theirs[] = "/l/ex0000000000";

	ck_assert_int_eq(raw_create(fixture_address(), "/l", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), theirs, "x"), 0);
	stand("/l/_c_" UUID "-lock-0000000001", "ours");
	ck_assert_int_eq(cli_run(&c, "ls", "--extra-marks=ex", "--json", "/l"),
		0);
	expect_json(c.out_text,
		"[(p[\"state\"], p[\"style\"]) for p in j[\"participants\"]] "
		"== [(\"holds\", \"extra\"), (\"waits\", \"curator\")]");
	expect_json(c.out_text,
		"j[\"mixed\"] is False and j[\"foreign\"] == 0");
	ck_assert_int_eq(cli_run(&c, "break", "-y", theirs), 117);
	ck_assert_int_eq(
		cli_run(&c, "break", "-y", "--extra-marks", "mine,ex", "/l"),
		0);
	cli_hears(&c, "broken: /l/ex0000000000\n");
	ck_assert_int_eq(raw_create(fixture_address(), theirs, "x"), 0);
	ck_assert_int_eq(cli_run(&c, "break", "-y", "--extra-marks=ex", theirs),
		0);
	ck_assert(!is_there(theirs) && count() == 1);
}
END_TEST

/* However long the path is. */
START_TEST(what_is_wrong_is_said_of_a_long_path)
{
	char path[4096] = "/";

	memset(path + 1, 'x', sizeof(path) - 2);
	ck_assert_int_eq(cli_run(&c, "ls", path), 117);
	cli_hears_error(&c, "xxx: there is no such node\n");
}
END_TEST

START_TEST(where_nobody_stands_nothing_is_broken)
{
	ck_assert_int_eq(cli_run(&c, "break", "-y", "/l"), 117);
	ck_assert_str_eq(c.err_text, "kustos: /l: there is no such node\n");
	ck_assert_int_eq(raw_create(fixture_address(), "/l", NULL), 0);
	ck_assert_int_eq(cli_run(&c, "break", "-y", "/l"), 117);
	ck_assert_str_eq(c.err_text, "kustos: /l: nobody is in line there\n");
	ck_assert_int_eq(cli_run(&c, "break", "-y", "/"), 117);
	ck_assert(is_there("/l"));
}
END_TEST

START_TEST(a_holder_can_be_asked_instead)
{
	char data[64];

	stand(FIRST, "x");
	ck_assert_int_eq(cli_run(&c, "break", "--revoke", "/l"), 0);
	cli_hears(&c, "asked: " FIRST "\n");
	ck_assert_int_eq(raw_do_get(other, FIRST, data, sizeof(data), NULL), 0);
	ck_assert_int_eq(strncmp(data, "__REVOKE__", 10), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos ls and break");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, ls_shows_who_holds_and_who_waits);
	tcase_add_test(t, ls_prints_json);
	tcase_add_test(t, ls_prints_what_the_server_knows);
	tcase_add_test(t, ls_of_a_free_lock_says_so);
	tcase_add_test(t, ls_of_the_root_says_what_there_is);
	tcase_add_test(t, ls_of_no_path_gives_117);
	tcase_add_test(t, ls_knows_the_names_of_other_libraries);
	tcase_add_test(t, ls_does_not_print_control_characters);
	tcase_add_test(t, what_only_looks_like_a_record_is_data);
	tcase_add_test(t, what_is_nested_too_deeply_is_data);
	tcase_add_test(t, breaking_ends_the_holder_and_serves_the_next);
	tcase_add_test(t, a_break_whose_answer_is_lost_is_one);
	tcase_add_test(t, nothing_is_broken_without_a_confirmation);
	tcase_add_test(t, a_person_on_a_terminal_is_asked);
	tcase_add_test(t,
		who_is_asked_is_shown_for_what_wherever_the_output_goes);
	tcase_add_test(t, a_node_that_is_not_the_one_shown_is_left_alone);
	tcase_add_test(t,
		a_holder_that_has_left_meanwhile_is_not_replaced_by_the_next);
	tcase_add_test(t, a_token_guards_against_a_change_between_two_commands);
	tcase_add_test(t, one_who_waits_can_be_named);
	tcase_add_test(t, a_lease_is_named_as_it_is_shown);
	tcase_add_test(t,
		who_has_an_extra_mark_is_shown_and_broken_if_that_is_named);
	tcase_add_test(t, what_is_wrong_is_said_of_a_long_path);
	tcase_add_test(t, where_nobody_stands_nothing_is_broken);
	tcase_add_test(t, a_holder_can_be_asked_instead);
	return fixture_main(s);
}
