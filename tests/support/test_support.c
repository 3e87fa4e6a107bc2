/*
 * test_support.c - tests of the test bed: servers, ensembles, ending sessions,
 * and that nothing is left behind.  For the proxy see test_proxy.c.
 */
#include "child.h"
#include "ensemble.h"
#include "fixture.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"
#include "reaper.h"
#include "server_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

START_TEST(a_stored_node_survives_kill_and_restart_but_not_wipe)
{
	struct server *s = fixture_server();
	const char *at = fixture_address();

	ck_assert_int_eq(raw_create(at, "/kept", "x"), 0);
	ck_assert_int_eq(server_kill(s), 0);
	ck_assert_int_eq(server_pid(s), 0);
	ck_assert_int_eq(raw_exists(at, "/kept", NULL), RAW_BROKEN);
	ck_assert_int_eq(server_restart(s), 0);
	ck_assert_int_eq(raw_exists(at, "/kept", NULL), 0);
	ck_assert_int_eq(server_stop(s), 0);
	ck_assert_int_eq(server_wipe(s), 0);
	ck_assert_int_eq(server_restart(s), 0);
	ck_assert_int_eq(raw_exists(at, "/kept", NULL), RAW_NONODE);
	ck_assert_str_eq(at, fixture_address());
}
END_TEST

START_TEST(each_test_finds_the_server_up_and_empty)
{
	/* The second pass would see what the first one left on the server. */
	ck_assert_int_eq(raw_count_children(fixture_address(), "/"), 1);
	ck_assert_int_eq(raw_create(fixture_address(), "/a", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), "/a/b", "1"), 0);
	if (_i == 0)
		ck_assert_int_eq(server_pause(fixture_server()), 0);
	else
		ck_assert_int_eq(server_kill(fixture_server()), 0);
}
END_TEST

START_TEST(a_paused_server_is_silent_and_keeps_its_connections)
{
	struct raw *raw = raw_open(fixture_address(), PATIENCE_MS);
	char text[64];

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(server_pause(fixture_server()), 0);
	ck_assert_uint_eq(
		fourletter(fixture_address(), "ruok", text, sizeof(text)), 0);
	ck_assert_int_eq(server_resume(fixture_server()), 0);
	ck_assert_int_eq(raw_do_exists(raw, "/", NULL), 0);
	raw_close(raw);
}
END_TEST

START_TEST(options_reach_the_server)
{
	struct server_options o = {
		.min_session_ms = 1500,
		.ip = "127.0.0.9",
		.jvm = "-Dznode.container.checkIntervalMs=50 "
		       "-Djute.maxbuffer=2000",
		.config = "maxClientCnxns=17",
	};
	struct server *s = server_start(&o);
	struct raw *raw;
	char big[3000];
	const char *at;

	ck_assert_ptr_nonnull(s);
	at = server_address(s);
	ck_assert(fourletter_has(at, "conf", "minSessionTimeout=1500"));
	ck_assert(fourletter_has(at, "conf", "maxClientCnxns=17"));
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ck_assert_int_eq(raw_create(at, "/big", big), RAW_BROKEN);
	raw = raw_open(at, 10000);
	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_create(raw, "/c", NULL, RAW_CONTAINER, NULL, 0),
		0);
	ck_assert_int_eq(
		raw_do_create(raw, "/c/d", NULL, RAW_PERSISTENT, NULL, 0), 0);
	ck_assert_int_eq(raw_do_delete(raw, "/c/d", -1), 0);
	test_eventually(raw_do_exists(raw, "/c", NULL) == RAW_NONODE, 5000);
	raw_close(raw);
	server_free(s);
}
END_TEST

