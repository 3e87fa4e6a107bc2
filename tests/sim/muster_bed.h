/*
 * muster_bed.h - a test bed for a double barrier of three members.  One is a
 * real member, alone on the bench; a rival makes the nodes of the other two.
 */
#ifndef SIM_MUSTER_BED_H
#define SIM_MUSTER_BED_H

#include "lone.h"

#include "../unit/unit.h"
#include "model_impl.h"

#include <kustos/barrier.h>
#include <stdio.h>
#include <string.h>

#define ROUND "/round"
#define READY ROUND "/ready"
/* The first of these nodes is there from the beginning. */
#define RIVAL ROUND "/00000000-0000-4000-8000-000000000000"
#define SECOND ROUND "/00000000-0000-4000-8000-000000000001"
#define THIRD ROUND "/00000000-0000-4000-8000-000000000002"

static struct bench bench;
static struct ku_zk *raw; /* the rival */
static struct kustos_client *client;
static struct kustos_double_barrier *member;
static int entry, departure; /* their results; -1: not yet */

static inline void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static inline void make(const char *path, enum ku_zk_mode mode)
{
	ck_assert_int_eq(bench_create(&bench, raw, path, "", mode).rc,
		KU_ZK_OK);
}

static inline void drop(const char *path)
{
	ck_assert_int_eq(bench_delete(&bench, raw, path, -1).rc, KU_ZK_OK);
}

/* Have the rival send this, behind what it has sent before. */
static inline void send(enum ku_zk_kind kind, const char *path,
	const char *data)
{
	const struct ku_zk_request request = { .kind = kind,
		.path = path,
		.data = data,
		.len = (int)strlen(data) };

	lone_send(&bench, raw, &request);
}

static inline void ended(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

static inline void enter(kustos_deadline deadline)
{
	entry = -1;
	ck_assert_int_eq(kustos_double_barrier_enter_async(member, deadline,
				 NULL, ended, &entry),
		KUSTOS_OK);
}

static inline void leave(kustos_deadline deadline)
{
	departure = -1;
	ck_assert_int_eq(kustos_double_barrier_leave_async(member, deadline,
				 NULL, ended, &departure),
		KUSTOS_OK);
}

/* Return the path of the member's node. */
static inline const char *own_path(void)
{
	static char path[80];
	const struct bench_reply members = bench_read(&bench, raw,
		KU_ZK_CHILDREN, ROUND, false);

	for (int i = 0; i < members.name_count; i++) {
		snprintf(path, sizeof(path), ROUND "/%s", members.names[i]);
		if (strcmp(path, RIVAL) != 0 && strcmp(path, SECOND) != 0 &&
			strcmp(path, THIRD) != 0 && strcmp(path, READY) != 0)
			return path;
	}
	ck_abort();
}

/* The second member comes, and "ready" says that all are there. */
static inline void complete(void)
{
	make(SECOND, KU_ZK_EPHEMERAL);
	make(READY, KU_ZK_PERSISTENT);
}

/* The same, but "ready" and the second go again before the member can know. */
static inline void meet_and_part(void)
{
	complete();
	drop(READY);
	drop(SECOND);
}

static inline void check_in(void)
{
	ck_assert_int_eq(entry, KUSTOS_OK);
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
}

static inline void let_in(void)
{
	complete();
	run_ms(1000);
	check_in();
}

/* Check that the member has found out that the others do not wait for it. */
static inline void check_lost(void)
{
	ck_assert_int_eq(kustos_double_barrier_inside(member), 0);
	enum kustos_err err = kustos_double_barrier_leave_async(member,
		KUSTOS_FOREVER, NULL, ended, &departure);
	run_ms(100);
	ck_assert_int_eq(err == KUSTOS_OK ? departure : (int)err, KUSTOS_ELOST);
}

static inline void make_member(void)
{
	entry = departure = -1;
	ck_assert_int_eq(
		kustos_double_barrier_create(client, ROUND, 3, NULL, &member),
		KUSTOS_OK);
}

/* Set up and tear down.  "api" and "way_ms" are as in lone.h. */
static inline void open_member(const struct ku_zk_api *api, int way_ms)
{
	raw = lone_setup(&bench, way_ms);
	make(ROUND, KU_ZK_PERSISTENT);
	make(RIVAL, KU_ZK_EPHEMERAL);
	client = lone_connected(&bench, api);
	make_member();
}

static inline void close_member(void)
{
	kustos_double_barrier_destroy(member);
	run_ms(1000);
	lone_teardown(&bench, client);
}

/* Tear down a member whose node could be deleted: neither the client nor the
   server may have a watch left. */
static inline void close_unwatched(void)
{
	kustos_double_barrier_destroy(member);
	run_ms(1000);
	ck_assert_ptr_null(client->watches.entries);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 0);
	lone_teardown(&bench, client);
}

#endif
