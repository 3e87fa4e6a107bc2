/* consumer.c - a function that is called for each item of a queue, which has
   priorities and bounds.  "consumer NUMBER TEXT..." puts each text into it with
   that priority; the least comes first.  Without arguments it does what is
   there and what comes, until its standard input ends. */
#include <kustos/claim.h>
#include <kustos/client.h>
#include <kustos/queue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS "/jobs/tasks"

static enum kustos_err put_all(struct kustos_client *client, int priority,
	char **texts)
{
	struct kustos_queue_options options = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *queue = NULL;
	enum kustos_err err;

	options.kind = KUSTOS_QUEUE_PRIORITY;
	options.max_items = 10; /* while there are so many, a put waits */
	err = kustos_queue_create(client, TASKS, &options, &queue);
	for (; err == KUSTOS_OK && *texts != NULL; texts++) {
		struct kustos_new_item item = KUSTOS_NEW_ITEM_INIT;

		item.data = *texts;
		item.len = strlen(*texts);
		item.priority = priority;
		err = kustos_queue_put_item(queue, &item,
			kustos_after_ms(60000), NULL);
	}
	kustos_queue_destroy(queue);
	return err;
}

/* Called in the consumer's thread, with one item after the other. */
static enum kustos_verdict work(void *arg, struct kustos_claim *claim)
{
	const struct kustos_item *task = kustos_claim_item(claim);

	(void)arg;
	/* Do the work here. */
	printf("doing %s, priority %d\n", (const char *)task->data,
		(int)task->priority);
	fflush(stdout);
	if (strcmp(task->data, "fail") == 0 &&
		kustos_claim_deliveries(claim) < 3)
		return KUSTOS_VERDICT_RELEASE; /* it comes again */
	return KUSTOS_VERDICT_ACK;	       /* it is deleted */
}

/* Called if no item can be got, which is tried again; or if the item "name"
   cannot be deleted or released: then another may do it as well. */
static void failed(void *arg, enum kustos_err err, const char *name)
{
	(void)arg;
	fprintf(stderr, "%s: %s\n", name != NULL ? name : TASKS,
		kustos_strerror(err));
}

static enum kustos_err work_all(struct kustos_client *client)
{
	struct kustos_claims_options options = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct kustos_claims *claims = NULL;
	struct kustos_consumer *consumer = NULL;
	enum kustos_err err;

	options.kind = KUSTOS_QUEUE_PRIORITY;
	err = kustos_claims_create(client, TASKS, &options, &claims);
	if (err == KUSTOS_OK)
		err = kustos_claims_consume(claims, work, failed, NULL,
			&consumer);
	while (err == KUSTOS_OK && getchar() != EOF)
		;
	kustos_consumer_stop(consumer); /* waits for work() to return */
	kustos_claims_destroy(claims);
	return err;
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	enum kustos_err err;

	if (argc == 2) {
		fprintf(stderr, "usage: consumer [NUMBER TEXT...]\n");
		return 2;
	}
	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(client,
			kustos_after_ms(10000), NULL);
	if (err == KUSTOS_OK)
		err = argc > 2 ? put_all(client, atoi(argv[1]), argv + 2)
			       : work_all(client);
	/* Items that were acknowledged are deleted before the end. */
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
