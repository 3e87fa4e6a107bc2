/*
 * test_bench_plot.c - kustos bench --plot: what it sends to gnuplot, what
 * gnuplot draws, and what is reported if that fails.
 */
#include "cli.h"

#include "fixture.h"
#include "reaper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHORT "-d0.4", "--warm-up=0.1"

static struct cli b;
static char folder[64];

/* Return the path of a file in our folder. */
static const char *ours(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Make a gnuplot that runs this script. */
static void pretend(const char *script)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/gnuplot", folder);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

static void set_up(void)
{
	char ls[128];

	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	strcpy(folder, "/tmp/kustos-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	/* libtool's script around the program needs this. */
	snprintf(ls, sizeof(ls), "%s/ls", folder);
	ck_assert_int_eq(symlink("/bin/ls", ls), 0);
	setenv("PATH", folder, 1);
}

static void tear_down(void)
{
	remove_tree(folder);
}

START_TEST(gnuplot_is_missed_before_anything_is_measured)
{
	ck_assert_int_eq(cli_run(&b, "bench", "-d1000", "--plot=x.svg"), 124);
	ck_assert_str_eq(b.err_text,
		"kustos: --plot needs gnuplot, which is not installed "
		"(Debian: gnuplot-nox)\n");
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_told_before_it_is_measured)
{
	char file[128];

	pretend("exit 3");
	ck_assert_int_eq(
		cli_run(&b, "bench", "-d1000", "--plot=/nowhere/x.svg"), 124);
	ck_assert_str_eq(b.err_text,
		"kustos: --plot: cannot write to /nowhere/x.svg: "
		"No such file or directory\n");
	ck_assert_str_eq(b.out_text, "");
	ck_assert_int_eq(cli_run(&b, "bench", "-d1000", "--plot", folder), 124);
	/* A file that can be written is not left empty if nothing is drawn. */
	snprintf(file, sizeof(file), "%s/x.svg", folder);
	ck_assert_int_eq(cli_run(&b, "bench", "--hosts=127.0.0.1:1",
				 "--session-timeout=500", "--plot", file),
		123);
	ck_assert_int_lt(access(file, F_OK), 0);
}
END_TEST

/* A link to a missing file is followed, and not removed. */
START_TEST(a_link_to_nothing_stays)
{
	char to[128];

	pretend("exit 3");
	strcpy(to, ours("to.svg"));
	ck_assert_int_eq(symlink(to, ours("link.svg")), 0);
	ck_assert_int_eq(cli_run(&b, "bench", "--hosts=127.0.0.1:1",
				 "--session-timeout=500", "--plot",
				 ours("link.svg")),
		123);
	ck_assert_int_gt(readlink(ours("link.svg"), to, sizeof(to)), 0);
}
END_TEST

START_TEST(gnuplot_is_told_what_to_draw)
{
	pretend("/bin/cat; echo '<svg>...........</svg>' "
		">\"${0%/*}/it's.svg\"");
	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "--plot", ours("it's.svg"),
				 "-c1,2", "--csv"),
		0);
	cli_hears(&b, "\nset output '/tmp/kustos-test-");
	cli_hears(&b, "/it''s.svg'\n");
	cli_hears(&b, "\n$wait1 << EOD\n");
	cli_hears(&b, "\n$growth << EOD\n");
	cli_hears(&b, "\nset multiplot layout 3,1 ");
	cli_hears(&b, "\nunset output\n");
}
END_TEST

START_TEST(a_text_is_drawn_with_characters)
{
	pretend("/bin/cat; echo >\"${0%/*}/x.txt\"");
	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "--plot", ours("x.txt"),
				 "-c1", "--csv"),
		0);
	cli_hears(&b, "\nset terminal dumb ");
	cli_hears(&b, "/x.txt'\n");
	ck_assert_ptr_null(strstr(b.out_text, "multiplot"));
}
END_TEST

START_TEST(a_failure_of_gnuplot_is_told)
{
	pretend("/bin/cat >/dev/null; exit 3");
	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "--plot=-", "-c1"), 124);
	cli_hears(&b, "\nfairness ");
	ck_assert_str_eq(b.err_text,
		"kustos: gnuplot failed, with exit code 3\n");
}
END_TEST

