/*
 * cmd_lock.c - kustos lock: run a command while holding a lock.
 */
#include "lock_options.h"
#include "under.h"

#include <kustos/cancel.h>
#include <kustos/mutex.h>
#include <kustos/rwlock.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 1000 /* how often a wait looks who else is there */

struct lock {
	struct lock_options options;

	struct under under;
	kustos_deadline deadline;
	struct kustos_client *client;
	struct kustos_mutex *mutex;   /* one of these */
	struct kustos_rwlock *rwlock; /* two */
	struct kustos_cancel *cancel;
	atomic_bool connected;
	atomic_bool answered; /* and then these two */
	enum kustos_err err;
	struct kustos_hold *hold;
	bool mixed; /* and it was told */
	int sig;    /* the signal that ended the wait */
};

static void on_state(void *arg, const struct kustos_session *now)
{
	struct lock *l = arg;

	if (now->state != KUSTOS_CONNECTED)
		return;
	atomic_store(&l->connected, true);
	under_wake(&l->under);
}

static void on_granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct lock *l = arg;

	l->err = err;
	l->hold = hold;
	atomic_store(&l->answered, true);
	under_wake(&l->under);
}

/* How long until "deadline", for poll(). */
static int left_ms(kustos_deadline deadline)
{
	int64_t ms = (deadline - kustos_after_ms(0)) / 1000000 + 1;

	if (deadline == KUSTOS_FOREVER)
		return -1;
	return ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static int connect_lock(struct lock *l)
{
	kustos_deadline end = kustos_after_ms(l->options.tool.session_ms);
	struct kustos_listener *listener;

	if (l->deadline != KUSTOS_NOW && l->deadline < end)
		end = l->deadline;
	if (kustos_client_listen(l->client, on_state, l, &listener) !=
		KUSTOS_OK) {
		tool_say("out of memory");
		return TOOL_FAILED;
	}
	while (!atomic_load(&l->connected)) {
		if (kustos_after_ms(0) >= end)
			return tool_unreachable(&l->options.tool);
		l->sig = under_wait(&l->under, left_ms(end));
		if (l->sig != 0)
			return TOOL_SIGNAL + l->sig;
	}
	return TOOL_OK;
}

/* Give either kind of options what it stores in its nodes. */
#define TAKE_DATA(to, from)                                                 \
	do {                                                                \
		(to)->dialect = (from)->dialect;                            \
		(to)->data = (from)->data;                                  \
		(to)->data_len = (from)->data ? strlen((from)->data) : 0;   \
		(to)->holder_record = !(from)->data && (from)->record != 0; \
		(to)->reason = (from)->reason;                              \
	} while (0)

static enum kustos_err ask_mutex(struct lock *l)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	enum kustos_err err;

	TAKE_DATA(&options, &l->options);
	err = kustos_mutex_create(l->client, l->options.path, &options,
		&l->mutex);
	return err != KUSTOS_OK
		? err
		: kustos_mutex_acquire_async(l->mutex, l->deadline, l->cancel,
			  on_granted, l);
}

static enum kustos_err ask_rwlock(struct lock *l)
{
	struct kustos_rwlock_options options = KUSTOS_RWLOCK_OPTIONS_INIT;
	enum kustos_side side = l->options.kind == KUSTOS_KIND_READ
		? KUSTOS_READ
		: KUSTOS_WRITE;
	enum kustos_err err;

	TAKE_DATA(&options, &l->options);
	err = kustos_rwlock_create(l->client, l->options.path, &options,
		&l->rwlock);
	return err != KUSTOS_OK
		? err
		: kustos_rwlock_acquire_async(l->rwlock, side, l->deadline,
			  l->cancel, on_granted, l);
}

static int not_granted(struct lock *l)
{
	const bool told = l->options.conflict_code >= 0;

	if (l->sig != 0)
		return TOOL_SIGNAL + l->sig;
	if (l->err == KUSTOS_EBUSY) {
		tool_say("%s: another holds the lock", l->options.path);
		return told ? l->options.conflict_code : TOOL_BUSY;
	}
	if (l->err == KUSTOS_ETIMEDOUT &&
		kustos_client_state(l->client) == KUSTOS_CONNECTED) {
		tool_say("%s: not got within %g s", l->options.path,
			(double)l->options.wait_ms / 1000);
		return told ? l->options.conflict_code : TOOL_TIMEDOUT;
	}
	return tool_failed(&l->options.tool, "cannot lock", l->options.path,
		l->err);
}

/* Whoever stands before us is waited for, whatever its names; but not all who
   come after us wait for us, and that is worth a word, once. */
static void tell_if_mixed(struct lock *l)
{
	if (l->mixed ||
		!(l->mutex != NULL ? kustos_mutex_mixed(l->mutex)
				   : kustos_rwlock_mixed(l->rwlock)))
		return;
	l->mixed = true;
	tool_say("%s: mixed dialects: not all who stand in line wait for each "
		 "other; see 'kustos ls'",
		l->options.path);
}

