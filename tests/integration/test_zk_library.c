/*
 * test_zk_library.c - the boundary lib/zk.h over the real library, against a real
 * server: each request, events, and the end of a handle.
 */
#define _GNU_SOURCE
#include "side.h"
#include "support/rawkill.h"
#include "support/server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct server *server;
static struct side a, b;

static struct kustos_acl open_acl[] = { { KUSTOS_PERM_ALL, "world",
	"anyone" } };

static void set_up(void)
{
	open_side(&a, server_address(server));
	await_connects(&a, 1);
}

static void tear_down(void)
{
	ku_zk_library.close(a.zk);
}

static int make(const char *path)
{
	return ASK(&a, .kind = KU_ZK_CREATE, .path = path, .data = "x",
		.len = 1);
}

static void await_emptied_container_gone(const char *path, const char *child)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	make(child);
	ck_assert_int_eq(
		ASK(&a, .kind = KU_ZK_DELETE, .path = child, .version = -1),
		KU_ZK_OK);
	while (ASK(&a, .kind = KU_ZK_EXISTS, .path = path) != KU_ZK_NONODE)
		ck_assert_int_lt(test_now_ms(), end);
}

START_TEST(a_node_is_made_in_every_mode)
{
	make("/modes");
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_CREATE, .path = "/modes/p",
				 .data = "abc", .len = 3),
		KU_ZK_OK);
	ck_assert_str_eq(answer.path, "/modes/p");
	ck_assert_int_eq(answer.stat.data_length, 3);
	ck_assert_int_eq(answer.stat.ephemeral_owner, 0);
	ck_assert_int_gt(answer.stat.czxid, 0);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_CREATE, .path = "/modes/e",
				 .len = -1, .mode = KU_ZK_EPHEMERAL),
		KU_ZK_OK);
	ck_assert_int_eq(answer.stat.ephemeral_owner, a.session.id);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_CREATE, .path = "/modes/s-",
				 .len = -1, .mode = KU_ZK_EPHEMERAL_SEQUENTIAL),
		KU_ZK_OK);
	ck_assert_str_eq(answer.path, "/modes/s-0000000002");
	ck_assert_int_eq(answer.stat.ephemeral_owner, a.session.id);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_CREATE, .path = "/modes/s-",
				 .len = -1,
				 .mode = KU_ZK_PERSISTENT_SEQUENTIAL),
		KU_ZK_OK);
	ck_assert_str_eq(answer.path, "/modes/s-0000000003");
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_CREATE, .path = "/modes/c",
				 .len = -1, .mode = KU_ZK_CONTAINER),
		KU_ZK_OK);
	ck_assert_int_eq(answer.stat.ephemeral_owner, 0);
	await_emptied_container_gone("/modes/c", "/modes/c/x");
	ck_assert_int_eq(make("/modes/p"), KU_ZK_NODEEXISTS);
	ck_assert(!answer.has_stat);
}
END_TEST

START_TEST(a_node_is_read_changed_and_deleted)
{
	make("/rw");
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_GET, .path = "/rw"), KU_ZK_OK);
	ck_assert_int_eq(answer.len, 1);
	ck_assert_int_eq(answer.data[0], 'x');
	ck_assert_int_eq(answer.stat.version, 0);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SET, .path = "/rw", .data = "",
				 .len = 0, .version = 0),
		KU_ZK_OK);
	ck_assert_int_eq(answer.stat.version, 1);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_GET, .path = "/rw"), KU_ZK_OK);
	ck_assert_int_eq(answer.len, 0);
	ck_assert(answer.has_data);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SET, .path = "/rw", .len = -1,
				 .version = -1),
		KU_ZK_OK);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_GET, .path = "/rw"), KU_ZK_OK);
	ck_assert_int_eq(answer.len, -1);
	ck_assert(!answer.has_data);
	make("/rw/child");
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_CHILDREN, .path = "/rw"),
		KU_ZK_OK);
	ck_assert_int_eq(answer.name_count, 1);
	ck_assert_str_eq(answer.first_name, "child");
	ck_assert_int_eq(answer.stat.num_children, 1);
	ck_assert_int_eq(
		ASK(&a, .kind = KU_ZK_DELETE, .path = "/rw", .version = -1),
		KU_ZK_NOTEMPTY);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_DELETE, .path = "/rw/child",
				 .version = 7),
		KU_ZK_BADVERSION);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_DELETE, .path = "/rw/child",
				 .version = -1),
		KU_ZK_OK);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_EXISTS, .path = "/rw/child"),
		KU_ZK_NONODE);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SYNC, .path = "/rw"), KU_ZK_OK);
}
END_TEST