START_TEST(the_raw_client_reads_what_it_wrote)
{
	struct raw *raw = raw_open(fixture_address(), 10000);
	struct raw_names names;
	struct raw_stat st;
	char text[64];

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_create(raw, "/s-", "one",
				 RAW_EPHEMERAL_SEQUENTIAL, text, sizeof(text)),
		0);
	ck_assert_uint_eq(strlen(text), strlen("/s-0000000000"));
	ck_assert_int_eq(raw_do_set(raw, text, "two", 0), 0);
	ck_assert_int_eq(raw_do_set(raw, text, "no", 0), RAW_BADVERSION);
	ck_assert_int_eq(raw_do_exists(raw, text, &st), 0);
	ck_assert(st.ephemeral_owner == raw_session(raw));
	ck_assert_int_eq(st.version, 1);
	ck_assert_int_eq(raw_do_get(raw, text, text, sizeof(text), NULL), 0);
	ck_assert_str_eq(text, "two");
	ck_assert_int_eq(raw_do_ping(raw), 0);
	ck_assert_int_eq(raw_do_children(raw, "/", &names), 0);
	ck_assert_int_eq(names.count, 2);
	raw_names_free(&names);
	raw_close(raw);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/"), 1);
}
END_TEST

START_TEST(a_killed_session_loses_its_ephemerals_at_once)
{
	struct raw *victim = raw_open(fixture_address(), 60000);
	int64_t id;

	ck_assert_ptr_nonnull(victim);
	id = raw_session(victim);
	ck_assert_int_eq(
		raw_do_create(victim, "/e", NULL, RAW_EPHEMERAL, NULL, 0), 0);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/e", NULL), RAW_NONODE);
	ck_assert_int_eq(raw_do_exists(victim, "/", NULL), RAW_BROKEN);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), -1);
	raw_abandon(victim);
}
END_TEST

START_TEST(an_ensemble_survives_the_loss_of_its_leader)
{
	struct ensemble *e = ensemble_start(NULL, false);
	int first;
	int second;

	ck_assert_ptr_nonnull(e);
	first = ensemble_leader(e);
	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(
		raw_create(server_address(ensemble_server(e, 0)), "/n", NULL),
		0);
	ck_assert_int_eq(server_kill(ensemble_server(e, first)), 0);
	second = ensemble_wait(e, 2, PATIENCE_MS);
	ck_assert_int_ge(second, 0);
	ck_assert_int_ne(second, first);
	ck_assert_int_eq(raw_exists(server_address(ensemble_server(e, second)),
				 "/n", NULL),
		0);
	ck_assert_int_eq(server_restart(ensemble_server(e, first)), 0);
	ck_assert_int_ge(ensemble_wait(e, 3, PATIENCE_MS), 0);
	ensemble_free(e);
}
END_TEST

START_TEST(a_lagging_follower_serves_the_past_until_its_link_resumes)
{
	struct ensemble *e = ensemble_start(NULL, true);
	const char *follower;
	struct raw *raw;

	ck_assert_ptr_nonnull(e);
	follower = server_address(ensemble_server(e, 0));
	raw = raw_open(follower, 60000);
	ck_assert_ptr_nonnull(raw);
	proxy_set_mode(ensemble_lag(e), PROXY_HOLD);
	ck_assert_int_eq(
		raw_create(server_address(ensemble_server(e, 2)), "/new", NULL),
		0);
	ck_assert_int_eq(raw_do_exists(raw, "/new", NULL), RAW_NONODE);
	proxy_set_mode(ensemble_lag(e), PROXY_PASS);
	ck_assert_int_eq(raw_do_sync(raw, "/"), 0);
	ck_assert_int_eq(raw_do_exists(raw, "/new", NULL), 0);
	raw_close(raw);
	ensemble_free(e);
}
END_TEST

/* Start a server, tell its address, and wait to be killed. */
static int start_and_wait(int fd, void *arg)
{
	struct server *s;
	char line[400];

	(void)arg;
	if (setpgid(0, 0) < 0 || (s = server_start(NULL)) == NULL)
		return 1;
	snprintf(line, sizeof(line), "%d %d %s", (int)server_pid(s),
		(int)reaper_self(reaper_get()), reaper_dir(reaper_get()));
	child_say(fd, line);
	child_hear(fd, line, sizeof(line), 60000);
	return 0;
}

