/*
 * queue_consume.c - kustos queue consume: a command for each item.
 *
 * The item is claimed, and the command runs under that as under a lock: it is
 * ended before another could have the item.  What it is to read stands in a file
 * without a name, which it gets as its standard input.  An item whose command has
 * failed stays claimed for a while: so it is not the next again, and stops none of
 * those behind it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif
#include "queue.h"
#include "queue_held.h"
#include "together_options.h"

#include <kustos/cancel.h>
#include <kustos/claim.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What was lost while its command ran may be the next again: not at once. */
#define BREAK_MS 1000

struct consumption {
	struct queue_job *q;
	struct kustos_claims *claims;
	struct together_ask ask, end; /* for an item; of a claim, meanwhile */
	bool unanswered; /* the latter was, and is not used again */
	struct kustos_claim *claim;
	kustos_deadline until; /* is waited for an item */
	struct held held;
	int done;     /* items */
	int given_up; /* those that failed too often */
	int code; /* what to end with, as one could not be given back; or 0 */
};

static void granted(void *arg, enum kustos_err err, struct kustos_claim *claim)
{
	struct consumption *c = arg;

	c->claim = claim;
	together_answered(&c->ask, err);
}

/* Return a descriptor from which the item can be read: its parts, one line each
   if there are several. */