/* Send these as one multi and return its result. */
static int ask_multi(struct ku_zk_request *ops, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		ops[i].acl = open_acl;
		ops[i].acl_count = 1;
	}
	return ASK(&a, .kind = KU_ZK_MULTI, .path = "/", .ops = ops,
		.op_count = count);
}

START_TEST(a_multi_does_all_or_nothing)
{
	struct ku_zk_request ops[] = {
		{ .kind = KU_ZK_CHECK, .path = "/multi", .version = 0 },
		{ .kind = KU_ZK_CREATE,
			.path = "/multi/s-",
			.data = "1",
			.len = 1,
			.mode = KU_ZK_PERSISTENT_SEQUENTIAL },
		{ .kind = KU_ZK_SET,
			.path = "/multi",
			.data = "y",
			.len = 1,
			.version = -1 },
		{ .kind = KU_ZK_DELETE, .path = "/multi/d", .version = -1 },
	};

	make("/multi");
	make("/multi/d");
	ck_assert_int_eq(ask_multi(ops, 4), KU_ZK_OK);
	ck_assert_int_eq(answer.result_count, 4);
	ck_assert_str_eq(answer.result_paths[1], "/multi/s-0000000001");
	ck_assert_int_eq(answer.results[2].stat.version, 1);
	ops[0].version = 1;
	ck_assert_int_eq(ask_multi(ops, 4), KU_ZK_NONODE);
	ck_assert_int_eq(answer.results[0].rc, KU_ZK_OK);
	ck_assert_ptr_null(answer.results[1].path);
	ck_assert_int_eq(answer.results[3].rc, KU_ZK_NONODE);
	ops[1].path = "/none/s-";
	ck_assert_int_eq(ask_multi(ops, 4), KU_ZK_NONODE);
	ck_assert_int_eq(answer.results[1].rc, KU_ZK_NONODE);
	ck_assert_int_eq(answer.results[3].rc, KU_ZK_RUNTIMEINCONSISTENCY);
	ck_assert_int_eq(ask_multi(ops, 0), KU_ZK_OK);
}
END_TEST

/* libzookeeper_mt 3.8.0 would misread the reply and end the process. */
START_TEST(P04_a_container_in_a_multi_is_refused)
{
	struct ku_zk_request op = { .kind = KU_ZK_CREATE,
		.path = "/p04",
		.len = -1,
		.mode = KU_ZK_CONTAINER,
		.acl = open_acl,
		.acl_count = 1 };

	ck_assert_int_eq(submit(&a,
				 (struct ku_zk_request){ .kind = KU_ZK_MULTI,
					 .path = "/",
					 .ops = &op,
					 .op_count = 1 }),
		KU_ZK_UNIMPLEMENTED);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_EXISTS, .path = "/p04"),
		KU_ZK_NONODE);
}
END_TEST

START_TEST(a_watch_fires_once_with_its_kind)
{
	make("/w");
	ASK(&a, .kind = KU_ZK_GET, .path = "/w", .watch = true);
	ASK(&a, .kind = KU_ZK_CHILDREN, .path = "/w", .watch = true);
	ASK(&a, .kind = KU_ZK_EXISTS, .path = "/w/c", .watch = true);
	ASK(&a, .kind = KU_ZK_GET, .path = "/w/none", .watch = true);
	make("/w/none");
	make("/w/c");
	ASK(&a, .kind = KU_ZK_EXISTS, .path = "/w/c", .watch = true);
	ASK(&a, .kind = KU_ZK_SET, .path = "/w", .len = -1, .version = -1);
	ASK(&a, .kind = KU_ZK_SET, .path = "/w", .len = -1, .version = -1);
	ASK(&a, .kind = KU_ZK_DELETE, .path = "/w/c", .version = -1);
	ASK(&a, .kind = KU_ZK_SYNC, .path = "/w");
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_CHILDREN, -1, "/w"), 1);
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_CHANGED, -1, "/w"), 1);
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_CREATED, -1, "/w/c"), 1);
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_DELETED, -1, "/w/c"), 1);
	ck_assert_int_eq(a.event_count, 5);
}
END_TEST

