/*
 * test_stopped.c - a process is stopped while it holds something, until others
 * have it.  Whatever it asks when it goes on, it learns of the loss first: with
 * each kind of lock, and each question.
 */
#include "child.h"
#include "client_fixture.h"
#include "process.h"
#include "raw.h"

#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>

#include <stdio.h>
#include <string.h>

#define T_MS 3000

/* What a process has made; NULL: not of this kind. */
struct taken {
	struct kustos_mutex *mutex, *second;
	struct kustos_rwlock *rw;
	struct kustos_semaphore *sem;
	struct kustos_simple *simple;
	struct kustos_hold *hold;
};

typedef enum kustos_err take_fn(struct kustos_client *client, const char *path,
	struct taken *t);

static enum kustos_err take_mutex(struct kustos_client *client,
	const char *path, struct taken *t)
{
	check_err(kustos_mutex_create(client, path, NULL, &t->mutex),
		KUSTOS_OK);
	return kustos_mutex_acquire(t->mutex, SOON, NULL, &t->hold);
}

static enum kustos_err take_side(struct kustos_client *client, const char *path,
	struct taken *t, enum kustos_side side)
{
	check_err(kustos_rwlock_create(client, path, NULL, &t->rw), KUSTOS_OK);
	return kustos_rwlock_acquire(t->rw, side, SOON, NULL, &t->hold);
}

static enum kustos_err take_read(struct kustos_client *client, const char *path,
	struct taken *t)
{
	return take_side(client, path, t, KUSTOS_READ);
}

static enum kustos_err take_write(struct kustos_client *client,
	const char *path, struct taken *t)
{
	return take_side(client, path, t, KUSTOS_WRITE);
}

static enum kustos_err take_lease(struct kustos_client *client,
	const char *path, struct taken *t)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	o.max = 1;
	check_err(kustos_semaphore_create(client, path, &o, &t->sem),
		KUSTOS_OK);
	return kustos_semaphore_acquire(t->sem, SOON, NULL, &t->hold);
}

static enum kustos_err take_simple(struct kustos_client *client,
	const char *path, struct taken *t)
{
	check_err(kustos_simple_create(client, path, NULL, &t->simple),
		KUSTOS_OK);
	return kustos_simple_acquire(t->simple, SOON, NULL, &t->hold);
}

static enum kustos_err take_several(struct kustos_client *client,
	const char *path, struct taken *t)
{
	struct kustos_lockable all[2];
	char second[64];

	snprintf(second, sizeof(second), "%s-second", path);
	check_err(kustos_mutex_create(client, path, NULL, &t->mutex),
		KUSTOS_OK);
	check_err(kustos_mutex_create(client, second, NULL, &t->second),
		KUSTOS_OK);
	all[0] = kustos_mutex_lockable(t->mutex);
	all[1] = kustos_mutex_lockable(t->second);
	return kustos_acquire_all(all, 2, SOON, NULL, &t->hold);
}

static void destroy_all(struct taken *t)
{
	kustos_mutex_destroy(t->mutex);
	kustos_mutex_destroy(t->second);
	kustos_rwlock_destroy(t->rw);
	kustos_semaphore_destroy(t->sem);
	kustos_simple_destroy(t->simple);
}

/* The questions.  Each returns whether the answer tells of the loss. */

static bool state_tells(struct kustos_hold *hold)
{
	return kustos_hold_state(hold) == KUSTOS_HOLD_LOST;
}

static bool time_tells(struct kustos_hold *hold)
{
	return kustos_hold_remaining_ms(hold) == 0;
}

static bool write_tells(struct kustos_hold *hold)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = "/written" };

	return kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL) ==
		KUSTOS_ELOST;
}

static bool release_tells(struct kustos_hold *hold)
{
	return kustos_hold_release(hold) == KUSTOS_ELOST;
}

static bool (*const questions[])(struct kustos_hold *) = { state_tells,
	time_tells, write_tells, release_tells };
