/*
 * queue_consume.c - kustos queue consume: a command for each item.
 *
 * The item is claimed, and the command runs under that as under a lock: it is
 * ended before another could have the item.  What it is to read stands in a file
 * without a name, which it gets as its standard input.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif
#include "queue.h"
#include "together_options.h"

#include <kustos/claim.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An item whose command has failed may be the next again: not at once. */
#define BREAK_MS 1000

struct consumption {
	struct queue_job *q;
	struct kustos_claims *claims;
	struct together_ask ask;
	struct kustos_claim *claim;
	int done; /* items */
};

static void granted(void *arg, enum kustos_err err, struct kustos_claim *claim)
{
	struct consumption *c = arg;

	c->claim = claim;
	together_answered(&c->ask, err);
}

/* Wait for an item, or for a signal, which is then in the job. */
static enum kustos_err next(struct consumption *c)
{
	enum kustos_err err = together_prepare(&c->ask, &c->q->job);

	c->claim = NULL;
	if (err != KUSTOS_OK)
		return err;
	return together_await(&c->ask,
		kustos_claim_next_async(c->claims, queue_deadline(c->q),
			c->ask.cancel, granted, c));
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
		err == KUSTOS_ELOST ? "comes again, unless another took it away"
				    : "is gone, and may have come again");
}

/* Wait for the end of a claim, but not longer than for a server that is there, nor
   after a signal.  What is not known then is told to nobody. */
static enum kustos_err await_end(struct consumption *c, enum kustos_err err)
{
	kustos_deadline until = kustos_after_ms(c->q->tool.session_ms);
	struct job *j = &c->q->job;
	struct pollfd fds[2] = { { c->ask.news, POLLIN, 0 },
		{ j->signals->fd, POLLIN, 0 } };
	int sig = 0;

	while (err == KUSTOS_OK && !atomic_load(&c->ask.answered)) {
		int left_ms = job_left_ms(until);

		if (left_ms == 0 || sig != 0)
			return KUSTOS_ETIMEDOUT;
		under_reap_orphans(&j->under);
		(void)poll(fds, 2, left_ms);
		sig = signals_obey(j->signals);
		if (sig != 0)
			j->sig = sig;
	}
	return together_await(&c->ask, err);
}

/* Have the item go as is right after "code". */
static enum kustos_err end_claim(struct consumption *c, int code)
{
	bool again = code != 0;

	if (again && (!c->q->requeue || c->q->job.lost)) {
		kustos_claim_release(c->claim);
		return KUSTOS_OK;
	}
	enum kustos_err err = together_prepare(&c->ask, &c->q->job);
	if (err != KUSTOS_OK) {
		kustos_claim_release(c->claim);
		return err;
	}
	return await_end(c,
		(again ? kustos_claim_requeue_async : kustos_claim_ack_async)(
			c->claim, together_answered, &c->ask));
}

/* The command ended with "code".  Returns what the program is to end with, or 0 if
   it goes on. */
static int settle(struct consumption *c, int code)
{
	enum kustos_err err = end_claim(c, code);
	bool lost = err == KUSTOS_ELOST || err == KUSTOS_EUNKNOWN;

	if (code == 0 && err != KUSTOS_ELOST)
		c->done++;
	else if (code != 0 && !c->q->job.lost)
		tool_say("%s: %s ended with %d", c->q->job.path,
			c->q->job.argv[0], code);
	if (lost)
		tell_lost(c, code, err);
	else if (err != KUSTOS_OK && c->q->job.sig == 0)
		return tool_failed(&c->q->tool,
			"cannot be done with an item of", c->q->job.path, err);
	if (c->q->job.under.command.not_executed && code != TOOL_LOST)
		return code; /* and no other item would fare better */
	if (code != 0 && c->q->job.sig == 0)
		c->q->job.sig = signals_wait(c->q->job.signals, BREAK_MS);
	return 0;
}

static int consume(struct consumption *c)
{
	struct job *j = &c->q->job;

	while (c->q->count == 0 || c->done < c->q->count) {
		enum kustos_err err = next(c);
		int code;

		if (j->sig != 0) {
			kustos_claim_release(c->claim);
			return TOOL_SIGNAL + j->sig;
		}
		if (c->done > 0 &&
			(err == KUSTOS_EEMPTY ||
				(err == KUSTOS_ETIMEDOUT &&
					kustos_client_state(j->client) ==
						KUSTOS_CONNECTED)))
			return TOOL_OK;
		if (err != KUSTOS_OK)
			return queue_failed(c->q, j->client, "cannot consume",
				err);
		code = settle(c, work(c));
		if (j->sig != 0)
			return TOOL_SIGNAL + j->sig;
		if (code != 0)
			return code;
	}
	return TOOL_OK;
}

static void unfit(void *arg, enum kustos_unfit why, int moved, const char *name)
{
	const struct consumption *c = arg;

	tool_say("%s: %s %s%s", c->q->job.path, name,
		why == KUSTOS_UNFIT_DEAD ? "was tried too often"
					 : "is no item of this kind",
		moved ? ", and is moved away" : "");
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
		tool_say("cannot take signals: %s", strerror(errno));
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
		code = consume(&c);
	kustos_claims_destroy(c.claims);
	job_close(j);
	if (j->sig != 0)
		signals_suffer(j->sig);
	return code;
}