/* "wchp" shows data watches only. */
START_TEST(P03_unwatch_removes_the_servers_watch_too)
{
	const char *address = server_address(server);

	make("/unwatch");
	ASK(&a, .kind = KU_ZK_GET, .path = "/unwatch", .watch = true);
	ASK(&a, .kind = KU_ZK_CHILDREN, .path = "/unwatch", .watch = true);
	ck_assert(fourletter_has(address, "wchp", "/unwatch"));
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_UNWATCH, .path = "/unwatch",
				 .unwatch = KU_ZK_WATCH_DATA),
		KU_ZK_OK);
	ck_assert(fourletter_lacks(address, "wchp", "/unwatch"));
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_UNWATCH, .path = "/unwatch",
				 .unwatch = KU_ZK_WATCH_CHILDREN),
		KU_ZK_OK);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_UNWATCH, .path = "/unwatch",
				 .unwatch = KU_ZK_WATCH_DATA),
		KU_ZK_NOWATCHER);
	/* The library does not set it again, either. */
	ck_assert(kick_side(&a));
	await_connects(&a, 2);
	ASK(&a, .kind = KU_ZK_SYNC, .path = "/");
	ck_assert(fourletter_lacks(address, "wchp", "/unwatch"));
	make("/unwatch/c");
	ASK(&a, .kind = KU_ZK_SET, .path = "/unwatch", .len = -1,
		.version = -1);
	ck_assert_int_eq(a.event_count, 3);
}
END_TEST

START_TEST(P01_a_session_event_comes_once_however_many_watches_there_are)
{
	char path[32];
	int i;

	for (i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "/fan%d", i);
		ASK(&a, .kind = KU_ZK_EXISTS, .path = path, .watch = true);
	}
	ck_assert(kick_side(&a));
	await_connects(&a, 2);
	ASK(&a, .kind = KU_ZK_SYNC, .path = "/");
	ck_assert_int_eq(a.event_count, 3);
}
END_TEST

static atomic_int calls_after_close, calls;
static atomic_bool closed;

static void count_call(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
	atomic_fetch_add(&calls, 1);
	if (atomic_load(&closed))
		atomic_fetch_add(&calls_after_close, 1);
}

/* Whatever close() has dropped is freed, as leak checkers see. */
START_TEST(L01_close_with_many_pending_calls_none_afterwards)
{
	struct ku_zk_request request = { .kind = KU_ZK_EXISTS, .path = "/" };
	int i;

	for (i = 0; i < 10000; i++)
		ck_assert_int_eq(submit_side(&a, &request, count_call, NULL),
			KU_ZK_OK);
	ku_zk_library.close(a.zk);
	atomic_store(&closed, true);
	ck_assert_int_le(atomic_load(&calls), 10000);
	for (i = 0; i < 50; i++)
		test_pause_1ms();
	ck_assert_int_eq(atomic_load(&calls_after_close), 0);
}
END_TEST

/* The handle reconnects with its session meanwhile, and may be faster. */
static void end_session(void)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (raw_kill_session(server_address(server), a.session.id) &&
		!count_events(&a, KU_ZK_EVENT_SESSION, KU_ZK_STATE_EXPIRED, ""))
		ck_assert_int_lt(test_now_ms(), end);
}

START_TEST(an_expired_session_is_told_and_refuses_requests)
{
	end_session();
	await_event(&a, KU_ZK_EVENT_SESSION, KU_ZK_STATE_EXPIRED, "", 1);
	look_side(&a);
	ck_assert_int_eq(a.session.state, KU_ZK_STATE_EXPIRED);
	ck_assert_int_eq(submit(&a,
				 (struct ku_zk_request){ .kind = KU_ZK_SYNC,
					 .path = "/" }),
		KU_ZK_INVALIDSTATE);
	ck_assert_int_eq(submit(&a,
				 (struct ku_zk_request){ .kind = KU_ZK_MULTI,
					 .path = "/" }),
		KU_ZK_INVALIDSTATE);
	ck_assert(!kick_side(&a));
}
END_TEST

