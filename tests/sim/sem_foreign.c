/* sem_foreign.c - two actors that do what other programs do.  CURATOR takes
   leases as Curator's clients do (it counts all children, under the lock),
   except that it looks again and again instead of watching.  The admin writes
   the number. */
#include "sem_actor.h"

#include <stdio.h>
#include <string.h>

#define LEAF "_c_01234567-89ab-4cde-8f01-23456789abcd-"

/* Its handle */

static void open_handle(struct actor *a)
{
	stranger_open(&a->he, a->it.sim, a->it.index);
	a->broken = false;
	a->step = STEP_IDLE;
	a->lock[0] = a->lease[0] = '\0';
}

static void close_handle(struct actor *a)
{
	a->step = STEP_IDLE;
	stranger_close(&a->he);
}

static void submit(struct actor *a, const struct ku_zk_request *request,
	ku_zk_done_fn *done)
{
	if (!stranger_submit(&a->he, request, done, a))
		a->broken = true;
}

/* If the outcome of a request is unknown, or a server was too busy for it, the
   actor gives its session up, and with it whatever the request may have
   made. */
static bool took(struct actor *a, const struct ku_zk_reply *reply)
{
	a->he.pending--;
	if (reply->rc == KU_ZK_THROTTLEDOP ||
		(reply->rc != KU_ZK_OK && reply->rc > -100))
		a->broken = true;
	return reply->rc == KU_ZK_OK;
}

static void done(void *arg, const struct ku_zk_reply *reply)
{
	(void)took(arg, reply);
}

static void create(struct actor *a, const char *path, enum ku_zk_mode mode,
	ku_zk_done_fn *fn)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_CREATE,
		.path = path,
		.len = -1,
		.mode = mode,
		.acl = &stranger_acl,
		.acl_count = 1,
	};

	submit(a, &request, fn);
}

static void ask(struct actor *a, enum ku_zk_kind kind, const char *path,
	ku_zk_done_fn *fn)
{
	struct ku_zk_request request = { .kind = kind,
		.path = path,
		.version = -1 };

	submit(a, &request, fn);
}

static void make_parents(struct actor *a)
{
	create(a, PREFIX, KU_ZK_CONTAINER, done);
	create(a, SEM, KU_ZK_CONTAINER, done);
	create(a, LOCKS, KU_ZK_CONTAINER, done);
	create(a, LEASES, KU_ZK_CONTAINER, done);
}

/* Curator's */

static void give_up(struct actor *a)
{
	if (a->lease[0] != '\0')
		ask(a, KU_ZK_DELETE, a->lease, done);
	if (a->lock[0] != '\0')
		ask(a, KU_ZK_DELETE, a->lock, done);
	a->lease[0] = a->lock[0] = '\0';
	a->step = STEP_IDLE;
}

static void counted(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;
	bool there = false;

	if (!took(a, reply))
		return;
	for (int i = 0; i < reply->name_count; i++)
		there = there ||
			strcmp(reply->names[i], ku_path_leaf(a->lease)) == 0;
	if (!there) {
		a->lease[0] = '\0';
		give_up(a);
	} else if (reply->name_count <= a->room) {
		a->step = STEP_HOLDS;
		a->until = sim_now(a->it.sim) +
			sim_random_between(subject_random(&a->it), 0,
				500 * KU_NS_PER_MS);
		sem_shared(a->it.sim)->figures.theirs++;
		ask(a, KU_ZK_DELETE, a->lock, done);
		a->lock[0] = '\0';
		sim_say(a->it.sim, a->it.index, "granted", a->lease, 0);
		sem_check_count(a->it.sim);
	}
}

static void read_number(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;

	a->room = took(a, reply) && reply->len == 4 ? reply->data[3] : 0;
}

static void count(struct actor *a)
{
	if (sem_shared(a->it.sim)->shared)
		ask(a, KU_ZK_GET, NUMBER, read_number);
	ask(a, KU_ZK_CHILDREN, LEASES, counted);
}

static void made_lease(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;

	if (took(a, reply)) {
		snprintf(a->lease, sizeof(a->lease), "%s", reply->path);
		a->step = STEP_WAITS;
	} else if (reply->rc == KU_ZK_NONODE) {
		make_parents(a);
	}
}