static int file_of(const struct kustos_item *item)
{
	int fd = memfd_create("item", MFD_CLOEXEC);
	bool whole = fd >= 0;

	for (size_t i = 0; i < item->count && whole; i++)
		whole = tool_write(fd, item->parts[i].data,
				item->parts[i].len) &&
			(item->count == 1 || tool_write(fd, "\n", 1));
	if (whole && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Run the command for what was claimed.  Returns its exit code. */
static int work(struct consumption *c)
{
	const struct kustos_item *item = kustos_claim_item(c->claim);
	struct kustos_hold *hold = kustos_claim_hold(c->claim);
	struct job *j = &c->q->job;
	size_t size = strlen("KUSTOS_ITEM=") + strlen(item->name) + 1;
	char *name = malloc(size), deliveries[64];
	const char *more[] = { name, deliveries, NULL };
	int input = name != NULL ? file_of(item) : -1;

	j->lost = false;
	if (input < 0) {
		tool_say("cannot pass the item on: %s", strerror(errno));
		free(name);
		return TOOL_FAILED;
	}
	snprintf(name, size, "KUSTOS_ITEM=%s", item->name);
	snprintf(deliveries, sizeof(deliveries), "KUSTOS_DELIVERIES=%d",
		kustos_claim_deliveries(c->claim));
	j->more = more;
	int code = TOOL_FAILED;
	if (under_prepare(&j->under, j->signals, j->argv, input)) {
		code = job_run(j, &hold, 1);
		j->sig = j->under.passed;
	}
	close(input);
	free(name);
	return code;
}

/* The item was lost when the command had ended: that is no reason to end. */
static void tell_lost(const struct consumption *c, int code,
	enum kustos_err err)
{
	tool_say("%s: %s ended with %d, but the item was lost before that was "
		 "stored: it %s",
		c->q->job.path, c->q->job.argv[0], code,
		err == KUSTOS_ELOST
			? "will be delivered again, unless another consumer "
			  "took it"
			: "is gone, and may have been delivered again");
}

/* Wait for the answer until then, or for a signal, which is then in the job.
   Returns whether it is there. */
static bool hear(struct consumption *c, struct together_ask *ask,
	kustos_deadline until)
{
	struct job *j = &c->q->job;
	struct pollfd fds[2] = { { ask->news, POLLIN, 0 },
		{ j->signals->fd, POLLIN, 0 } };
	int sig = 0;

	while (sig == 0 && !atomic_load(&ask->answered)) {
		int left_ms = job_left_ms(until);

		if (left_ms == 0)
			return false;
		under_reap_orphans(&j->under);
		(void)poll(fds, 2, left_ms);
		sig = signals_obey(j->signals);
		if (sig != 0)
			j->sig = sig;
	}
	return atomic_load(&ask->answered);
}

/* Have the item deleted, or come again.  Wait for that, but not longer than for a
   server that is there, nor after a signal: what is not known then is told to
   nobody. */
static enum kustos_err end_claim(struct consumption *c,
	struct kustos_claim *claim, bool again)
{
	if (again && (!c->q->requeue || c->unanswered)) {
		kustos_claim_release(claim);
		return KUSTOS_OK;
	}
	enum kustos_err err = together_prepare(&c->end, &c->q->job);
	if (err != KUSTOS_OK) {
		kustos_claim_release(claim);
		return err;
	}
	err = (again ? kustos_claim_requeue_async : kustos_claim_ack_async)(
		claim, together_answered, &c->end);
	c->unanswered = err == KUSTOS_OK &&
		!hear(c, &c->end, kustos_after_ms(c->q->tool.session_ms));
	return c->unanswered ? KUSTOS_ETIMEDOUT : together_await(&c->end, err);
}

/* The command had ended with "code", and that with "err".  Returns what the
   program is to end with, or 0 if it goes on. */
static int tell_end(const struct consumption *c, int code, enum kustos_err err)
{
	if (err == KUSTOS_ELOST || err == KUSTOS_EUNKNOWN)
		tell_lost(c, code, err);
	else if (err != KUSTOS_OK && c->q->job.sig == 0)
		return tool_failed(&c->q->tool,
			"cannot be done with an item of", c->q->job.path, err);
	return 0;
}

/* Have those come again that were due by then. */
static void give_back(struct consumption *c, kustos_deadline by)
{
	struct held_item item;

	while (held_take(&c->held, by, &item)) {
		int code = tell_end(c, item.code,
			end_claim(c, item.claim, true));

		if (c->code == 0)
			c->code = code;
	}
}

static int succeeded(struct consumption *c)
{
	enum kustos_err err = end_claim(c, c->claim, false);

	c->done += err != KUSTOS_ELOST;
	c->until = queue_deadline(c->q);
	return tell_end(c, 0, err);
}

/* The wait for an item goes on: failures do not make it longer.  One that was
   tried often enough is moved away when it is met again. */
static void failed(struct consumption *c, int code)
{
	int most = c->q->deliveries;

	tool_say("%s/%s: %s ended with %d", c->q->job.path,
		kustos_claim_item(c->claim)->name, c->q->job.argv[0], code);
	if (most == 0 || kustos_claim_deliveries(c->claim) < most) {
		held_keep(&c->held, c->claim, code);
		return;
	}
	c->given_up++;
	kustos_claim_release(c->claim);
}

/* The command ended with "code".  Returns what the program is to end with, or 0 if
   it goes on. */
static int settle(struct consumption *c, int code)
{
	struct job *j = &c->q->job;

	if (code == 0)
		return succeeded(c);
	if (!j->lost)
		failed(c, code);
	else
		kustos_claim_release(c->claim);
	if (j->under.command.not_executed && code != TOOL_LOST)
		return code; /* and no other item would fare better */
	if (j->lost && j->sig == 0)
		j->sig = signals_wait(j->signals, BREAK_MS);
	return 0;
}

/* Is what there is to be taken without waiting, each once? */
static bool is_over(const struct consumption *c)
{
	return c->until <= kustos_after_ms(0);
}

/* Wait for an item, or for a signal, which is then in the job.  Those that are due
   meanwhile come again, while there is time for them. */
static enum kustos_err next(struct consumption *c)
{
	enum kustos_err err = together_prepare(&c->ask, &c->q->job);
	bool over = is_over(c);

	c->claim = NULL;
	if (err != KUSTOS_OK)
		return err;
	err = kustos_claim_next_async(c->claims, over ? KUSTOS_NOW : c->until,
		c->ask.cancel, granted, c);
	while (err == KUSTOS_OK &&
		!hear(c, &c->ask, over ? KUSTOS_FOREVER : held_due(&c->held))) {
		if (c->q->job.sig == 0)
			give_back(c, kustos_after_ms(0));
		if (c->q->job.sig == 0 && c->code == 0)
			continue;
		kustos_cancel_fire(c->ask.cancel);
		break;
	}
	return together_await(&c->ask, err);
}

/* As many are held as can be: wait until one is due, while there is time. */
static void make_room(struct consumption *c)
{
	kustos_deadline due = held_due(&c->held);
	struct job *j = &c->q->job;

	j->sig = signals_wait(j->signals,
		job_left_ms(due < c->until ? due : c->until));
	if (j->sig == 0 && !is_over(c))
		give_back(c, kustos_after_ms(0));
}

/* There is no item that was not tried. */
static int ended(const struct consumption *c, enum kustos_err err)
{
	int count = c->given_up + (int)c->held.count;

	if (count > 0) {
		tool_say("%s: %d done, %d failed%s", c->q->job.path, c->done,
			count, c->held.count == HELD_MAX ? "; giving up" : "");
		return TOOL_BROKEN;
	}
	if (c->done > 0)
		return TOOL_OK;
	if (err == KUSTOS_EEMPTY && c->q->wait_ms > 0)
		err = KUSTOS_ETIMEDOUT;
	return queue_failed(c->q, c->q->job.client, "cannot consume", err);
}

/* Deal with an item, or with there being none.  Returns as settle() does; "*ends"
   is whether the program does. */
static int consume_one(struct consumption *c, bool *ends)
{
	enum kustos_err err = next(c);
	struct job *j = &c->q->job;

	*ends = true;
	if (j->sig != 0 || c->code != 0) {
		kustos_claim_release(c->claim);
		return c->code;
	}
	if (err == KUSTOS_EEMPTY ||
		(err == KUSTOS_ETIMEDOUT &&
			kustos_client_state(j->client) == KUSTOS_CONNECTED))
		return ended(c, err);
	if (err != KUSTOS_OK)
		return queue_failed(c->q, j->client, "cannot consume", err);
	int code = settle(c, work(c));
	*ends = code != 0;
	return code;
}

static int consume(struct consumption *c)
{
	struct queue_job *q = c->q;
	int code = TOOL_OK;
	bool ends = false;

	c->until = queue_deadline(q);
	while (!ends && q->job.sig == 0 && c->code == 0 &&
		(q->count == 0 || c->done < q->count)) {
		if (c->held.count < HELD_MAX)
			code = consume_one(c, &ends);
		else if (is_over(c))
			return ended(c, KUSTOS_EEMPTY);
		else
			make_room(c);
	}
	return code;
}

/* What failed comes again, now that this ends. */
static int consume_all(struct consumption *c)
{
	int code = consume(c);

	give_back(c, KUSTOS_FOREVER);
	if (c->q->job.sig != 0)
		return TOOL_SIGNAL + c->q->job.sig;
	return c->code != 0 ? c->code : code;
}

static void unfit(void *arg, enum kustos_unfit why, int moved, const char *name)
{
	const struct consumption *c = arg;

	tool_say("%s: %s %s%s", c->q->job.path, name,
		why == KUSTOS_UNFIT_DEAD ? "was tried too often"
					 : "is not an item of this kind",
		moved ? ", and was moved" : "");
}

static int begin(struct consumption *c)
{
	struct kustos_claims_options options = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct queue_job *q = c->q;
	int code = queue_recognise(q, q->job.client);

	if (code != TOOL_OK)
		return code;
	options.kind = q->kind;
	options.lock_path = q->lock_path;
	options.deliveries = q->deliveries;
	options.dead_letters = q->dead_letters;
	options.unfit = unfit;
	options.unfit_arg = c;
	enum kustos_err err = kustos_claims_create(q->job.client, q->job.path,
		&options, &c->claims);
	if (err == KUSTOS_EINVAL && q->lock_path != NULL &&
		q->kind == KUSTOS_QUEUE_KAZOO_LOCKING)
		return tool_usage(&q->tool,
			"of -k kazoo-locking there is no --lock-path");
	if (err == KUSTOS_EINVAL &&
		(q->lock_path != NULL || q->dead_letters != NULL))
		return tool_usage(&q->tool,
			"PATH, --lock-path and --dead-letters are not three "
			"paths of ZooKeeper");
	return err == KUSTOS_OK
		? TOOL_OK
		: tool_failed(&q->tool, "cannot consume", q->job.path, err);
}

int queue_consume(struct queue_job *q)
{
	static struct signals signals;
	struct consumption c = { .q = q };
	struct job *j = &q->job;

	j->signals = &signals;
	j->what = "item";
	if (signals_take(&signals) < 0) {
		tool_say("cannot handle signals: %s", strerror(errno));
		return TOOL_FAILED;
	}
	command_limit_descriptors();
	signals_admit(&signals, true);
	int code = tool_connect(&q->tool, &j->client);
	if (code != TOOL_OK)
		return code;
	code = begin(&c);
	signals_admit(&signals, false);
	if (code == TOOL_OK)
		code = consume_all(&c);
	kustos_claims_destroy(c.claims);
	job_close(j);
	if (c.unanswered) /* it was, by now */
		(void)together_await(&c.end, KUSTOS_OK);
	if (j->sig != 0)
		signals_suffer(j->sig);
	return code;
}
