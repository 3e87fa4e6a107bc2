/* worker.c - jobs that are done at least once.  With arguments, it puts each of
   them into a queue as a job; without, it does jobs until there has been none
   for a second.  If a worker dies, another worker gets its job. */
#include <kustos/claim.h>
#include <kustos/client.h>
#include <kustos/queue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS "/jobs/queue"

static enum kustos_err put_all(struct kustos_client *client, char **jobs)
{
	struct kustos_queue *queue = NULL;
	enum kustos_err err = kustos_queue_create(client, JOBS, NULL, &queue);

	for (; err == KUSTOS_OK && *jobs != NULL; jobs++)
		err = kustos_queue_put(queue, *jobs, strlen(*jobs),
			kustos_after_ms(10000), NULL);
	kustos_queue_destroy(queue);
	return err;
}

static void work(struct kustos_claim *claim)
{
	const struct kustos_item *job = kustos_claim_item(claim);

	/* Do the work here. */
	printf("doing %s, for time %d\n", (const char *)job->data,
		kustos_claim_deliveries(claim));
	fflush(stdout);
	if (strcmp(job->data, "die") == 0)
		abort();
	/* KUSTOS_ELOST means that another worker may have done the job as
	   well. */
	enum kustos_err err = kustos_claim_ack(claim, kustos_after_ms(10000),
		NULL);
	printf("%s\n", kustos_err_name(err));
}

static enum kustos_err work_all(struct kustos_client *client)
{
	struct kustos_claims_options options = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct kustos_claims *claims = NULL;
	struct kustos_claim *claim;
	enum kustos_err err;

	/* After two deliveries a job is moved to the dead letters: a job that
	   has killed two workers kills no third. */
	options.deliveries = 2;
	options.dead_letters = "/jobs/dead";
	err = kustos_claims_create(client, JOBS, &options, &claims);
	while (err == KUSTOS_OK) {
		err = kustos_claim_next(claims, kustos_after_ms(1000), NULL,
			&claim);
		if (err == KUSTOS_OK)
			work(claim);
	}
	kustos_claims_destroy(claims);
	return err == KUSTOS_ETIMEDOUT ? KUSTOS_OK : err;
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	options.session_timeout_ms = 4000;
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(client,
			kustos_after_ms(10000), NULL);
	if (err == KUSTOS_OK)
		err = argc > 1 ? put_all(client, argv + 1) : work_all(client);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
