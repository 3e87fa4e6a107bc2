/*
 * test_beside.c - a writer that becomes a reader, whose node is made beside the
 * writer's: others learn too late of either node.
 */
#include "lone_late.h"

#include "../unit/unit.h"

#include <kustos/rwlock.h>
#include <stdio.h>
#include <string.h>

/* After this many nodes in a line the library trusts their numbers. */
#define USED 10000
/* This many nodes make a line long. */
#define MANY 40

static struct kustos_rwlock *rw;
static struct {
	bool kept; /* it is withheld, and not sent */
	ku_zk_done_fn *done;
	void *arg;
} farewell;
static struct ku_zk_api beyond;

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (!farewell.kept || request->kind != KU_ZK_MULTI)
		return beyond.submit(zk, request, done, arg);
	farewell.done = done;
	farewell.arg = arg;
	return KU_ZK_OK;
}

static void setup(void)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;

	late_setup();
	beyond = late_api;
	late_api.submit = submit;
	memset(&farewell, 0, sizeof(farewell));
	first.event = NULL;
	o.local_handoffs = 0; /* each call has a place of its own */
	ck_assert_int_eq(kustos_rwlock_create(lone.client, LINE, &o, &rw),
		KUSTOS_OK);
}

static void teardown(void)
{
	kustos_rwlock_destroy(rw);
	lone_line_close();
}

static void got_hold(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	*(struct kustos_hold **)arg = got;
}

static void ask(enum kustos_side side, struct kustos_hold **hold)
{
	*hold = NULL;
	ck_assert_int_eq(kustos_rwlock_acquire_async(rw, side, KUSTOS_FOREVER,
				 NULL, got_hold, hold),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

static void give(struct kustos_hold *hold)
{
	ck_assert_ptr_nonnull(hold);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

/* Return what is withheld, to be told later, and withhold no more. */
static struct late withheld(void)
{
	struct late it = first;

	ck_assert_ptr_nonnull(it.done);
	first.done = NULL;
	first.withholds = first.delays = false;
	return it;
}

/* Our second writer has the next number.  The answer to its creation is lost,
   so that the client finds its node only after the first writer became a reader
   and went. */
START_TEST(S13_a_writer_that_is_found_late_waits_for_the_reader_before_it)
{
	const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS,
		.len = -1 };
	struct kustos_hold *first_writer, *reader = NULL, *writer;

	model_set_created(lone.bench.model, LINE, USED);
	ask(KUSTOS_WRITE, &first_writer);
	first.withholds = true;
	first.kind = KU_ZK_CREATE;
	ask(KUSTOS_WRITE, &writer);
	const struct late creation = withheld();
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 2);
	ck_assert_int_eq(kustos_rwlock_downgrade_async(rw, first_writer,
				 KUSTOS_FOREVER, NULL, got_hold, &reader),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(kustos_hold_release(first_writer), KUSTOS_OK);
	creation.done(creation.done_arg, &lost);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 2);
	ck_assert_ptr_null(writer);
	give(reader);
	give(writer);
}
END_TEST

/* Tell the withheld answer of this creation. */
static void made(const struct late *creation)
{
	const struct ku_zk_reply reply = { .stat = &creation->reply.stat,
		.path = creation->reply.path,
		.len = -1 };

	creation->done(creation->done_arg, &reply);
}

static void is_lost(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	ck_assert_int_eq(err, KUSTOS_ELOST);
	ck_assert_ptr_null(got);
	*(bool *)arg = true;
}

static struct bench_reply foreign_writer(void)
{
	return bench_create(&lone.bench, lone.raw, LINE "/other-__WRIT__", "",
		KU_ZK_EPHEMERAL_SEQUENTIAL);
}

static void delete_it(const char *path)
{
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, path, -1).rc,
		KU_ZK_OK);
}

/* In the line stand a writer of ours, two writers of others, and a reader of
   ours.  Somebody deletes the node of our writer, which is not watched, and of
   the reader that it is about to become.  The one listing that shows this also
   shows that the nearer of the two others is gone, which the reader behind has
   learned before. */
