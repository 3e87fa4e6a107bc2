/*
 * cmd_queue.c - kustos queue: lines that are put into a queue, and come out of
 * it.
 */
#include "lines.h"
#include "queue.h"

#include <kustos/node.h>
#include <kustos/queue.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
	"Usage: kustos queue put [OPTION]... PATH [ITEM]...\n"
	"       kustos queue take|peek|ls [OPTION]... PATH\n"
	"       kustos queue consume [OPTION]... PATH [--] COMMAND\n"
	"                            [ARGUMENT]...\n"
	"\n"
	"'put' puts each ITEM into the queue PATH or, without any, each line\n"
	"of standard input.  'take' waits for an item, removes and prints\n"
	"it; 'peek' prints the first item and leaves it there; 'ls' lists\n"
	"the items.  'consume' runs COMMAND for each item, with the item as\n"
	"its standard input.  The item is deleted if COMMAND ends with 0.\n"
	"If COMMAND fails, the item is tried again later, after those behind\n"
	"it; if this program dies, the item comes again as well.\n"
	"\n"
	"  -k, --kind KIND       the kind of queue: simple, framed,\n"
	"                        priority, delay, id, kazoo or\n"
	"                        kazoo-locking; default: that of the items\n"
	"                        in it; for 'put', and for an empty queue:\n"
	"                        simple\n"
	"  -w, --timeout SECONDS\n"
	"                        put: give up if not all is there by then;\n"
	"                        take, peek, consume: do not wait longer for\n"
	"                        an item; 0: only take what is there\n"
	"  -c, --count NUMBER    take: how many items; default 1; consume:\n"
	"                        exit when so many are done; ls: show no\n"
	"                        more\n"
	"  -z, --null            items end with a zero byte, not a newline\n"
	"      --priority N      put: lower numbers come first\n"
	"      --delay SECONDS   put: the item cannot be taken before\n"
	"      --id TEXT         put: the id of the item\n"
	"      --max-items N     put: wait while there are so many items\n"
	"      --deliveries N    consume: after N deliveries an item is\n"
	"                        moved to the queue of --dead-letters\n"
	"      --dead-letters PATH\n"
	"                        consume: where such items are moved to\n"
	"      --requeue         consume: if COMMAND fails, put the item at\n"
	"                        the end, as a new one\n"
	"      --lock-path PATH  consume: where the markers of taken items\n"
	"                        are\n"
	"      --receipts PATH   put, take: where the receipts are; default:\n"
	"                        beside the queue, PATH-receipts\n"
	"      --json            ls: one JSON object a line\n";

static const char codes[] =
	"Exit codes: 0, or\n"
	"  116  items have failed (consume, -w)\n"
	"  117  there is no such queue (ls)\n"
	"  120  there is no item, or no room (-w 0)\n"
	"  121  timed out waiting for an item, or for room (-w)\n"
	"  123  no server answers\n"
	"  124  another failure, described on standard error\n"
	"  125  usage error\n"
	"  126  COMMAND cannot be executed\n"
	"  127  COMMAND was not found\n"
	"  128+N  ended by signal N\n";

kustos_deadline queue_deadline(const struct queue_job *q)
{
	if (q->wait_ms == 0)
		return KUSTOS_NOW;
	return q->wait_ms > 0 ? kustos_after_ms(q->wait_ms) : KUSTOS_FOREVER;
}

int queue_failed(const struct queue_job *q, struct kustos_client *client,
	const char *what, enum kustos_err err)
{
	if (err == KUSTOS_EEMPTY || err == KUSTOS_EFULL) {
		tool_say("%s: there is no %s", q->job.path,
			err == KUSTOS_EFULL ? "room" : "item");
		return TOOL_BUSY;
	}
	if (err == KUSTOS_EINVAL && q->verb->items)
		return tool_usage(&q->tool,
			"an item of this kind cannot have such a priority, "
			"delay or id");
	if (err == KUSTOS_ETIMEDOUT &&
		kustos_client_state(client) == KUSTOS_STATE_CONNECTED) {
		const char *missed = !q->verb->items ? "there was no item for"
			: q->max_items > 0	     ? "there was no room for"
					   : "not all items were put within";

		tool_say("%s: %s %g s", q->job.path, missed,
			(double)q->wait_ms / 1000);
		return TOOL_TIMEDOUT;
	}
	return tool_failed_of(&q->tool, client, what, q->job.path, err);
}

