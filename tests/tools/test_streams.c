/*
 * test_streams.c - kustos with standard descriptors that are full, closed,
 * without a reader, or non-blocking.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2(), dup3() */
#endif
#include "cli.h"

#include "fixture.h"
#include "process.h"
#include "raw.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS "/r/jobs"

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	ck_assert_int_eq(raw_create(fixture_address(), "/r", ""), 0);
}

/* Run a script in which $0 is the program.  Returns its exit code. */
static int script(const char *text)
{
	const char *const argv[] = { "sh", "-c", text, cli_program(), NULL };

	cli_start_argv(&a, argv);
	return cli_end(&a);
}

/* The scripts get a descriptor as number 9, the last that every shell has a
   name for.  Keep number 9 occupied at all other times, because dup2() would
   replace a descriptor that libcheck or libcli has there. */
static void keep_9(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing < 0 || nothing == 9)
		return;
	(void)dup3(nothing, 9, O_CLOEXEC);
	close(nothing);
}

/* Start a script whose descriptor "fd" is a non-blocking end of a pipe.
   Returns the other end, which blocks. */
static int start_with(int fd, const char *text)
{
	const char *const argv[] = { "sh", "-c", text, cli_program(), NULL };
	int ends[2], ours = fd == 0;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(fcntl(ends[!ours], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(dup2(ends[!ours], 9), 9); /* is inherited */
	cli_start_argv(&a, argv);
	close(ends[!ours]);
	keep_9();
	return ends[ours];
}

static void write_text(int fd, const char *text)
{
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* A pause before all input, one within a line, and one between lines. */
START_TEST(input_that_does_not_block_is_waited_for)
{
	int fd = start_with(0, "exec \"$0\" queue put " JOBS " <&9");

	test_within(fourletter_has(fixture_address(), "cons", "queued=0") &&
			fixture_children("/r") == 0,
		CLI_MS);
	write_text(fd, "one\ntw");
	test_within(fixture_children(JOBS) == 1, CLI_MS);
	write_text(fd, "o\n");
	test_within(fixture_children(JOBS) == 2, CLI_MS);
	write_text(fd, "three");
	close(fd);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_run(&b, "queue", "take", "-c3", JOBS), 0);
	ck_assert_str_eq(b.out_text, "one\ntwo\nthree\n");
}
END_TEST

/* More than fits in a pipe. */
#define MUCH 200000

START_TEST(output_that_does_not_block_loses_no_item)
{
	static char text[MUCH + 2];
	size_t len = 0;
	ssize_t n;

	ck_assert_int_eq(script("head -c 200000 /dev/zero | tr '\\0' x |"
				" \"$0\" queue put " JOBS),
		0);
	int fd = start_with(1, "exec \"$0\" queue take " JOBS " >&9");
	test_within(fixture_children(JOBS) == 0, CLI_MS);
	while ((n = read(fd, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_uint_eq(len, MUCH + 1);
	ck_assert_uint_eq(strspn(text, "x"), MUCH);
}
END_TEST

START_TEST(input_that_cannot_be_read_is_no_end)
{
	ck_assert_int_eq(script("\"$0\" queue put " JOBS " </"), 124);
	cli_hears_error(&a, "kustos: cannot read standard input: ");
	ck_assert_int_eq(script("\"$0\" queue put " JOBS " <&-"), 124);
	cli_hears_error(&a, "kustos: cannot read standard input: ");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

START_TEST(P13_a_connection_is_no_standard_descriptor)
{
	static const char inside[] =
		"for i in 0 1 2; do readlink /proc/$PPID/fd/$i >&3;"
		" test ! -e /proc/$$/fd/$i || echo open $i >&3; done";
	static const char outside[] =
		"exec \"$0\" lock /r/l -- sh -c \"$1\" 3>&1 <&- >&- 2>&-";
	const char *const argv[] = { "sh", "-c", outside, cli_program(), inside,
		NULL };

	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "/dev/null\n/dev/null\n/dev/null\n");
}
END_TEST

static const char *const printing[] = { "help", "--version", "lock --help",
	"ls /r", "ls --json /r", "top --once /r", "queue peek " JOBS,
	"queue take " JOBS, "queue ls " JOBS, "latch status /r/latch",
	"break -y --json /r/l", "bench -c1 -d0.1 /r", "elect --watch /r/l",
	"server" /* the last two: they go on */ };
#define PRINTING (int)(sizeof(printing) / sizeof(printing[0]))

START_TEST(output_that_cannot_be_written_is_a_failure)
{
	char text[128];

	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "x", "y"), 0);
	ck_assert_int_eq(cli_run(&b, "latch", "set", "-n1", "/r/latch"), 0);
	for (int closed = 0; closed < 2; closed++) {
		cli_start(&b, "lock", "/r/l", "--", "sh", "-c",
			"echo held; read go");
		cli_hears(&b, "held\n");
		snprintf(text, sizeof(text), "\"$0\" %s >%s", printing[_i],
			closed ? "&-" : "/dev/full");
		ck_assert_int_eq(script(text), 124);
		cli_hears_error(&a,
			"kustos: cannot write to standard output: ");
		cli_eof(&b);
		(void)cli_end(&b);
	}
}
END_TEST

/* The output is closed, or nobody reads it any more. */
START_TEST(nothing_is_taken_for_an_output_that_cannot_be_written)
{
	const char *const argv[] = { "sh", "-c",
		_i == 0 ? "exec \"$0\" queue take " JOBS " >&-"
			: "exec \"$0\" queue take " JOBS " >&9",
		cli_program(), NULL };
	int ends[2];

	/* Whatever runs the tests may ignore the signal. */
	ck_assert_ptr_ne(signal(SIGPIPE, SIG_DFL), SIG_ERR);
	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "x", "y"), 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(ends[1], 9), 9); /* is inherited */
	close(ends[0]);
	cli_start_argv(&a, argv);
	close(ends[1]);
	keep_9();
	ck_assert_int_eq(cli_end(&a), _i == 0 ? 124 : -SIGPIPE);
	ck_assert_str_eq(a.err_text,
		_i == 0 ? "kustos: cannot write to standard output: Bad file "
			  "descriptor\n"
			: "");
	ck_assert_int_eq(fixture_children(JOBS), 2);
}
END_TEST

/* Fill a pipe through a non-blocking end.  Returns how many bytes that took. */
static size_t fill(int fd)
{
	static const char text[4096];
	size_t len = 0;
	ssize_t n;

	for (size_t size = sizeof(text); size > 0; size /= 2)
		while ((n = write(fd, text, size)) > 0)
			len += (size_t)n;
	return len;
}

/* Read this many bytes, and return how many follow them. */
static size_t follow(int fd, size_t filled)
{
	static char text[4096];
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		len += (size_t)n;
	ck_assert_uint_ge(len, filled);
	return len - filled;
}

/* Start a command with a full, non-blocking pipe as its output.  Returns the
   other end; stores how much is in the pipe. */
static int start_full(const char *words, size_t *filled)
{
	char text[128];
	int ends[2];

	snprintf(text, sizeof(text), "exec \"$0\" %s >&9", words);
	const char *const argv[] = { "sh", "-c", text, cli_program(), NULL };
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(dup2(ends[1], 9), 9);
	*filled = fill(ends[1]);
	cli_start_argv(&a, argv);
	close(ends[1]);
	keep_9();
	return ends[0];
}

START_TEST(output_that_is_full_is_waited_for)
{
	size_t filled;

	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "x", "y"), 0);
	ck_assert_int_eq(cli_run(&b, "latch", "set", "-n1", "/r/latch"), 0);
	cli_start(&b, "lock", "/r/l", "--", "sh", "-c", "echo held; read go");
	cli_hears(&b, "held\n");
	int fd = start_full(printing[_i], &filled);
	test_never(!cli_runs(&a), 500);
	ck_assert_uint_gt(follow(fd, filled), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.err_text, "");
	cli_eof(&b);
	(void)cli_end(&b);
}
END_TEST

