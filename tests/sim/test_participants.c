/*
 * test_participants.c - the participants of a line are listed, asked to leave
 * and removed, while something happens to them between two requests.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/participant.h>
#include <string.h>

#define LINE "/line"
#define FIRST LINE "/lock-0000000000"
#define SECOND LINE "/lock-0000000001"
#define REVOKE "__REVOKE__"

static struct bench bench;
static struct ku_zk *raw; /* the rival */
static struct ku_zk_api api;
static struct kustos_client *client;

/* What happens just before the next request of this kind for FIRST, and the
   error with which that is answered instead, if not KU_ZK_OK. */
static struct {
	enum ku_zk_kind kind;
	void (*before)(void);
	int rc;
} next;
static int syncs; /* number of syncs of FIRST */

/* Memory is short when that answer comes, after "requests" allocations. */
static struct {
	bool armed, failed;
	int requests;
	ku_zk_done_fn *done;
	void *arg;
} shortage;

static void hear_and_be_short(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	fault_after(shortage.requests);
	shortage.done(shortage.arg, reply);
	shortage.failed = fault_end() || shortage.failed;
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool first = request->path != NULL && strcmp(request->path, FIRST) == 0;
	void (*before)(void) = next.before;

	shortage.failed = fault_end() || shortage.failed;
	syncs += first && request->kind == KU_ZK_SYNC;
	if (before == NULL || !first || request->kind != next.kind)
		return ku_zk_sim.submit(zk, request, done, arg);
	int rc = next.rc;
	next.before = NULL;
	before();
	if (shortage.armed) {
		shortage.armed = false;
		shortage.done = done;
		shortage.arg = arg;
		done = hear_and_be_short;
	}
	return rc == KU_ZK_OK ? ku_zk_sim.submit(zk, request, done, arg)
			      : lone_refuse(zk, rc, done, arg);
}

/* A blocking call, instead of sleeping, runs virtual time. */
bool __wrap_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until);
bool __wrap_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until)
{
	(void)cond;
	(void)until;
	c->env.threads = false;
	ku_unlock(c);
	lone_run_ms(&bench, c, 1);
	ku_lock(c);
	c->env.threads = true;
	return true;
}

static void at_next(enum ku_zk_kind kind, void (*before)(void), int rc)
{
	next.kind = kind;
	next.before = before;
	next.rc = rc;
}

static void make(const char *path, enum ku_zk_mode mode)
{
	ck_assert_int_eq(bench_create(&bench, raw, path, "", mode).rc,
		KU_ZK_OK);
}

static void setup(void)
{
	memset(&next, 0, sizeof(next));
	memset(&shortage, 0, sizeof(shortage));
	syncs = 0;
	api = ku_zk_sim;
	api.submit = submit_it;
	raw = lone_setup(&bench, 10);
	make(LINE, KU_ZK_PERSISTENT);
	make(FIRST, KU_ZK_EPHEMERAL);
	make(SECOND, KU_ZK_EPHEMERAL);
	client = lone_connected(&bench, &api);
	client->env.threads = true;
}

static void teardown(void)
{
	ck_assert_ptr_null(next.before);
	client->env.threads = false;
	lone_teardown(&bench, client);
}

static struct kustos_participants *look(void)
{
	struct kustos_participants *p = NULL;

	ck_assert_int_eq(
		kustos_participants(client, LINE, KUSTOS_FOREVER, NULL, &p),
		KUSTOS_OK);
	return p;
}

static void do_to_first(enum ku_zk_kind kind, const char *data)
{
	const struct ku_zk_request request = { .kind = kind,
		.path = FIRST,
		.data = data,
		.len = (int)strlen(data),
		.version = -1,
		.mode = KU_ZK_EPHEMERAL };

	lone_send(&bench, raw, &request);
}

static void first_leaves(void)
{
	do_to_first(KU_ZK_DELETE, "");
}

START_TEST(who_leaves_before_it_is_read_is_left_out)
{
	at_next(KU_ZK_GET, first_leaves, KU_ZK_OK);
	struct kustos_participants *p = look();
	ck_assert_uint_eq(p->count, 1);
	ck_assert_str_eq(p->list[0]->path, SECOND);
	ck_assert_int_eq(p->list[0]->holds, 1);
	kustos_participants_free(p);
}
END_TEST