static int cannot_print(int why)
{
	tool_say("cannot write to standard output: %s", strerror(why));
	return TOOL_FAILED;
}

/* Check standard output before an item is taken: one that is taken when the
   output is closed, or a pipe that nobody reads, would be lost.  If that can be
   seen now, end as the write would. */
static int check_output(void)
{
	struct pollfd out = { 1, 0, 0 };
	int mode = fcntl(1, F_GETFL);

	if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY)
		return cannot_print(EBADF);
	if (poll(&out, 1, 0) <= 0 || (out.revents & POLLERR) == 0)
		return TOOL_OK;
	(void)raise(SIGPIPE);
	return cannot_print(EPIPE);
}

/* Print an item.  It has been taken by now, so it must not be lost because the
   descriptor is non-blocking, which others that share it can make it. */
static int print(const struct queue_job *q, const struct kustos_item *item)
{
	size_t len = 0, size = item->count;

	for (size_t i = 0; i < item->count; i++)
		size += item->parts[i].len;
	char *text = malloc(size + 1);
	for (size_t i = 0; text != NULL && i < item->count; i++) {
		memcpy(text + len, item->parts[i].data, item->parts[i].len);
		len += item->parts[i].len;
		text[len++] = q->null ? '\0' : '\n';
	}
	bool printed = text != NULL && tool_write(1, text, len);
	int code = printed ? TOOL_OK : cannot_print(errno);
	free(text);
	return code;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static size_t untold;		 /* callbacks that are still to come */
static size_t begun;		 /* puts, in their order */
static size_t failed = SIZE_MAX; /* the first of them that failed */
static enum kustos_err first_error;

typedef int work_fn(struct queue_job *q, struct kustos_client *client,
	struct kustos_queue *queue);

static void unfit(void *arg, const char *name)
{
	const struct queue_job *q = arg;

	tool_say("%s: %s is not an item of this kind", q->job.path, name);
}

static void heard(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)err;
	(void)result;
	pthread_mutex_lock(&lock);
	untold--;
	pthread_cond_signal(&told);
	pthread_mutex_unlock(&lock);
}

/* Wait until unfit() was called for all that was found to be no item.
   Callbacks run one after the other, so that of a request made now comes
   last. */
static void hear_all(const struct queue_job *q, struct kustos_client *client)
{
	pthread_mutex_lock(&lock);
	untold++;
	pthread_mutex_unlock(&lock);
	if (kustos_exists_async(client, q->job.path, KUSTOS_NOW, NULL, heard,
		    NULL) != KUSTOS_OK)
		heard(NULL, KUSTOS_OK, NULL);
	pthread_mutex_lock(&lock);
	while (untold > 0)
		pthread_cond_wait(&told, &lock);
	pthread_mutex_unlock(&lock);
}

/* Open the queue, whose kind is known by now, and call "work" with it. */
static int work_on(struct queue_job *q, struct kustos_client *client,
	work_fn *work)
{
	struct kustos_queue_options options = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *queue;

	options.kind = q->kind;
	options.receipts = q->receipts;
	options.max_items = q->max_items;
	options.on_unfit = unfit;
	options.on_unfit_arg = q;
	enum kustos_err err = kustos_queue_create(client, q->job.path, &options,
		&queue);
	if (err == KUSTOS_EINVAL && q->receipts != NULL)
		return tool_usage(&q->tool,
			"--receipts must not be PATH or below it");
	if (err != KUSTOS_OK)
		return tool_failed(&q->tool, "cannot use", q->job.path, err);
	int code = work(q, client, queue);
	if (!q->verb->items)
		hear_all(q, client);
	kustos_queue_destroy(queue);
	return code;
}

