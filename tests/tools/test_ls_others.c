/*
 * test_ls_others.c - kustos ls and kustos break of a path that is not one
 * lock's line; and kustos break without a person to ask.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli a, b, c, d;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static void make(const char *path, const char *data)
{
	ck_assert_int_eq(raw_create(fixture_address(), path, data), 0);
}

static void use(struct cli *who)
{
	cli_start(who, "semaphore", "-n2", "/s", "--", "sh", "-c",
		"echo held; read go");
}

/* None of them was shown to the user, so none is chosen. */
START_TEST(of_a_semaphore_one_has_to_be_named)
{
	use(&a);
	use(&b);
	cli_hears(&a, "held\n");
	cli_hears(&b, "held\n");
	use(&c);
	test_within(fixture_children("/s/leases") == 3, CLI_MS);
	ck_assert_int_eq(cli_run(&d, "break", "-y", "/s"), 125);
	cli_hears_error(&d,
		"break: /s is a semaphore, which several may hold: name one "
		"of those that 'kustos ls' shows");
	ck_assert_int_eq(fixture_children("/s/leases"), 3);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	cli_hears(&c, "held\n");
	cli_type(&b, "go\n");
	cli_type(&c, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_int_eq(cli_end(&c), 0);
	/* Now there is no holder. */
	ck_assert_int_eq(cli_run(&d, "break", "-y", "/s"), 117);
	cli_hears_error(&d, "/s: nobody is in line there\n");
	ck_assert_int_eq(cli_run(&d, "ls", "/s"), 0);
	ck_assert_str_eq(d.out_text, "/s: free\n");
}
END_TEST

static void expect_no_line(int nodes)
{
	char says[128];

	ck_assert_int_eq(cli_run(&d, "ls", "/x"), 0);
	snprintf(says, sizeof(says),
		"/x: no line here, but %d node%s below it; 'kustos top' may "
		"know of what\n",
		nodes, nodes == 1 ? "" : "s");
	ck_assert_str_eq(d.out_text, says);
	ck_assert_int_eq(cli_run(&d, "break", "-y", "/x"), 117);
}

START_TEST(a_queue_is_not_called_free)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", "/x", "1", "2"), 0);
	expect_no_line(2);
}
END_TEST

START_TEST(a_latch_is_not_called_free)
{
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n2", "/x"), 0);
	expect_no_line(1);
}
END_TEST

START_TEST(a_barrier_that_is_set_is_not_called_free)
{
	ck_assert_int_eq(cli_run(&a, "barrier", "set", "/x"), 0);
	ck_assert_int_eq(cli_run(&d, "ls", "/x"), 0);
	ck_assert_str_eq(d.out_text,
		"/x: no line here, but a barrier that is set\n");
	/* An address in a node that had children is no barrier's. */
	make("/y", "127.0.0.1");
	make("/y/z", NULL);
	ck_assert_int_eq(raw_delete(fixture_address(), "/y/z"), 0);
	ck_assert_int_eq(cli_run(&d, "ls", "/y"), 0);
	ck_assert_str_eq(d.out_text, "/y: free\n");
}
END_TEST

START_TEST(a_folder_is_not_called_free)
{
	make("/x", NULL);
	make("/x/one", NULL);
	make("/x/two", NULL);
	expect_no_line(2);
}
END_TEST

static void hold(void)
{
	cli_start(&a, "lock", "/l", "--", "sh", "-c", "echo held; read go");
	cli_hears(&a, "held\n");
}

static void let_go(void)
{
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
}

/* Neither input from a pipe confirms it, nor somebody who cannot see the
   question. */
START_TEST(only_who_sees_the_question_confirms)
{
	const char *argv[] = { "sh", "-c",
		_i == 0 ? "echo y | \"$0\" break /l"
			: "exec \"$0\" break /l 2>/dev/null",
		cli_program(), NULL };

	hold();
	cli_start_on_terminal(&b, argv);
	cli_type(&b, "y\n");
	ck_assert_int_eq(cli_end(&b), 119);
	let_go();
}
END_TEST

