/*
 * cmd_elect.c - kustos elect: run a command while leading.
 *
 * Each term is a round: open a client, take a place in the election, run the
 * command, and end all three.  With --restart another round follows.  By then
 * the threads of the round before have ended, so that this process can fork
 * safely.
 */
#include "elect_options.h"
#include "elect_watch.h"
#include "job.h"

#include <kustos/cancel.h>
#include <kustos/election.h>
#include <kustos/participant.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How often a wait checks what keeps us from leading: less and less often; with
   -w 0 always as often as in the beginning. */
#define FIRST_LOOK_MS 20
#define LOOK_MS 1000	/* or a little more */
#define RESTART_MS 1000 /* from one round to the next, at the least */
#define ASKED_MS 50	/* how soon a request to a selector is noticed */

struct elect {
	struct elect_options options;
	struct job job;
	const char *id;
	char own_id[300];
	bool told_mixed;

	/* Of a round. */
	struct kustos_latch *latch; /* one of these */
	struct kustos_selector *selector;
	enum kustos_err err;   /* what keeps us from taking part; printed */
	pthread_mutex_t mutex; /* guards the rest */
	pthread_cond_t over;
	struct kustos_hold *hold; /* of the term */
	bool done;		  /* we are, with the term */
};

/* Called on a thread of the library: we lead. */
static void begin(struct elect *e, struct kustos_hold *hold)
{
	pthread_mutex_lock(&e->mutex);
	if (!e->done)
		e->hold = hold;
	pthread_mutex_unlock(&e->mutex);
	under_wake();
}

/* Wait until we are done with the term: when the callback that calls this has
   returned, the hold is gone. */
static void wait_done(struct elect *e)
{
	pthread_mutex_lock(&e->mutex);
	while (!e->done)
		pthread_cond_wait(&e->over, &e->mutex);
	pthread_mutex_unlock(&e->mutex);
}

static void on_gained(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)latch;
	begin(arg, hold);
}

/* Leadership is lost; or it is still ours, but somebody asks for it, and waits
   until this has returned. */
static void on_lost(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	struct elect *e = arg;

	(void)latch;
	if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST)
		under_ask(&e->job.under);
	wait_done(e);
}

/* Wait until "cancel" has fired, or we are done with the term. */
static void wait_asked(struct elect *e, const struct kustos_cancel *cancel)
{
	bool done = false;

	while (!done && !kustos_cancel_fired(cancel)) {
		usleep(ASKED_MS * 1000);
		pthread_mutex_lock(&e->mutex);
		done = e->done;
		pthread_mutex_unlock(&e->mutex);
	}
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	struct elect *e = arg;

	(void)selector;
	begin(e, hold);
	wait_asked(e, cancel);
	if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST)
		under_ask(&e->job.under);
	wait_done(e);
}

static enum kustos_err enter_latch(struct elect *e)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	enum kustos_err err;

	o.id = e->id;
	o.on_gained = on_gained;
	o.on_lost = on_lost;
	o.arg = e;
	err = kustos_latch_create(e->job.client, e->job.path, &o, &e->latch);
	return err == KUSTOS_OK ? kustos_latch_start(e->latch) : err;
}

static enum kustos_err enter_selector(struct elect *e)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	enum kustos_err err;

	o.id = e->id;
	o.dialect = e->options.dialect;
	o.lead = lead;
	o.arg = e;
	err = kustos_selector_create(e->job.client, e->job.path, &o,
		&e->selector);
	return err == KUSTOS_OK ? kustos_selector_start(e->selector) : err;
}

static struct kustos_hold *current(struct elect *e)
{
	pthread_mutex_lock(&e->mutex);
	struct kustos_hold *hold = e->hold;
	pthread_mutex_unlock(&e->mutex);
	return hold;
}

/* Will it go on being so?  An error of the connection, or a place in line that
   was lost, will not, and the library tries again.  All else is for the user,
   as it is for "kustos lock": the library would get the same answer for ever,
   until somebody changes what is there. */
static bool lasts(enum kustos_err err, int code)
{
	switch (err) {
	case KUSTOS_EDISCONNECTED:
	case KUSTOS_ETIMEDOUT:
	case KUSTOS_ELOST:
	case KUSTOS_EUNKNOWN:
		return false;
	case KUSTOS_ENONODE:
		/* The chroot is missing; or a node above ours was deleted, and
		   will be made again. */
		return code == TOOL_FAILED;
	default:
		return true;
	}
}

/* Print once what keeps us from taking part.  Returns TOOL_OK if the library
   is to try again, or else an exit code. */
static int look(struct elect *e)
{
	const struct job *j = &e->job;
	enum kustos_err err = e->latch != NULL
		? kustos_latch_error(e->latch)
		: kustos_selector_error(e->selector);

	if (err == e->err || err == KUSTOS_OK)
		return TOOL_OK;
	e->err = err;
	int code = tool_failed_of(j->tool, j->client, "cannot take part in",
		j->path, err);
	return lasts(err, code) ? code : TOOL_OK;
}

/* We wait for all who stand before us, whatever the dialect of their names.
   But not all who come after us wait for us, so another may lead as well: warn
   once. */
static void tell_if_mixed(struct elect *e)
{
	if (e->told_mixed || kustos_selector_mixed(e->selector) == 0)
		return;
	e->told_mixed = true;
	tool_say("%s: mixed dialects: not all candidates wait for each other; "
		 "see 'kustos ls'",
		e->job.path);
}

