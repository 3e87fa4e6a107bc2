/*
 * queue_consume.c - kustos queue consume: a command for each item.
 *
 * The item is claimed, and the command runs under the claim as under a lock: it
 * is ended before another could have the item.  The item's data is in a file
 * without a name, which is the standard input of the command.  An item whose
 * command has failed stays claimed for a while: so it is not taken again at
 * once, and does not hold up the items behind it.
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

/* Pause after an item was lost while its command ran: it may be the next
   again. */
#define BREAK_MS 1000

struct consumption {
	struct queue_job *q;
	struct kustos_claims *claims;
	struct together_ask ask, end; /* for an item; to end a claim */
	bool unanswered;	      /* "end" was, and is not used again */
	struct kustos_claim *claim;
	kustos_deadline until; /* the wait for an item ends */
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

/* Run the command for the item that was claimed.  Returns its exit code. */
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

/* Print that the item was lost after its command had ended.  That is no reason
   for this program to end. */
static void tell_lost(const struct consumption *c, int code,
	enum kustos_err err)
{
	tool_say("%s: %s ended with %d, but the item was lost before that was "
		 "stored: it %s",
		c->q->job.path, c->q->job.argv[0], code,
		err == KUSTOS_ELOST
			? "will be delivered again, unless a program that "
			  "ignores claims took it"
			: "is gone, and may have been delivered again");
}

/* Wait for the answer up to "until", or for a signal, which is then stored in
   the job.  Returns whether the answer has come. */
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

/* Have the item deleted, or come again as a new one.  Wait for the answer, but
   not longer than a server that is alive needs, nor after a signal: an outcome
   that is not known by then is not printed. */
static enum kustos_err end_claim(struct consumption *c,
	struct kustos_claim *claim, bool again)
{
	if (again && c->unanswered) {
		kustos_claim_release(claim);
		return KUSTOS_OK;
	}
	enum kustos_err err = together_prepare(&c->end, &c->q->job);
	if (err != KUSTOS_OK) {
		kustos_claim_release(claim);
		return err;
	}
	err = (again ? kustos_claim_requeue_async : kustos_claim_ack_async)(
		claim, KUSTOS_FOREVER, NULL, together_answered, &c->end);
	c->unanswered = err == KUSTOS_OK &&
		!hear(c, &c->end, kustos_after_ms(c->q->tool.session_ms));
	return c->unanswered ? KUSTOS_ETIMEDOUT : together_await(&c->end, err);
}

/* The command has ended with "code", and end_claim() has returned "err".
   Returns the exit code to end with, or 0 if the program goes on. */
static int tell_end(const struct consumption *c, int code, enum kustos_err err)
{
	if (err == KUSTOS_ELOST || err == KUSTOS_EUNKNOWN)
		tell_lost(c, code, err);
	else if (err != KUSTOS_OK && c->q->job.sig == 0)
		return tool_failed(&c->q->tool,
			"cannot be done with an item of", c->q->job.path, err);
	return 0;
}

/* Give back the items that have failed and are due by "by": they come again. */
static void give_back(struct consumption *c, kustos_deadline by)
{
	struct held_item item;

	while (held_take(&c->held, by, &item)) {
		enum kustos_err err = KUSTOS_OK;

		if (c->q->requeue)
			err = end_claim(c, item.claim, true);
		else
			kustos_claim_release(item.claim);
		int code = tell_end(c, item.code, err);
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

/* Was the item tried as often as it may be?  Then it is moved away when it is
   claimed the next time. */
static bool is_spent(const struct consumption *c)
{
	int most = c->q->deliveries;

	return most > 0 && kustos_claim_deliveries(c->claim) >= most;
}

/* The command cannot be executed, and with no other item it would fare better.
   That is not the item's fault: where it would be moved away, it is put back as
   a new one, although it loses its place by that. */
static void leave(struct consumption *c, int code)
{
	if (is_spent(c))
		(void)tell_end(c, code, end_claim(c, c->claim, true));
	else
		kustos_claim_release(c->claim);
}

/* The command has failed.  That does not restart the time that -w sets for the
   wait for an item. */
static void failed(struct consumption *c, int code)
{
	tool_say("%s/%s: %s ended with %d", c->q->job.path,
		kustos_claim_item(c->claim)->name, c->q->job.argv[0], code);
	if (!is_spent(c)) {
		held_keep(&c->held, c->claim, code);
		return;
	}
	c->given_up++;
	kustos_claim_release(c->claim);
}

/* The command has ended with "code".  Returns the exit code to end with, or 0
   if the program goes on. */
static int settle(struct consumption *c, int code)
{
	struct job *j = &c->q->job;

	if (code == 0)
		return succeeded(c);
	if (!j->lost && j->under.command.not_executed) {
		leave(c, code);
		return code;
	}
	if (!j->lost) {
		failed(c, code);
		return 0;
	}
	kustos_claim_release(c->claim);
	if (j->sig == 0)
		j->sig = signals_wait(j->signals, BREAK_MS);
	return 0;
}

/* Is the time to wait over?  Then items that are there are taken without
   waiting, each once. */
static bool is_over(const struct consumption *c)
{
	return c->until <= kustos_after_ms(0);
}

/* Wait for an item, or for a signal, which is then stored in the job.  Items
   that have failed are given back when they are due, unless the time is
   over. */
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

/* No more failed items can be held: wait until one is due, or the time is
   over. */
static void make_room(struct consumption *c)
{
	kustos_deadline due = held_due(&c->held);
	struct job *j = &c->q->job;

	j->sig = signals_wait(j->signals,
		job_left_ms(due < c->until ? due : c->until));
	if (j->sig == 0 && !is_over(c))
		give_back(c, kustos_after_ms(0));
}

/* No item is left that was not tried. */
static int ended(const struct consumption *c, enum kustos_err err)
{
	int count = c->given_up + (int)c->held.count;

	if (count > 0) {
		tool_say("%s: %d done, %d failed%s", c->q->job.path, c->done,
			count,
			c->held.count == HELD_MAX ? "; no more are tried" : "");
		return TOOL_BROKEN;
	}
	if (c->done > 0)
		return TOOL_OK;
	if (err == KUSTOS_EEMPTY && c->q->wait_ms > 0)
		err = KUSTOS_ETIMEDOUT;
	return queue_failed(c->q, c->q->job.client, "cannot consume", err);
}

/* Deal with an item, or with there being none.  Returns as settle() does;
   "*ends" is whether the program is to end. */
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
			kustos_client_state(j->client) ==
				KUSTOS_STATE_CONNECTED))
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

/* Consume, and in the end give back all items that have failed. */
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
	options.on_unfit = unfit;
	options.on_unfit_arg = c;
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
	if (c.unanswered) /* it was answered by now */
		(void)together_await(&c.end, KUSTOS_OK);
	if (j->sig != 0)
		signals_suffer(j->sig);
	return code;
}