/* Wait for the lock.  A signal that ends the wait is obeyed once the place in
   the queue has been given up. */
static int acquire(struct lock *l)
{
	enum kustos_err err = kustos_cancel_create(&l->cancel);

	if (err == KUSTOS_OK)
		err = l->options.kind == KUSTOS_KIND_LOCK ? ask_mutex(l)
							  : ask_rwlock(l);
	if (err != KUSTOS_OK)
		return tool_failed(&l->options.tool, "cannot lock",
			l->options.path, err);
	while (!atomic_load(&l->answered)) {
		int sig = under_wait(&l->under, l->mixed ? -1 : LOOK_MS);

		tell_if_mixed(l);
		if (sig != 0 && l->sig == 0) {
			l->sig = sig;
			kustos_cancel_fire(l->cancel);
		}
	}
	tell_if_mixed(l);
	return l->hold == NULL || l->sig != 0 ? not_granted(l) : TOOL_OK;
}

static char *variable(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *line = malloc(size);

	if (line != NULL)
		snprintf(line, size, "%s=%s", name, value);
	return line;
}

/* While all is well at least 3/8 of the timeout are left at any time, so this
   is what a silence may take before the command is asked to end: a quarter of
   the timeout, or an eighth with the longest grace. */
static int64_t grace_of(const struct lock *l, int timeout_ms)
{
	int64_t longest = timeout_ms / 4;

	if (l->options.grace_ms < 0)
		return timeout_ms / 8;
	return l->options.grace_ms < longest ? l->options.grace_ms : longest;
}

static int run_locked(struct lock *l)
{
	struct kustos_session session = { 0 };
	char token[32];
	char *env[5] = { NULL };
	int64_t grace_ms;
	int code = TOOL_FAILED;

	(void)kustos_client_session(l->client, &session);
	grace_ms = grace_of(l, session.timeout_ms);
	snprintf(token, sizeof(token), "%" PRId64, kustos_hold_token(l->hold));
	env[0] = variable("KUSTOS_HOSTS", l->options.tool.hosts);
	env[1] = variable("KUSTOS_PATH", l->options.path);
	env[2] = variable("KUSTOS_TOKEN", token);
	env[3] = variable("KUSTOS_NODE", kustos_hold_path(l->hold));
	if (env[0] != NULL && env[1] != NULL && env[2] != NULL &&
		env[3] != NULL)
		code = under_run(&l->under, l->hold, (const char *const *)env,
			grace_ms, session.timeout_ms / 32 + 1);
	for (int i = 0; i < 4; i++)
		free(env[i]);
	return code;
}

static int release(struct lock *l, int code)
{
	enum kustos_err err = kustos_hold_release(l->hold);

	l->hold = NULL;
	if (err != KUSTOS_ELOST && !l->under.lost)
		return code;
	if (!l->under.started)
		tool_say("%s: the lock was lost before %s could start",
			l->options.path, l->options.argv[0]);
	else
		tool_say("%s: the lock was %s while %s ran, which ended with "
			 "%d",
			l->options.path,
			err == KUSTOS_ELOST ? "lost" : "about to be lost",
			l->options.argv[0], code);
	return TOOL_LOST;
}

static int lock_and_run(struct lock *l)
{
	int code = tool_open(&l->options.tool, &l->client);

	if (code == TOOL_OK)
		code = connect_lock(l);
	if (code == TOOL_OK)
		code = acquire(l);
	/* Not by the code: that of a conflict may be any, 0 as well. */
	if (l->hold != NULL && l->sig == 0)
		code = release(l, run_locked(l));
	else
		under_abandon(&l->under);
	if (l->hold != NULL)
		kustos_hold_release(l->hold);
	kustos_mutex_destroy(l->mutex);
	kustos_rwlock_destroy(l->rwlock);
	kustos_cancel_destroy(l->cancel);
	tool_close(l->client);
	if (l->sig != 0)
		signals_suffer(l->sig);
	else
		command_imitate(&l->under.command, code);
	return code;
}

static int run(int argc, char **argv)
{
	struct lock l;

	memset(&l, 0, sizeof(l));
	if (!lock_parse(&l.options, argc, argv))
		return l.options.tool.exit_code;
	if (l.options.nonblock || l.options.wait_ms == 0)
		l.deadline = KUSTOS_NOW;
	else
		l.deadline = l.options.wait_ms < 0
			? KUSTOS_FOREVER
			: kustos_after_ms(l.options.wait_ms);
	if (!under_prepare(&l.under, l.options.argv))
		return TOOL_FAILED;
	return lock_and_run(&l);
}

const struct tool_subcommand tool_lock = { "lock", run,
	"run a command while holding a lock", lock_help, tool_help_common,
	lock_codes };