/* As the real gnuplot does on a full disk. */
START_TEST(a_plot_that_was_cut_short_is_told)
{
	static const char *const cut[] = { "/bin/cat >/dev/null",
		"/bin/cat >\"${0%/*}/x.svg\"" };

	for (int i = 0; i < 2; i++) {
		pretend(cut[i]);
		ck_assert_int_eq(cli_run(&b, "bench", SHORT, "-c1", "--plot",
					 ours("x.svg")),
			124);
		cli_hears(&b, "\nfairness ");
		cli_hears_error(&b, "/x.svg is not whole; is the disk full?\n");
	}
}
END_TEST

/* The table was printed long before this is reported, and other things have
   gone wrong since. */
START_TEST(why_a_table_could_not_be_printed_is_told)
{
	const char *const deaf[] = { "/bin/sh", "-c",
		"exec \"$0\" bench -d0.4 -c1 --plot=- >/dev/full",
		cli_program(), NULL };

	pretend("exec /bin/cat >/dev/null");
	cli_start_argv(&b, deaf);
	ck_assert_int_eq(cli_end(&b), 124);
	ck_assert_str_eq(b.err_text,
		"kustos: cannot write to standard output: "
		"No space left on device\n");
}
END_TEST

/* It does not even read its input, and it holds all output open. */
START_TEST(a_signal_ends_what_draws_too_long)
{
	pretend("echo I draw; exec /bin/sleep 1000");
	cli_start(&b, "bench", SHORT, "-c1", "--plot=-");
	cli_hears(&b, "I draw\n");
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	ck_assert_str_eq(b.err_text, "");
}
END_TEST

/* Names with a special meaning for gnuplot, or that would end its line. */
static void draws(const char *name)
{
	static const char here[] = "cd \"$0\" && exec \"$@\"";
	const char *const argv[] = { "/bin/sh", "-c", here, folder,
		cli_program(), "bench", SHORT, "-c1", "--plot", name, NULL };

	cli_start_argv(&b, argv);
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_str_eq(b.err_text, "");
	ck_assert_int_eq(remove(ours(name)), 0);
}

START_TEST(a_file_has_the_name_that_was_asked_for)
{
	char program[4096];

	setenv("PATH", "/usr/bin:/bin", 1);
	if (!fixture_has("test -x /usr/bin/gnuplot"))
		return;
	ck_assert_ptr_nonnull(realpath(cli_program(), program));
	setenv("KUSTOS", program, 1);
	draws("|cat >x.svg");
	draws("two\nlines.svg");
	draws("a`b\"c'd,e\\n.svg");
	draws("|cat.txt");
}
END_TEST

/* The real gnuplot, where it is installed, accepts its input. */
START_TEST(gnuplot_draws_it)
{
	static char text[1 << 20]; /* it is about 50,000 */
	char file[128];
	const char *recipes[] = { "-rmutex", "-rrwlock" };
	size_t len;
	FILE *in;

	setenv("PATH", "/usr/bin:/bin", 1);
	if (!fixture_has("test -x /usr/bin/gnuplot"))
		return;
	snprintf(file, sizeof(file), "%s/it's.svg", folder);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cli_run(&b, "bench", SHORT, "--plot", file,
					 "-c2,3", recipes[i]),
			0);
		ck_assert_str_eq(b.err_text, "");
		in = fopen(file, "r");
		ck_assert_ptr_nonnull(in);
		len = fread(text, 1, sizeof(text) - 1, in);
		fclose(in);
		text[len] = '\0';
		ck_assert_ptr_nonnull(strstr(text, "</svg>"));
		ck_assert_ptr_nonnull(strstr(text, "2 clients"));
		ck_assert_ptr_nonnull(strstr(text, "median wait"));
		ck_assert_int_eq(remove(file), 0);
	}
	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "--plot=-", "-c2"), 0);
	cli_hears(&b, "2 clients ***");
	cli_hears(&b, "\n ms ");
	ck_assert_str_eq(b.err_text, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos bench, drawing");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, gnuplot_is_missed_before_anything_is_measured);
	tcase_add_test(t,
		a_file_that_cannot_be_written_is_told_before_it_is_measured);
	tcase_add_test(t, a_link_to_nothing_stays);
	tcase_add_test(t, gnuplot_is_told_what_to_draw);
	tcase_add_test(t, a_text_is_drawn_with_characters);
	tcase_add_test(t, a_failure_of_gnuplot_is_told);
	tcase_add_test(t, a_plot_that_was_cut_short_is_told);
	tcase_add_test(t, why_a_table_could_not_be_printed_is_told);
	tcase_add_test(t, a_signal_ends_what_draws_too_long);
	tcase_add_test(t, a_file_has_the_name_that_was_asked_for);
	tcase_add_test(t, gnuplot_draws_it);
	return fixture_main(s);
}