static const struct {
	const char *words;
	int code;
} stuck[] = {
	{ "elect --watch /r/l", -SIGTERM },
	{ "top /r", -SIGTERM },
	{ "bench -c1 -d0.1 --warm-up 0 --json /r", -SIGTERM },
	{ "server", 0 },
};
#define STUCK (int)(sizeof(stuck) / sizeof(stuck[0]))

/* Nobody ever reads. */
START_TEST(a_signal_ends_what_waits_for_room)
{
	size_t filled;
	int fd = start_full(stuck[_i].words, &filled);

	test_never(!cli_runs(&a), 1500);
	/* While its servers start a signal kills it. */
	if (stuck[_i].code == 0)
		test_eventually(process_holds(a.pid, "anon_inode:[signalfd]"),
			20000);
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), stuck[_i].code);
	close(fd);
}
END_TEST

/* It has no other way to say where it listens. */
START_TEST(a_server_waits_for_room_to_say_where_it_listens)
{
	char text[4096];
	size_t filled;
	int fd = start_full("server", &filled);

	test_never(!cli_runs(&a), 1500);
	while (filled > 0) {
		ssize_t n = read(fd, text,
			filled < sizeof(text) ? filled : sizeof(text));

		ck_assert_int_gt(n, 0);
		filled -= (size_t)n;
	}
	ck_assert_int_gt(read(fd, text, sizeof(text)), 0);
	ck_assert_int_eq(strncmp(text, "127.0.0.1:", 10), 0);
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), 0);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos and its streams");
	TCase *t = fixture_case(s, "one server", 60);

	keep_9();
	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, input_that_does_not_block_is_waited_for);
	tcase_add_test(t, output_that_does_not_block_loses_no_item);
	tcase_add_test(t, input_that_cannot_be_read_is_no_end);
	tcase_add_test(t, P13_a_connection_is_no_standard_descriptor);
	tcase_add_loop_test(t, output_that_cannot_be_written_is_a_failure, 0,
		PRINTING);
	tcase_add_loop_test(t,
		nothing_is_taken_for_an_output_that_cannot_be_written, 0, 2);
	tcase_add_loop_test(t, output_that_is_full_is_waited_for, 0,
		PRINTING - 2);
	tcase_add_loop_test(t, a_signal_ends_what_waits_for_room, 0, STUCK);
	tcase_add_test(t, a_server_waits_for_room_to_say_where_it_listens);
	return fixture_main(s);
}