static int not_won(struct elect *e)
{
	if (kustos_client_state(e->job.client) != KUSTOS_STATE_CONNECTED)
		return tool_unreachable(e->job.tool);
	tool_say("%s: leadership not won within %g s", e->job.path,
		(double)e->options.wait_ms / 1000);
	return TOOL_TIMEDOUT;
}

/* Is it known that we stand behind somebody? */
static bool is_behind(const struct elect *e)
{
	const struct job *j = &e->job;
	struct kustos_session session = KUSTOS_SESSION_INIT;
	struct kustos_participants *all = NULL;
	bool behind = false;

	(void)kustos_client_session(j->client, &session);
	/* A short deadline, as a signal has to wait for this; the caller looks
	   again. */
	if (kustos_participants(j->client, j->path, kustos_after_ms(LOOK_MS),
		    NULL, &all) != KUSTOS_OK)
		return false;
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i]->stat.ephemeral_owner == session.session_id)
			behind = !all->list[i]->holds;
	kustos_participants_free(all);
	return behind;
}

/* Wait until we lead. */
static int win(struct elect *e)
{
	struct job *j = &e->job;
	enum kustos_err err = e->options.lock_layout ? enter_selector(e)
						     : enter_latch(e);
	bool at_once = j->deadline == KUSTOS_NOW;
	kustos_deadline end = at_once ? kustos_after_ms(j->tool->session_ms)
				      : j->deadline;
	int slice = FIRST_LOOK_MS; /* a refusal comes soon, if it comes */
	int code = TOOL_OK;

	if (err != KUSTOS_OK)
		return tool_failed(j->tool, "cannot take part in", j->path,
			err);
	while (current(e) == NULL && j->sig == 0) {
		int left = job_left_ms(end);

		if (at_once && is_behind(e)) {
			tool_say("%s: another leads", j->path);
			return TOOL_BUSY;
		}
		if (left == 0)
			return not_won(e);
		j->sig = under_wait(&j->under,
			left < 0 || left > slice ? slice : left);
		if (!at_once && slice < LOOK_MS)
			slice *= 2;
		code = look(e);
		if (code != TOOL_OK)
			return code;
		tell_if_mixed(e);
	}
	return j->sig != 0 ? TOOL_SIGNAL + j->sig : TOOL_OK;
}

/* End the term, if there was one, and take part no more. */
static void leave(struct elect *e)
{
	pthread_mutex_lock(&e->mutex);
	e->done = true;
	pthread_cond_broadcast(&e->over);
	pthread_mutex_unlock(&e->mutex);
	kustos_latch_destroy(e->latch);
	kustos_selector_destroy(e->selector);
	e->latch = NULL;
	e->selector = NULL;
}

/* Lead once.  Returns an exit code. */
static int lead_once(struct elect *e)
{
	struct job *j = &e->job;
	struct kustos_hold *hold;
	int code;

	e->hold = NULL;
	e->done = false;
	e->err = KUSTOS_OK;
	code = job_connect(j);
	if (code == TOOL_OK)
		code = win(e);
	hold = current(e);
	if (code == TOOL_OK)
		code = job_run(j, &hold, 1);
	else
		under_abandon(&j->under);
	leave(e);
	job_close(j);
	return code;
}

/* Was the command killed by a key, or with its terminal?  Then the command
   alone got the signal, but this process was meant as well. */
static bool ended_by_terminal(const struct command *c, int code)
{
	int sig = code - TOOL_SIGNAL;

	return c->given && (sig == SIGINT || sig == SIGQUIT || sig == SIGHUP);
}

/* Return whether another round follows one that ended with "code". */
static bool goes_on(const struct elect *e, int code)
{
	const struct under *u = &e->job.under;

	if (!e->options.restart || e->job.sig != 0 || u->passed != 0 ||
		ended_by_terminal(&u->command, code))
		return false;
	return u->started ? !u->command.not_executed
			  : code == TOOL_LOST || code == TOOL_UNREACHABLE;
}

static int rounds(struct elect *e)
{
	struct job *j = &e->job;
	int code;

	for (;;) {
		kustos_deadline next = kustos_after_ms(RESTART_MS);

		j->deadline = e->options.wait_ms < 0 ? KUSTOS_FOREVER
			: e->options.wait_ms == 0
			? KUSTOS_NOW
			: kustos_after_ms(e->options.wait_ms);
		j->in_time = e->options.wait_ms > 0;
		if (!job_prepare(j))
			return TOOL_FAILED;
		code = lead_once(e);
		if (!goes_on(e, code))
			return job_end(j, code);
		j->sig = signals_wait(j->signals, job_left_ms(next));
		if (j->sig != 0)
			return job_end(j, code);
	}
}

static void choose_id(struct elect *e)
{
	char host[256] = "localhost";

	e->id = e->options.id;
	if (e->id != NULL)
		return;

	if (gethostname(host, sizeof(host)) == 0)
		host[sizeof(host) - 1] = '\0';
	snprintf(e->own_id, sizeof(e->own_id), "%s:%d", host, (int)getpid());
	e->id = e->own_id;
}

static int run(int argc, char **argv)
{
	static struct signals signals;
	struct elect e;

	memset(&e, 0, sizeof(e));
	if (!elect_parse(&e.options, &e.job, argc, argv))
		return e.options.tool.exit_code;
	if (e.options.watch)
		return elect_watch(&e.options.tool, e.job.path);
	choose_id(&e);
	e.job.signals = &signals;
	pthread_mutex_init(&e.mutex, NULL);
	pthread_cond_init(&e.over, NULL);
	return rounds(&e);
}

const struct tool_subcommand tool_elect = { "elect", run,
	"run a command while leading an election", elect_help, tool_help_common,
	elect_codes };