static void looked(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;
	const char *own = a->lock + strlen(a->lock) - 10;
	bool there = false, first = true;

	if (!took(a, reply))
		return;
	for (int i = 0; i < reply->name_count; i++) {
		const char *name = reply->names[i];

		if (strcmp(name, ku_path_leaf(a->lock)) == 0)
			there = true;
		else if (strcmp(name + strlen(name) - 10, own) < 0)
			first = false;
	}
	if (!there) {
		a->lock[0] = '\0';
		a->step = STEP_IDLE;
	} else if (first) {
		create(a, LEASES "/" LEAF "lease-", KU_ZK_EPHEMERAL_SEQUENTIAL,
			made_lease);
	}
}

static void made_lock(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;

	if (took(a, reply)) {
		snprintf(a->lock, sizeof(a->lock), "%s", reply->path);
		a->step = STEP_LOCKS;
	} else if (reply->rc == KU_ZK_NONODE) {
		make_parents(a);
	}
}

static void curator_step(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	bool gives_up = sim_draining(a->it.sim) || sim_random_below(r, 40) == 0;

	switch (a->step) {
	case STEP_IDLE:
		if (!sim_draining(a->it.sim) && sim_random_below(r, 10) == 0)
			create(a, LOCKS "/" LEAF "lock-",
				KU_ZK_EPHEMERAL_SEQUENTIAL, made_lock);
		break;
	case STEP_LOCKS:
		if (gives_up)
			give_up(a);
		else
			ask(a, KU_ZK_CHILDREN, LOCKS, looked);
		break;
	case STEP_WAITS:
		if (gives_up)
			give_up(a);
		else
			count(a);
		break;
	case STEP_HOLDS:
		if (sim_draining(a->it.sim) || sim_now(a->it.sim) >= a->until)
			give_up(a);
		break;
	}
}

/* The number's */

static void wrote(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;

	if (!took(a, reply) && reply->rc == KU_ZK_NONODE)
		create(a, NUMBER, KU_ZK_PERSISTENT, done);
}

static void write_number(struct actor *a, int room, int len)
{
	const char data[5] = { 0, 0, 0, (char)room, 0 };
	struct ku_zk_request request = {
		.kind = KU_ZK_SET,
		.path = NUMBER,
		.data = data,
		.len = len,
		.version = -1,
	};

	submit(a, &request, wrote);
}

static void admin_step(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	uint64_t what = sim_random_below(r, 40);

	if (sim_draining(a->it.sim)) {
		if (sem_room_now(sem_shared(a->it.sim)) != MOST)
			write_number(a, MOST, 4);
	} else if (sim_now(a->it.sim) >= a->until) {
		a->until = sim_now(a->it.sim) +
			sim_random_between(r, 0, 2000 * KU_NS_PER_MS);
		if (what == 0)
			ask(a, KU_ZK_DELETE, NUMBER, done);
		else if (what == 1)
			write_number(a, MOST, 5);
		else
			write_number(a, (int)sim_random_below(r, MOST + 1), 4);
	}
}

/* Both */

static bool is_wanted(const struct actor *a)
{
	if (!sim_draining(a->it.sim))
		return true;
	if (a->it.index == CURATOR)
		return a->lease[0] != '\0' || a->lock[0] != '\0';
	return sem_room_now(sem_shared(a->it.sim)) != MOST;
}

void sem_foreign_step(struct actor *a)
{
	if (a->he.zk != NULL && (a->he.ended || a->broken))
		close_handle(a);
	if (a->he.zk == NULL && is_wanted(a))
		open_handle(a);
	if (!a->he.connected || a->he.pending > 0 || a->broken)
		return;
	if (a->it.index == CURATOR)
		curator_step(a);
	else
		admin_step(a);
}

bool sem_foreign_done(struct actor *a)
{
	if (!a->active)
		return true;
	if (a->it.index == CURATOR
			? sem_some(sem_shared(a->it.sim), false) != NULL
			: is_wanted(a))
		return false;
	/* What a closed handle has swallowed is never answered. */
	if (a->he.zk != NULL && a->he.pending > 0)
		return false;
	close_handle(a);
	return true;
}
