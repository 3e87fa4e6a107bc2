/* queue.c - pass lines from one process to another, each line once.  With "put"
   it puts the lines of its standard input into a queue; with "take" it takes
   out all lines that are there, and prints them; with "follow" it does so with
   each line that comes, until its standard input ends. */
#define _POSIX_C_SOURCE 200809L /* getline() */
#include <kustos/client.h>
#include <kustos/queue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* What became of the lines that are put in the background. */
struct outcome {
	pthread_mutex_t lock;
	pthread_cond_t none; /* is pending */
	size_t pending;
	enum kustos_err err; /* the first that there was */
};

/* Called once for each line, when it is in the queue or cannot be put. */
static void line_put(void *arg, enum kustos_err err)
{
	struct outcome *outcome = arg;

	pthread_mutex_lock(&outcome->lock);
	if (outcome->err == KUSTOS_OK)
		outcome->err = err;
	if (--outcome->pending == 0)
		pthread_cond_signal(&outcome->none);
	pthread_mutex_unlock(&outcome->lock);
}

static enum kustos_err put_line(struct kustos_queue *queue, const char *line,
	size_t len, struct outcome *outcome)
{
	enum kustos_err err;

	pthread_mutex_lock(&outcome->lock);
	err = outcome->err; /* of an earlier line */
	outcome->pending++;
	pthread_mutex_unlock(&outcome->lock);
	if (err == KUSTOS_OK)
		err = kustos_queue_put_async(queue, line, len,
			kustos_after_ms(10000), NULL, line_put, outcome);
	if (err !=
		KUSTOS_OK) /* nothing was started: line_put() is not called */
		line_put(outcome, err);
	return err;
}

/* Put the lines in the background, many in one transaction.  They keep their
   order.  They are there when line_put() was called for each, and without an
   error; kustos_queue_flush() would not tell that. */
static enum kustos_err put_lines(struct kustos_queue *queue)
{
	struct outcome outcome = { PTHREAD_MUTEX_INITIALIZER,
		PTHREAD_COND_INITIALIZER, 0, KUSTOS_OK };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) > 0) {
		len -= line[len - 1] == '\n';
		if (put_line(queue, line, (size_t)len, &outcome) != KUSTOS_OK)
			break;
	}
	free(line);
	pthread_mutex_lock(&outcome.lock);
	while (outcome.pending > 0)
		pthread_cond_wait(&outcome.none, &outcome.lock);
	pthread_mutex_unlock(&outcome.lock);
	return outcome.err;
}

static void print_line(const struct kustos_item *item)
{
	fwrite(item->data, 1, item->len, stdout);
	putchar('\n');
}

/* Take up to a hundred lines at a time, until the queue is empty. */
static enum kustos_err take_lines(struct kustos_queue *queue)
{
	struct kustos_item *items[100];
	size_t count;
	enum kustos_err err;

	while ((err = kustos_queue_poll_many(queue, 100, KUSTOS_NOW, NULL,
			items, &count)) == KUSTOS_OK) {
		for (size_t i = 0; i < count; i++) {
			print_line(items[i]);
			kustos_item_free(items[i]);
		}
	}
	return err == KUSTOS_EEMPTY ? KUSTOS_OK : err;
}

/* Called in the consumer's thread, with what is there. */
static void print_lines(void *arg, struct kustos_item *const *items,
	size_t count)
{
	(void)arg;
	for (size_t i = 0; i < count; i++)
		print_line(items[i]);
	fflush(stdout);
}

static enum kustos_err follow_lines(struct kustos_queue *queue)
{
	struct kustos_consumer *consumer = NULL;
	enum kustos_err err = kustos_queue_consume(queue, 100, print_lines,
		NULL, NULL, &consumer);

	while (err == KUSTOS_OK && getchar() != EOF)
		;
	kustos_consumer_stop(consumer); /* waits for print_lines() to return */
	return err;
}

static enum kustos_err act(struct kustos_queue *queue, const char *what)
{
	return strcmp(what, "put") == 0	      ? put_lines(queue)
		: strcmp(what, "follow") == 0 ? follow_lines(queue)
					      : take_lines(queue);
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_queue *queue = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(client,
			kustos_after_ms(10000), NULL);
	if (err == KUSTOS_OK)
		err = kustos_queue_create(client, "/lines", NULL, &queue);
	if (err == KUSTOS_OK)
		err = act(queue, argc == 2 ? argv[1] : "take");
	kustos_queue_destroy(queue);
	(void)kustos_client_close(client, kustos_after_ms(5000), NULL);
	if (err == KUSTOS_OK)
		return 0;
	fprintf(stderr, "%s\n", kustos_strerror(err));
	return 1;
}
