/*
 * cmd_lock.c - kustos lock: run a command while holding a lock.
 */
#include "ask.h"

#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <kustos/rwlock.h>

#include <stdlib.h>
#include <string.h>

/* The lock at one path. */
struct one {
	struct kustos_mutex *mutex;   /* a plain lock; or NULL */
	struct kustos_rwlock *rwlock; /* with -s or -x; or NULL */
	struct under *under;
	atomic_bool *asked; /* has somebody asked for it? */
};

struct lock {
	struct ask ask;	  /* first: a pointer to it is one to this struct */
	struct one *ones; /* for each path */
	struct kustos_lockable *all;
	atomic_bool *asked; /* for each path */
	char *paths;	    /* all of them, if they are several */
};

/* Somebody asks for this lock.  All are given back when the command has
   ended. */
static void on_revoke(void *arg, struct kustos_hold *hold)
{
	const struct one *one = arg;

	(void)hold;
	atomic_store(one->asked, true);
	under_ask(one->under);
}

/* Set the options that mutexes and rwlocks have in common. */
#define TAKE_OPTIONS(to, l, i)                                           \
	do {                                                             \
		(to)->dialect = (l)->ask.options.dialect;                \
		(to)->on_revoke = (l)->ask.options.revocable ? on_revoke \
							     : NULL;     \
		(to)->on_revoke_arg = &(l)->ones[i];                     \
		LOCK_TAKE_DATA(to, &(l)->ask.options);                   \
	} while (0)

static enum kustos_err make_mutex(struct lock *l, int i)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	const struct lock_options *o = &l->ask.options;
	enum kustos_err err;

	options.extra_marks = o->extra_marks;
	TAKE_OPTIONS(&options, l, i);
	err = kustos_mutex_create(l->ask.job.client, o->paths[i], &options,
		&l->ones[i].mutex);
	l->all[i] = kustos_mutex_lockable(l->ones[i].mutex);
	return err;
}

static enum kustos_err make_rwlock(struct lock *l, int i)
{
	struct kustos_rwlock_options options = KUSTOS_RWLOCK_OPTIONS_INIT;
	const struct lock_options *o = &l->ask.options;
	enum kustos_side side = o->kind == KUSTOS_KIND_READ ? KUSTOS_READ
							    : KUSTOS_WRITE;
	enum kustos_err err;

	TAKE_OPTIONS(&options, l, i);
	err = kustos_rwlock_create(l->ask.job.client, o->paths[i], &options,
		&l->ones[i].rwlock);
	l->all[i] = kustos_rwlock_lockable(l->ones[i].rwlock, side);
	return err;
}

/* Make the locks, and ask for them. */
static enum kustos_err start(struct ask *ask)
{
	struct lock *l = (struct lock *)ask;
	int count = ask->options.path_count;
	enum kustos_err err = KUSTOS_OK;

	for (int i = 0; i < count && err == KUSTOS_OK; i++) {
		ask->refused = ask->options.paths[i];
		err = ask->options.kind == KUSTOS_KIND_LOCK ? make_mutex(l, i)
							    : make_rwlock(l, i);
	}
	if (err == KUSTOS_OK)
		ask->refused = NULL;
	return err != KUSTOS_OK
		? err
		: kustos_acquire_all_async(l->all, (size_t)count,
			  ask->job.deadline, ask->cancel, ask_granted, ask);
}

/* We wait for all who stand before us, whatever the dialect of their names.
   But not all who come after us wait for us: warn once. */
static bool tell_if_mixed(struct ask *ask)
{
	const struct lock *l = (struct lock *)ask;

	for (int i = 0; i < ask->options.path_count; i++) {
		const struct one *one = &l->ones[i];

		if (!(one->mutex != NULL ? kustos_mutex_mixed(one->mutex)
					 : kustos_rwlock_mixed(one->rwlock)))
			continue;
		tool_say("%s: mixed dialects: not all contenders wait "
			 "for each other; see 'kustos ls'",
			ask->options.paths[i]);
		return false;
	}
	return true;
}

static void end(struct ask *ask)
{
	const struct lock *l = (struct lock *)ask;

	for (int i = 0; i < ask->options.path_count; i++) {
		kustos_mutex_destroy(l->ones[i].mutex);
		kustos_rwlock_destroy(l->ones[i].rwlock);
	}
}

static const struct ask_calls calls = { "cannot lock", "another holds the lock",
	"not got", start, tell_if_mixed, end };

/* Make room for the lock of each path, and join the paths into one text. */
static bool make_room(struct lock *l)
{
	const struct lock_options *o = &l->ask.options;
	size_t count = (size_t)o->path_count, size = 1;

	for (size_t i = 0; i < count; i++)
		size += strlen(o->paths[i]) + 1;
	l->ones = calloc(count, sizeof(*l->ones));
	l->all = calloc(count, sizeof(*l->all));
	l->asked = calloc(count, sizeof(*l->asked));
	l->paths = malloc(size);
	if (l->ones == NULL || l->all == NULL || l->asked == NULL ||
		l->paths == NULL) {
		tool_say("out of memory");
		return false;
	}
	char *text = l->paths;
	for (size_t i = 0; i < count; i++) {
		text = stpcpy(stpcpy(text, i > 0 ? " " : ""), o->paths[i]);
		l->ones[i].under = &l->ask.job.under;
		l->ones[i].asked = &l->asked[i];
	}
	l->ask.job.path = l->paths;
	l->ask.job.paths = o->paths;
	l->ask.job.asked = l->asked;
	return true;
}

static int run(int argc, char **argv)
{
	int code = TOOL_FAILED;
	struct lock l;

	memset(&l, 0, sizeof(l));
	l.ask.calls = &calls;
	if (!lock_parse(&l.ask.options, &l.ask.job, &tool_lock, argc, argv))
		return l.ask.options.tool.exit_code;
	if (make_room(&l))
		code = ask_and_run(&l.ask);
	free(l.ones);
	free(l.all);
	free(l.asked);
	free(l.paths);
	return code;
}

const struct tool_subcommand tool_lock = { "lock", run,
	"run a command while holding a lock", lock_help, tool_help_common,
	lock_codes };