START_TEST(S13_a_reader_heeds_the_gap_that_the_last_listing_told)
{
	const struct ku_zk_reply gone = { .rc = KU_ZK_NONODE, .len = -1 };
	struct kustos_hold *writer, *reader;
	bool over = false;
	char path[128];

	first.delays = true; /* delays the watch of its own node */
	ask(KUSTOS_WRITE, &writer);
	const struct late watch = withheld();
	struct bench_reply far = foreign_writer(), near = foreign_writer();
	ask(KUSTOS_READ, &reader);
	delete_it(near.path);
	first.withholds = true;
	first.kind = KU_ZK_CREATE;
	ck_assert_int_eq(kustos_rwlock_downgrade_async(rw, writer,
				 KUSTOS_FOREVER, NULL, is_lost, &over),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	const struct late creation = withheld();
	snprintf(path, sizeof(path), "%s", kustos_hold_path(writer));
	delete_it(path);
	delete_it(creation.reply.path);
	made(&creation);
	ck_assert(!over);
	ck_assert_int_eq(kustos_hold_release(writer), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert(over);
	ck_assert_ptr_null(reader);
	watch.done(watch.done_arg, &gone);
	delete_it(far.path);
	lone_run_ms(&lone.bench, lone.client, 1000);
	give(reader);
}
END_TEST

/* Find the path of the node with that number; there are only few nodes. */
static void path_of(const char *number, char path[128])
{
	struct bench_reply all = bench_read(&lone.bench, lone.raw,
		KU_ZK_CHILDREN, LINE, false);

	path[0] = '\0';
	for (int i = 0; i < all.name_count; i++)
		if (strstr(all.names[i], number) != NULL)
			snprintf(path, 128, LINE "/%s", all.names[i]);
	ck_assert_str_ne(path, "");
}

static void write_to(const char *path)
{
	ck_assert_int_eq(bench_set(&lone.bench, lone.raw, path, "x", -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 10);
}

/* In a long line a writer of ours goes and leaves a proof, which is delayed.
   So its node still exists when our next writer, which was granted since,
   becomes a reader.  A listing decides about that reader, because the watch of
   the writer's node has fired. */
START_TEST(
	S13_a_writer_of_ours_that_is_still_going_takes_nothing_from_the_reader)
{
	const struct ku_zk_reply refused = { .rc = KU_ZK_BADVERSION };
	const struct ku_zk_reply gone = { .rc = KU_ZK_NONODE, .len = -1 };
	struct kustos_hold *before, *writer, *reader = NULL;
	struct bench_reply holder = foreign_writer();
	char path[128];

	ask(KUSTOS_WRITE, &before);
	ask(KUSTOS_WRITE, &writer);
	path_of("0000000002", path);
	for (int i = 0; i < MANY; i++)
		(void)foreign_writer();
	delete_it(holder.path);
	lone_run_ms(&lone.bench, lone.client, 100);
	farewell.kept = true;
	give(before);
	ck_assert_ptr_nonnull(farewell.done);
	ck_assert_ptr_nonnull(writer);
	first.withholds = true;
	first.kind = KU_ZK_CREATE;
	ck_assert_int_eq(kustos_rwlock_downgrade_async(rw, writer,
				 KUSTOS_FOREVER, NULL, got_hold, &reader),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	const struct late creation = withheld();
	first.delays = true;
	write_to(path);
	const struct late watch = withheld();
	made(&creation);
	lone_run_ms(&lone.bench, lone.client, 100);
	farewell.kept = false;
	farewell.done(farewell.arg, &refused);
	give(reader);
	give(writer);
	watch.done(watch.done_arg, &gone);
	ck_assert(model_expire(lone.bench.model, 0));
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("beside a writer in the simulator");
	TCase *t = tcase_create("too late");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		S13_a_writer_that_is_found_late_waits_for_the_reader_before_it);
	tcase_add_test(t,
		S13_a_reader_heeds_the_gap_that_the_last_listing_told);
	tcase_add_test(t,
		S13_a_writer_of_ours_that_is_still_going_takes_nothing_from_the_reader);
	suite_add_tcase(s, t);
	return unit_main(s);
}