#define QUESTIONS 4

static const struct kind {
	const char *name;
	take_fn *take;
	take_fn *then; /* how others take it when it is free */
} kinds[] = {
	{ "mutex", take_mutex, take_mutex },
	{ "read", take_read, take_write },
	{ "write", take_write, take_read },
	{ "semaphore", take_lease, take_lease },
	{ "simple", take_simple, take_simple },
	{ "several", take_several, take_several },
};
#define KINDS 6

/* One process, for a kind and a question. */
static struct stopped {
	const struct kind *kind;
	int question;
	char path[32];
	struct child child;
	struct taken next; /* who has it meanwhile */
} stopped[KINDS][QUESTIONS];

static int hold_in_child(int fd, void *arg)
{
	const struct stopped *s = arg;
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);
	struct taken t = { .hold = NULL };

	check_err(s->kind->take(client, s->path, &t), KUSTOS_OK);
	child_say(fd, "held");
	child_expect(fd, "look", PATIENCE_MS);
	child_say(fd, questions[s->question](t.hold) ? "lost" : "not lost");
	if (questions[s->question] != release_tells)
		child_say(fd, release_tells(t.hold) ? "lost" : "not lost");
	destroy_all(&t);
	client_drop(client);
	return 0;
}

/* The child was told to look while it was stopped. */
static void go_on(struct stopped *s)
{
	int answers = questions[s->question] == release_tells ? 1 : 2;
	char line[32];

	child_say(s->child.fd, "look");
	ck_assert_int_eq(process_resume(s->child.pid), 0);
	for (int i = 0; i < answers; i++) {
		ck_assert_int_eq(child_hear(s->child.fd, line, sizeof(line),
					 PATIENCE_MS),
			0);
		ck_assert_msg(strcmp(line, "lost") == 0, "%s, question %d: %s",
			s->kind->name, s->question, line);
	}
}

static void each(void (*act)(struct stopped *s))
{
	for (int k = 0; k < KINDS; k++)
		for (int q = 0; q < QUESTIONS; q++)
			act(&stopped[k][q]);
}

static void begin(struct stopped *s)
{
	ck_assert_int_eq(child_start(&s->child, hold_in_child, s), 0);
}

static void stop(struct stopped *s)
{
	ck_assert(child_expect(s->child.fd, "held", PATIENCE_MS));
	ck_assert_int_eq(process_pause(s->child.pid), 0);
}

static struct kustos_client *client;

static void take(struct stopped *s)
{
	check_err(s->kind->then(client, s->path, &s->next), KUSTOS_OK);
}

static void end(struct stopped *s)
{
	ck_assert_int_eq(child_wait(&s->child, PATIENCE_MS), 0);
	child_end(&s->child);
	ck_assert_int_eq(kustos_hold_state(s->next.hold), KUSTOS_HOLD_HELD);
	check_err(kustos_hold_release(s->next.hold), KUSTOS_OK);
	destroy_all(&s->next);
}

START_TEST(S01_who_was_stopped_too_long_learns_first_that_it_has_lost)
{
	for (int k = 0; k < KINDS; k++)
		for (int q = 0; q < QUESTIONS; q++) {
			struct stopped *s = &stopped[k][q];

			*s = (struct stopped){ .kind = &kinds[k],
				.question = q };
			snprintf(s->path, sizeof(s->path), "/%s-%d",
				kinds[k].name, q);
		}
	each(begin);
	each(stop);
	client = client_connected(fixture_address(), T_MS);
	each(take);
	each(go_on);
	ck_assert_int_eq(raw_exists(fixture_address(), "/written", NULL),
		RAW_NONODE);
	each(end);
	client_close(client);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stopped");
	TCase *t = fixture_case(s, "processes", 60);

	tcase_add_test(t,
		S01_who_was_stopped_too_long_learns_first_that_it_has_lost);
	return fixture_main(s);
}