static int with_queue(struct queue_job *q, work_fn *work)
{
	struct kustos_client *client;
	int code = tool_connect(&q->tool, &client);

	if (code != TOOL_OK)
		return code;
	code = queue_recognise(q, client);
	if (code == TOOL_OK)
		code = work_on(q, client, work);
	tool_close(client);
	return code;
}

/* Put */

/* "arg" is how many puts were begun before this one. */
static void put_ended(void *arg, enum kustos_err err)
{
	size_t before = (size_t)(uintptr_t)arg;

	pthread_mutex_lock(&lock);
	untold--;
	if (err != KUSTOS_OK && before < failed) {
		failed = before;
		first_error = err;
	}
	pthread_cond_signal(&told);
	pthread_mutex_unlock(&lock);
}

static enum kustos_err error_so_far(void)
{
	pthread_mutex_lock(&lock);
	enum kustos_err err = first_error;
	pthread_mutex_unlock(&lock);
	return err;
}

/* Wait until put_ended() was called for every put: each is decided, or soon
   will be. */
static enum kustos_err error_of_all(void)
{
	pthread_mutex_lock(&lock);
	while (untold > 0)
		pthread_cond_wait(&told, &lock);
	pthread_mutex_unlock(&lock);
	return error_so_far();
}

/* Return a deadline by which a server that is alive has answered. */
static kustos_deadline soon(const struct queue_job *q)
{
	return kustos_after_ms(q->tool.session_ms);
}

static enum kustos_err put_in_background(const struct queue_job *q,
	struct kustos_queue *queue, const struct kustos_new_item *item,
	kustos_deadline deadline)
{
	enum kustos_err err;

	pthread_mutex_lock(&lock);
	untold++;
	pthread_mutex_unlock(&lock);
	/* KUSTOS_EFULL means that the buffer in memory is full: that the queue
	   has no room is reported to put_ended(). */
	while ((err = kustos_queue_put_item_async(queue, item, deadline, NULL,
			put_ended, (void *)(uintptr_t)begun)) == KUSTOS_EFULL) {
		err = kustos_queue_flush(queue, soon(q), NULL);
		if (err != KUSTOS_OK)
			break;
	}
	begun += err == KUSTOS_OK;
	if (err != KUSTOS_OK) {
		pthread_mutex_lock(&lock);
		untold--;
		pthread_mutex_unlock(&lock);
	}
	return err;
}

static enum kustos_err put_one(const struct queue_job *q,
	struct kustos_queue *queue, const char *data, size_t len,
	kustos_deadline deadline)
{
	struct timespec now;
	struct kustos_new_item item = KUSTOS_NEW_ITEM_INIT;

	item.data = data;
	item.len = len;
	item.priority = q->priority;
	item.id = q->id;
	if (q->delay_ms != 0 && clock_gettime(CLOCK_REALTIME, &now) == 0)
		item.due_ms = now.tv_sec * INT64_C(1000) +
			now.tv_nsec / 1000000 + q->delay_ms;
	enum kustos_err err = error_so_far();
	if (err == KUSTOS_OK)
		err = put_in_background(q, queue, &item, deadline);
	return err;
}

/* "*error" is why standard input cannot be read to its end, or 0. */
static enum kustos_err put_lines(const struct queue_job *q,
	struct kustos_queue *queue, kustos_deadline deadline, int *error)
{
	struct lines lines = { .fd = 0, .end = q->null ? '\0' : '\n' };
	enum kustos_err err = KUSTOS_OK;
	const char *line;
	size_t len;

	while (err == KUSTOS_OK && lines_next(&lines, &line, &len))
		err = put_one(q, queue, line, len, deadline);
	*error = lines.error;
	lines_free(&lines);
	return err;
}

/* Every outcome is known by now.  Say how many items are there: the user has to
   know with which to go on. */
static void tell_there(const struct queue_job *q)
{
	size_t there = failed < begun ? failed : begun;

	if (there > 0)
		tool_say("%s: the first %zu are there for certain", q->job.path,
			there);
}

