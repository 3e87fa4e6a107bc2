/*
 * test_log.c - whatever keeps a client from its servers is named in its log.
 */
#include "client_fixture.h"
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define T_MS 4000

/* A text to find in the log, and the number of lines that had it. */
struct wanted {
	const char *text;
	atomic_int lines;
};

static void look_at(void *arg, enum kustos_log_level level, const char *line)
{
	struct wanted *wanted = arg;

	(void)level;
	if (strstr(line, wanted->text) != NULL)
		atomic_fetch_add(&wanted->lines, 1);
}

static struct kustos_client *open_to(const char *hosts, struct wanted *wanted)
{
	struct kustos_client_options o = client_options(hosts, T_MS);

	o.log = look_at;
	o.log_arg = wanted;
	return client_open_with(&o);
}

START_TEST(why_no_name_could_be_resolved_is_told)
{
	struct wanted wanted = { .text = gai_strerror(EAI_AGAIN) };
	struct kustos_client *client;

	inject_reset();
	inject_resolver(EAI_AGAIN, 0);
	client = open_to("zk.kustos.test", &wanted);
	test_within(atomic_load(&wanted.lines) > 0, PATIENCE_MS);
	client_drop(client);
	inject_reset();
}
END_TEST

/* And not told again in each of the rounds that follow. */
START_TEST(that_there_are_no_more_descriptors_is_told_once)
{
	struct wanted wanted = { .text = strerror(EMFILE) };
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit;
	struct kustos_client *client;

	ck_assert_int_ge(lowest, 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	client = open_to("127.0.0.9:1", &wanted);
	limit.rlim_cur = (rlim_t)lowest;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	test_within(atomic_load(&wanted.lines) > 0, PATIENCE_MS);
	test_never(atomic_load(&wanted.lines) > 1, 1000);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	client_drop(client);
	close(lowest);
}
END_TEST

/* Once the name can be resolved, a handle is to be opened, which needs a
   pipe. */
START_TEST(why_no_handle_can_be_opened_is_told)
{
	char text[128];
	struct wanted wanted = { .text = text };
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit;
	struct kustos_client *client;

	snprintf(text, sizeof(text), "cannot open a handle: %s",
		strerror(EMFILE));
	inject_reset();
	inject_names("");
	client = open_to("zk.kustos.test", &wanted);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)lowest;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	inject_names("127.0.0.9:1");
	test_within(atomic_load(&wanted.lines) > 0, PATIENCE_MS);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	client_drop(client);
	inject_reset();
	close(lowest);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("log");
	TCase *t = fixture_bare_case(s, "no server", 30);

	tcase_add_test(t, why_no_name_could_be_resolved_is_told);
	tcase_add_test(t, that_there_are_no_more_descriptors_is_told_once);
	tcase_add_test(t, why_no_handle_can_be_opened_is_told);
	return fixture_main(s);
}