static void it_is_asked(void)
{
	do_to_first(KU_ZK_SET, REVOKE);
}

static void it_is_written(void)
{
	do_to_first(KU_ZK_SET, "__OTHERS__");
}

static void it_is_written_twice(void)
{
	it_is_written();
	it_is_written();
}

static void nothing(void)
{
}

static enum kustos_err ask_it_to_leave(void)
{
	return kustos_participant_revoke(client, FIRST, KUSTOS_FOREVER, NULL);
}

static void check_asked(int version)
{
	struct bench_reply now = bench_read(&bench, raw, KU_ZK_GET, FIRST,
		false);

	ck_assert_int_eq(now.len, (int)strlen(REVOKE));
	ck_assert_mem_eq(now.data, REVOKE, (size_t)now.len);
	ck_assert_int_eq(now.stat.version, version);
}

/* This holds even if the change may have been our request, whose answer was
   lost. */
START_TEST(who_is_written_meanwhile_is_asked_all_the_same)
{
	if (_i < 2)
		at_next(KU_ZK_SET, it_is_written,
			_i == 0 ? KU_ZK_OK : KU_ZK_CONNECTIONLOSS);
	else
		at_next(KU_ZK_SET, it_is_written_twice, KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(ask_it_to_leave(), KUSTOS_OK);
	check_asked(_i < 2 ? 2 : 3);
}
END_TEST

START_TEST(a_request_whose_answer_is_lost_is_written_once)
{
	at_next(KU_ZK_SET, it_is_asked, KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(ask_it_to_leave(), KUSTOS_OK);
	check_asked(1);
}
END_TEST

static void it_may_not_be_read_again(void)
{
	at_next(KU_ZK_GET, nothing, KU_ZK_NOAUTH);
}

static void it_is_asked_and_may_not_be_read(void)
{
	it_is_asked();
	at_next(KU_ZK_GET, it_may_not_be_read_again, KU_ZK_NOAUTH);
}

START_TEST(a_request_that_cannot_be_seen_may_have_been_made)
{
	at_next(KU_ZK_SET, it_is_asked_and_may_not_be_read,
		KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(ask_it_to_leave(), KUSTOS_EUNKNOWN);
	check_asked(1);
}
END_TEST

static enum kustos_err take_away(const struct kustos_participant *shown)
{
	return kustos_participant_break(client, shown, KUSTOS_FOREVER, NULL);
}

static void another_comes(void)
{
	first_leaves();
	do_to_first(KU_ZK_CREATE, "");
}

/* The answer, or the request, of the deletion is lost.  It is sent again only
   if the same node is still there. */
START_TEST(what_is_broken_is_what_was_shown)
{
	static void (*const befores[])(
		void) = { nothing, first_leaves, another_comes };
	struct kustos_participants *p = look();

	at_next(KU_ZK_DELETE, befores[_i], KU_ZK_CONNECTIONLOSS);
	enum kustos_err err = take_away(p->list[0]);
	kustos_participants_free(p);
	ck_assert_int_eq(syncs, 1); /* a server that lags would not know */
	ck_assert_int_eq(err, KUSTOS_OK); /* the first try may have done it */
	ck_assert_int_eq(model_child_count(bench.model, LINE), 1 + (_i == 2));
}
END_TEST

/* The server puts the deletion off, so that it was not done. */
START_TEST(what_goes_before_it_is_broken_is_reported)
{
	static void (*const befores[])(
		void) = { nothing, first_leaves, another_comes };
	static const enum kustos_err ends[] = { KUSTOS_OK, KUSTOS_ENONODE,
		KUSTOS_ECHANGED };
	struct kustos_participants *p = look();

	at_next(KU_ZK_DELETE, befores[_i], KU_ZK_THROTTLEDOP);
	ck_assert_int_eq(take_away(p->list[0]), ends[_i]);
	kustos_participants_free(p);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 1 + (_i == 2));
}
END_TEST

#define KAZOO OTHER "/0123456789abcdef0123456789abcdef"
#define OTHER "/other"
#define LOCK OTHER "/lock-"
#define LEASE OTHER "/_c_00000000-0000-4000-8000-000000000000-lease-"

/* Two nodes in one line; whether one of them does not see the other ("mixed");
   and, if they do, how many of them hold. */
static const struct pair {
	const char *paths[2];
	int mixed, holders;
	enum kustos_kind last; /* the kind that is reported for the second */
} pairs[] = {
	{ { LOCK "0000000000", LOCK "0000000001" }, 0, 1, KUSTOS_KIND_LOCK },
	{ { LOCK "0000000000", LEASE "0000000001" }, 1, 0, KUSTOS_KIND_LEASE },
	{ { LOCK "0000000000", KAZOO "__lock__0000000001" }, 1, 0,
		KUSTOS_KIND_LOCK },
	{ { KAZOO "__lock__0000000000", KAZOO "__lock__0000000001" }, 0, 1,
		KUSTOS_KIND_LOCK },
	{ { KAZOO "__rlock__0000000000", KAZOO "__lock__0000000001" }, 0, 1,
		KUSTOS_KIND_WRITE },
	{ { KAZOO "__rlock__0000000000", KAZOO "__rlock__0000000001" }, 0, 2,
		KUSTOS_KIND_READ },
	/* Only kazoo's readers make a writer of a kazoo lock, and of no
	   other. */
	{ { OTHER "/__READ__0000000000", KAZOO "__lock__0000000001" }, 1, 0,
		KUSTOS_KIND_LOCK },
	{ { KAZOO "__rlock__0000000000", LOCK "0000000001" }, 1, 0,
		KUSTOS_KIND_LOCK },
	/* A writer becomes a reader; in the order of their names. */
	{ { OTHER "/__READ__0000000003", OTHER "/__WRIT__0000000003" }, 0, 2,
		KUSTOS_KIND_WRITE },
};

START_TEST(U04_who_does_not_see_the_other_on_the_same_path_is_told)
{
	const struct pair *pair = &pairs[_i / 2];
	struct kustos_participants *p = NULL;
	int holders = 0;

	make(OTHER, KU_ZK_PERSISTENT);
	make(pair->paths[_i % 2], KU_ZK_EPHEMERAL); /* in either order */
	make(pair->paths[1 - _i % 2], KU_ZK_EPHEMERAL);
	ck_assert_int_eq(
		kustos_participants(client, OTHER, KUSTOS_FOREVER, NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(p->list[i]->path, pair->paths[i]);
		holders += p->list[i]->holds;
	}
	ck_assert_int_eq(p->list[1]->kind, pair->last);
	ck_assert_int_eq(p->mixed, pair->mixed);
	if (!p->mixed)
		ck_assert_int_eq(holders, pair->holders);
	kustos_participants_free(p);
}
END_TEST

/* Only its data is hidden, not the node itself nor others. */
START_TEST(U09_who_may_not_be_read_is_shown_without_its_data)
{
	at_next(KU_ZK_GET, it_is_written, KU_ZK_NOAUTH);
	struct kustos_participants *p = look();
	ck_assert_uint_eq(p->count, 2);
	ck_assert_str_eq(p->list[0]->path, FIRST);
	ck_assert_int_eq(p->list[0]->holds, 1);
	ck_assert_ptr_null(p->list[0]->data);
	ck_assert_int_ne(p->list[0]->stat.data_length, 0);
	ck_assert_int_ne(p->list[0]->stat.ephemeral_owner, 0);
	ck_assert_ptr_nonnull(p->list[1]->data);
	kustos_participants_free(p);
}
END_TEST

static void first_leaves_when_it_is_looked_at_again(void)
{
	at_next(KU_ZK_EXISTS, first_leaves, KU_ZK_OK);
}

START_TEST(U09_who_may_not_be_read_and_leaves_is_left_out)
{
	at_next(KU_ZK_GET, first_leaves_when_it_is_looked_at_again,
		KU_ZK_NOAUTH);
	struct kustos_participants *p = look();
	ck_assert_uint_eq(p->count, 1);
	ck_assert_str_eq(p->list[0]->path, SECOND);
	kustos_participants_free(p);
}
END_TEST

static void the_answer_about_first_is_lost(void)
{
	at_next(KU_ZK_EXISTS, nothing, KU_ZK_CONNECTIONLOSS);
}

START_TEST(U09_who_may_not_be_read_is_not_waited_for)
{
	struct kustos_participants *p = NULL;

	at_next(KU_ZK_GET, the_answer_about_first_is_lost, KU_ZK_NOAUTH);
	ck_assert_int_eq(
		kustos_participants(client, LINE, KUSTOS_NOW, NULL, &p),
		KUSTOS_EDISCONNECTED);
	ck_assert_ptr_null(p);
}
END_TEST

static void nothing_of_first_is_told(void)
{
	at_next(KU_ZK_EXISTS, nothing, KU_ZK_NOAUTH);
}

/* Newer servers show nothing of it but its name. */
START_TEST(U09_who_may_not_even_be_seen_is_shown_by_its_name)
{
	at_next(KU_ZK_GET, nothing_of_first_is_told, KU_ZK_NOAUTH);
	struct kustos_participants *p = look();
	ck_assert_uint_eq(p->count, 2);
	ck_assert_str_eq(p->list[0]->path, FIRST);
	ck_assert_int_eq(p->list[0]->holds, 1);
	ck_assert_ptr_null(p->list[0]->data);
	ck_assert_int_eq(p->list[0]->stat.czxid, 0);
	ck_assert_int_eq(p->list[0]->age_ms, 0);
	ck_assert_int_eq(p->list[1]->holds, 0);
	ck_assert_int_ne(p->list[1]->stat.czxid, 0);
	kustos_participants_free(p);
}
END_TEST

/* Memory is short for the other way to look at it. */
START_TEST(U09_who_may_not_be_read_while_memory_is_short_is_told_of)
{
	int told = 0;

	shortage.failed = true;
	for (int requests = 0; shortage.failed; requests++) {
		struct kustos_participants *p = NULL;

		shortage.armed = true;
		shortage.failed = false;
		shortage.requests = requests;
		at_next(KU_ZK_GET, nothing, KU_ZK_NOAUTH);
		enum kustos_err err = kustos_participants(client, LINE,
			KUSTOS_FOREVER, NULL, &p);
		ck_assert(err == KUSTOS_OK ||
			(shortage.failed && err == KUSTOS_ENOMEM));
		ck_assert_int_lt(requests, 20);
		told += err == KUSTOS_ENOMEM;
		kustos_participants_free(p);
	}
	ck_assert_int_gt(told, 0);
}
END_TEST

START_TEST(what_stands_in_no_line_is_counted)
{
	make(LINE "/another", KU_ZK_PERSISTENT);
	struct kustos_participants *p = look();
	ck_assert_uint_eq(p->count, 2);
	ck_assert_uint_eq(p->foreign, 1);
	kustos_participants_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("participants in the simulator");
	TCase *t = tcase_create("meanwhile");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, who_leaves_before_it_is_read_is_left_out);
	tcase_add_loop_test(t, who_is_written_meanwhile_is_asked_all_the_same,
		0, 3);
	tcase_add_test(t, a_request_whose_answer_is_lost_is_written_once);
	tcase_add_test(t, a_request_that_cannot_be_seen_may_have_been_made);
	tcase_add_loop_test(t, what_is_broken_is_what_was_shown, 0, 3);
	tcase_add_loop_test(t, what_goes_before_it_is_broken_is_reported, 0, 3);
	tcase_add_loop_test(t,
		U04_who_does_not_see_the_other_on_the_same_path_is_told, 0,
		2 * (int)UNIT_COUNT(pairs));
	tcase_add_test(t, U09_who_may_not_be_read_is_shown_without_its_data);
	tcase_add_test(t, U09_who_may_not_be_read_and_leaves_is_left_out);
	tcase_add_test(t, U09_who_may_not_be_read_is_not_waited_for);
	tcase_add_test(t, U09_who_may_not_even_be_seen_is_shown_by_its_name);
	tcase_add_test(t,
		U09_who_may_not_be_read_while_memory_is_short_is_told_of);
	tcase_add_test(t, what_stands_in_no_line_is_counted);
	suite_add_tcase(s, t);
	return unit_main(s);
}