START_TEST(L29_credentials_open_nodes_and_bad_ones_end_the_handle)
{
	struct kustos_acl mine = { KUSTOS_PERM_ALL, "auth", "" };
	struct ku_zk_request request = { .kind = KU_ZK_CREATE,
		.path = "/auth",
		.len = -1,
		.acl = &mine,
		.acl_count = 1 };

	ck_assert_int_eq(auth_side(&a, "digest", "me:pw"), 0);
	memset(&answer, 0, sizeof(answer));
	ck_assert_int_eq(submit_side(&a, &request, on_done, &answer), KU_ZK_OK);
	ck_assert_int_eq(await_answer(&answer), KU_ZK_OK);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_GET, .path = "/auth"), KU_ZK_OK);
	open_side(&b, server_address(server));
	await_connects(&b, 1);
	ck_assert_int_eq(ASK(&b, .kind = KU_ZK_GET, .path = "/auth"),
		KU_ZK_NOAUTH);
	ck_assert_int_eq(auth_side(&b, "no-such", "x"), 0);
	await_event(&b, KU_ZK_EVENT_SESSION, KU_ZK_STATE_AUTH_FAILED, "", 1);
	ku_zk_library.close(b.zk);
}
END_TEST

START_TEST(malformed_addresses_are_an_error)
{
	ck_assert_int_eq(try_side(&b, ""), KUSTOS_EINVAL);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(P15_nothing_is_written_to_standard_error)
{
	char name[] = "/tmp/zk_library.XXXXXX";
	int file = mkstemp(name), saved = dup(STDERR_FILENO);
	off_t size;

	unlink(name);
	dup2(file, STDERR_FILENO);
	open_side(&b, "127.0.0.1:1");
	ku_zk_library.close(b.zk);
	open_side(&b, server_address(server));
	await_connects(&b, 1);
	kick_side(&b);
	await_connects(&b, 2);
	ku_zk_library.close(b.zk);
	size = lseek(file, 0, SEEK_END);
	dup2(saved, STDERR_FILENO);
	ck_assert_int_eq(size, 0);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* If there is no address space for a stack, the library would abort. */
START_TEST(P04_a_lack_of_threads_is_an_error)
{
	struct rlimit limit, before;
	long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	pthread_attr_t usual, large; /* larger than any stack that was kept */

	pthread_getattr_default_np(&usual);
	pthread_getattr_default_np(&large);
	pthread_attr_setstacksize(&large, 64 << 20);
	pthread_setattr_default_np(&large);
	ck_assert_int_eq(fscanf(statm, "%ld", &pages), 1);
	fclose(statm);
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	limit.rlim_cur = (rlim_t)pages * 4096 + 4000000;
	setrlimit(RLIMIT_AS, &limit);
	enum kustos_err err = try_side(&b, server_address(server));
	int why = errno;
	setrlimit(RLIMIT_AS, &before);
	pthread_setattr_default_np(&usual);
	ck_assert_int_eq(err, KUSTOS_ENOMEM);
	ck_assert_int_eq(why, EAGAIN);
}
END_TEST
#endif

static Suite *boundary(void)
{
	Suite *suite = suite_create("zk_library");
	TCase *tcase = tcase_create("connected");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_node_is_made_in_every_mode);
	tcase_add_test(tcase, a_node_is_read_changed_and_deleted);
	tcase_add_test(tcase, a_multi_does_all_or_nothing);
	tcase_add_test(tcase, P04_a_container_in_a_multi_is_refused);
	tcase_add_test(tcase, a_watch_fires_once_with_its_kind);
	tcase_add_test(tcase, P03_unwatch_removes_the_servers_watch_too);
	tcase_add_test(tcase,
		P01_a_session_event_comes_once_however_many_watches_there_are);
	tcase_add_test(tcase, an_expired_session_is_told_and_refuses_requests);
	tcase_add_test(tcase,
		L29_credentials_open_nodes_and_bad_ones_end_the_handle);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("closing");
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase,
		L01_close_with_many_pending_calls_none_afterwards);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("opening");
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, malformed_addresses_are_an_error);
	tcase_add_test(tcase, P15_nothing_is_written_to_standard_error);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(tcase, P04_a_lack_of_threads_is_an_error);
#endif
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=100"
	};
	const char *missing = server_missing();
	SRunner *runner;
	int failed;

	if (missing) {
		fprintf(stderr, "skipped: %s\n", missing);
		return 77;
	}
	server = server_start(&options);
	if (!server)
		return 1;
	runner = srunner_create(boundary());
	srunner_run_all(runner, CK_VERBOSE);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	server_free(server);
	return failed != 0;
}