static void start_elsewhere(struct child *c, pid_t *java, pid_t *reaper,
	char *dir)
{
	char line[400];
	int j;
	int r;

	ck_assert_int_eq(child_start(c, start_and_wait, NULL), 0);
	ck_assert_int_eq(child_hear(c->fd, line, sizeof(line), PATIENCE_MS), 0);
	ck_assert_int_eq(sscanf(line, "%d %d %255s", &j, &r, dir), 3);
	*java = j;
	*reaper = r;
	ck_assert(process_alive(*java));
	ck_assert(process_alive(*reaper));
	ck_assert_int_eq(access(dir, F_OK), 0);
}

START_TEST(nothing_is_left_of_a_killed_test)
{
	struct child c;
	pid_t java;
	pid_t reaper;
	char dir[256];

	start_elsewhere(&c, &java, &reaper, dir);
	/* Kill the whole process group, as libcheck does at a timeout. */
	ck_assert_int_eq(kill(-c.pid, SIGKILL), 0);
	test_eventually(!process_alive(java), 5000);
	test_eventually(access(dir, F_OK) < 0, 5000);
	test_eventually(!process_alive(reaper), 5000);
	child_end(&c);
}
END_TEST

START_TEST(a_server_dies_with_its_reaper)
{
	struct child c;
	pid_t java;
	pid_t reaper;
	char dir[256];

	start_elsewhere(&c, &java, &reaper, dir);
	ck_assert_int_eq(kill(reaper, SIGKILL), 0);
	test_eventually(!process_alive(java), 5000);
	child_end(&c);
	remove_tree(dir);
}
END_TEST

START_TEST(nothing_is_left_of_a_test_that_ends_by_itself)
{
	struct child c;
	pid_t java;
	pid_t reaper;
	char dir[256];

	start_elsewhere(&c, &java, &reaper, dir);
	child_say(c.fd, "go");
	ck_assert_int_eq(child_wait(&c, PATIENCE_MS), 0);
	test_eventually(!process_alive(java), 5000);
	test_eventually(access(dir, F_OK) < 0, 5000);
	child_end(&c);
}
END_TEST

static int ask_and_die(int fd, void *arg)
{
	server_pid(arg);
	child_say(fd, "asking");
	for (;;)
		server_pid(arg);
	return 0;
}

START_TEST(a_fork_killed_in_the_middle_of_a_question_does_no_harm)
{
	struct server *s = fixture_server();
	pid_t pid = server_pid(s);

	for (int i = 0; i < 200; i++) {
		struct child c;

		ck_assert_int_eq(child_start(&c, ask_and_die, s), 0);
		ck_assert(child_expect(c.fd, "asking", PATIENCE_MS));
		child_end(&c);
		/* A different question: the answer that was left must not be
		   taken for its own. */
		ck_assert_int_ne(server_port(s), pid);
		ck_assert_int_eq(server_pid(s), pid);
	}
}
END_TEST

static int echo(int fd, void *arg)
{
	char line[64];

	(void)arg;
	while (child_hear(fd, line, sizeof(line), 60000) == 0)
		child_say(fd, line);
	return 7;
}

START_TEST(a_paused_child_is_silent_until_resumed)
{
	struct child c;

	ck_assert_int_eq(child_start(&c, echo, NULL), 0);
	child_say(c.fd, "one");
	ck_assert(child_expect(c.fd, "one", PATIENCE_MS));
	ck_assert_int_eq(process_pause(c.pid), 0);
	child_say(c.fd, "two");
	ck_assert(!child_expect(c.fd, "two", 100));
	ck_assert_int_eq(process_resume(c.pid), 0);
	ck_assert(child_expect(c.fd, "two", PATIENCE_MS));
	ck_assert_int_eq(child_wait(&c, 0), -1);
	shutdown(c.fd, SHUT_WR);
	ck_assert_int_eq(child_wait(&c, PATIENCE_MS), 7);
	child_end(&c);
}
END_TEST