static int put_all(struct queue_job *q, struct kustos_client *client,
	struct kustos_queue *queue)
{
	kustos_deadline deadline = queue_deadline(q);
	enum kustos_err err = KUSTOS_OK;
	int code = TOOL_FAILED, unread = 0;

	if (*q->job.argv == NULL)
		err = put_lines(q, queue, deadline, &unread);
	for (char *const *item = q->job.argv; *item != NULL; item++)
		if (err == KUSTOS_OK)
			err = put_one(q, queue, *item, strlen(*item), deadline);
	enum kustos_err flushed = kustos_queue_flush(queue,
		q->wait_ms == 0 ? soon(q) : deadline, NULL);
	enum kustos_err first = error_of_all();
	if (first != KUSTOS_OK)
		err = first;
	else if (err == KUSTOS_OK)
		err = flushed;
	if (err == KUSTOS_OK && unread == 0)
		return TOOL_OK;
	if (err == KUSTOS_OK)
		tool_say("cannot read standard input: %s", strerror(unread));
	else
		code = queue_failed(q, client, "cannot put into", err);
	tell_there(q);
	return code;
}

static int put(struct queue_job *q)
{
	return with_queue(q, put_all);
}

/* Take, and look */

/* Take an item.  One that was being taken when the time ran out is ours as
   well, and is fetched. */
static enum kustos_err take_one(struct queue_job *q, struct kustos_queue *queue,
	struct kustos_item **item)
{
	enum kustos_err err = kustos_queue_poll(queue, queue_deadline(q), NULL,
		item);

	if (err != KUSTOS_ETIMEDOUT ||
		kustos_queue_flush(queue, soon(q), NULL) != KUSTOS_OK ||
		kustos_queue_poll(queue, KUSTOS_NOW, NULL, item) != KUSTOS_OK)
		return err;
	return KUSTOS_OK;
}

static int take_some(struct queue_job *q, struct kustos_client *client,
	struct kustos_queue *queue)
{
	int count = q->count > 0 ? q->count : 1;

	if (q->kind == KUSTOS_QUEUE_KAZOO_LOCKING)
		return tool_usage(&q->tool,
			"of -k kazoo-locking items are not taken, but "
			"consumed");
	for (int i = 0; i < count; i++) {
		struct kustos_item *item;
		int code = check_output();

		if (code != TOOL_OK)
			return code;
		enum kustos_err err = take_one(q, queue, &item);
		if (err != KUSTOS_OK)
			return queue_failed(q, client, "cannot take from", err);
		code = print(q, item);
		kustos_item_free(item);
		if (code != TOOL_OK)
			return code;
	}
	return TOOL_OK;
}

static int take(struct queue_job *q)
{
	return with_queue(q, take_some);
}

static int show_first(struct queue_job *q, struct kustos_client *client,
	struct kustos_queue *queue)
{
	struct kustos_item *item;
	enum kustos_err err = kustos_queue_peek(queue, queue_deadline(q), NULL,
		&item);

	if (err != KUSTOS_OK)
		return queue_failed(q, client, "cannot look into", err);
	int code = print(q, item);
	kustos_item_free(item);
	return code;
}

static int peek(struct queue_job *q)
{
	return with_queue(q, show_first);
}

static const struct queue_verb verbs[] = {
	{ .name = "put", .run = put, .options = "wzpms", .items = true },
	{ .name = "take", .run = take, .options = "wczs" },
	{ .name = "peek", .run = peek, .options = "wz" },
	{ .name = "ls", .run = queue_ls, .options = "cjd" },
	{ .name = "consume",
		.run = queue_consume,
		.options = "wcdr",
		.command = true },
	{ .name = NULL },
};

static int run(int argc, char **argv)
{
	struct queue_job q;

	if (!queue_parse(&q, verbs, argc, argv))
		return q.tool.exit_code;
	return q.verb->run(&q);
}

const struct tool_subcommand tool_queue = { "queue", run,
	"put and take items; run a command for each", help, tool_help_common,
	codes };