/* The other messages are not for a program that reads the JSON. */
START_TEST(in_json_it_is_one_object_that_says_who_was_asked)
{
	hold();
	ck_assert_int_eq(cli_run(&b, "break", "--revoke", "--json", "/l"), 0);
	ck_assert_ptr_eq(strstr(b.out_text, "{\"action\":\"asked\","),
		b.out_text);
	ck_assert_ptr_eq(strchr(b.out_text, '\n') + 1, b.out_text + b.out_len);
	let_go();
}
END_TEST

#define TURNED "\xe2\x80\xae"
#define UNSEEN "\xe2\x80\x8b"

/* It would look like another node. */
START_TEST(what_is_not_seen_or_turns_text_around_is_spelled_out)
{
	make("/l", NULL);
	make("/l/a" TURNED "lock-0000000001",
		"x" UNSEEN "\xc2\xad\xef\xbb\xbf");
	ck_assert_int_eq(cli_run(&a, "ls", "/l"), 0);
	cli_hears(&a, " a\\xe2\\x80\\xaelock-0000000001  ");
	cli_hears(&a, "x\\xe2\\x80\\x8b\\xc2\\xad\\xef\\xbb\\xbf\n");
	ck_assert_int_eq(cli_run(&a, "break", "-y", "/l"), 0);
	cli_hears(&a, "broken: /l/a\\xe2\\x80\\xaelock-0000000001\n");
	ck_assert_ptr_null(strstr(a.out_text, TURNED));
	make("/q", NULL);
	make("/q/queue-|" TURNED "|0000000001", NULL);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "/q"), 0);
	cli_hears(&a, "queue-|\\xe2\\x80\\xae|0000000001  0 bytes");
	/* Foreign characters that are visible stay as they are. */
	make("/m", NULL);
	make("/m/\xc3\xa9lock-0000000001", "\xd7\x90\xe2\x82\xac");
	ck_assert_int_eq(cli_run(&a, "ls", "/m"), 0);
	cli_hears(&a, " \xc3\xa9lock-0000000001  \xd7\x90\xe2\x82\xac\n");
}
END_TEST

/* JSON allows some of them, but a person may look at it, or at what others
   wrote. */
START_TEST(json_has_no_control_characters_either)
{
	make("/l", NULL);
	make("/l/lock-0000000001",
		"{\"a\":\"\xc2\x9b"
		"1m\",\t\"b\\u0009\":\n\"\x7f\\\\ \xc3\xa9\"}");
	ck_assert_int_eq(cli_run(&a, "ls", "--json", "/l"), 0);
	cli_hears(&a,
		"\"data\":\"{\\\"a\\\":\\\"\\u009b1m\\\",\\u0009"
		"\\\"b\\\\u0009\\\":\\u000a"
		"\\\"\\u007f\\\\\\\\ \xc3\xa9\\\"}\"");
	cli_hears(&a,
		"\"record\":{\"a\":\"\\u009b1m\", \"b\\u0009\": "
		"\"\\u007f\\\\ \xc3\xa9\"}}");
	ck_assert_ptr_null(strstr(a.out_text, "\xc2\x9b"));
	ck_assert_ptr_null(strchr(a.out_text, 0x7f));
}
END_TEST

/* It is JSON, whatever the half stands for. */
START_TEST(half_a_character_does_not_hide_a_record)
{
	make("/l", NULL);
	make("/l/lock-0000000001", "{\"host\":\"\\ud800\\u0041\",\"pid\":1}");
	ck_assert_int_eq(cli_run(&a, "ls", "/l"), 0);
	cli_hears(&a,
		"  \xef\xbf\xbd"
		"A pid 1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos ls and break of others");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, of_a_semaphore_one_has_to_be_named);
	tcase_add_test(t, a_queue_is_not_called_free);
	tcase_add_test(t, a_latch_is_not_called_free);
	tcase_add_test(t, a_barrier_that_is_set_is_not_called_free);
	tcase_add_test(t, a_folder_is_not_called_free);
	tcase_add_loop_test(t, only_who_sees_the_question_confirms, 0, 2);
	tcase_add_test(t, in_json_it_is_one_object_that_says_who_was_asked);
	tcase_add_test(t, what_is_not_seen_or_turns_text_around_is_spelled_out);
	tcase_add_test(t, json_has_no_control_characters_either);
	tcase_add_test(t, half_a_character_does_not_hide_a_record);
	return fixture_main(s);
}