START_TEST(figures_of_the_process_follow_what_it_does)
{
	size_t size = 32 << 20;
	int fds = fd_count();
	long rss = rss_kb();
	int fd = dup(0);
	volatile char *memory = malloc(size);
	struct proxy *p;
	int threads;

	ck_assert_ptr_nonnull((void *)memory);
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	ck_assert_int_eq(fd_count(), fds + 1);
	ck_assert_int_ge(rss_kb() - rss, 30000);
	/* With the first thread a sanitizer may start one of its own. */
	p = proxy_start("127.0.0.1", "127.0.0.1:1", PROXY_RAW);
	ck_assert_ptr_nonnull(p);
	threads = thread_count();
	/* A thread that was joined may still be listed for a moment. */
	proxy_free(p);
	test_eventually(thread_count() == threads - 1, 1000);
	p = proxy_start("127.0.0.1", "127.0.0.1:1", PROXY_RAW);
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(thread_count(), threads);
	proxy_free(p);
	test_eventually(thread_count() == threads - 1, 1000);
	ck_assert_int_eq(fd_count(), fds + 1);
	free((void *)memory);
	close(fd);
}
END_TEST

START_TEST(without_java_there_is_a_reason_to_skip)
{
	ck_assert_ptr_null(server_missing());
	setenv("PATH", "/nonexistent:/dev", 1);
	ck_assert_ptr_nonnull(server_missing());
}
END_TEST

START_TEST(a_server_that_was_killed_as_it_began_a_log_comes_up)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/data/version-2/log.fff",
		server_dir(fixture_server()));
	ck_assert_int_eq(server_kill(fixture_server()), 0);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "ZKLG", 4), 4);
	close(fd);
	ck_assert_int_eq(server_restart(fixture_server()), 0);
}
END_TEST

START_TEST(a_server_that_does_not_start_says_why)
{
	struct server_options o = { .config = "clientPort=nonsense\n" };
	char path[512], log[4096] = "";

	if (!fixture_has("test -r /usr/share/java/slf4j-simple.jar"))
		return; /* the server does not say why */
	struct server *s = server_prepare(&o);

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(server_configure(s, NULL, 0), 0);
	ck_assert_int_eq(server_launch(s), 0);
	ck_assert_int_lt(server_wait(s, PATIENCE_MS), 0);
	snprintf(path, sizeof(path), "%s/log", server_dir(s));
	FILE *f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	(void)!fread(log, 1, sizeof(log) - 1, f);
	fclose(f);
	ck_assert_msg(strstr(log, "nonsense") != NULL, "%s", log);
	server_free(s);
}
END_TEST

START_TEST(a_port_stays_reserved_while_its_server_is_down)
{
	struct sockaddr_in a;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(server_kill(fixture_server()), 0);
	ck_assert_int_eq(net_parse(fixture_address(), &a), 0);
	ck_assert_int_lt(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_lt(net_connect(fixture_address(), 100), 0);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("support");
	TCase *one = fixture_case(s, "one server", 60);
	TCase *own = fixture_bare_case(s, "servers of its own", 120);

	tcase_add_test(one,
		a_stored_node_survives_kill_and_restart_but_not_wipe);
	tcase_add_loop_test(one, each_test_finds_the_server_up_and_empty, 0, 3);
	tcase_add_test(one,
		a_paused_server_is_silent_and_keeps_its_connections);
	tcase_add_test(one, the_raw_client_reads_what_it_wrote);
	tcase_add_test(one, a_killed_session_loses_its_ephemerals_at_once);
	tcase_add_test(one,
		a_server_that_was_killed_as_it_began_a_log_comes_up);
	tcase_add_test(one, a_port_stays_reserved_while_its_server_is_down);
	tcase_add_test(one,
		a_fork_killed_in_the_middle_of_a_question_does_no_harm);
	tcase_add_test(own, a_server_that_does_not_start_says_why);
	tcase_add_test(own, a_paused_child_is_silent_until_resumed);
	tcase_add_test(own, figures_of_the_process_follow_what_it_does);
	tcase_add_test(own, without_java_there_is_a_reason_to_skip);
	tcase_add_test(own, options_reach_the_server);
	tcase_add_test(own, nothing_is_left_of_a_killed_test);
	tcase_add_test(own, a_server_dies_with_its_reaper);
	tcase_add_test(own, nothing_is_left_of_a_test_that_ends_by_itself);
	tcase_add_test(own, an_ensemble_survives_the_loss_of_its_leader);
	tcase_add_test(own,
		a_lagging_follower_serves_the_past_until_its_link_resumes);
	return fixture_main(s);
}
