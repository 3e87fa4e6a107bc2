/* semaphore.c - a renderer: at most two run at a time, on all machines
   together. */
#include <kustos/client.h>
#include <kustos/semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define RENDERERS 2

/* Called at the moment when another may have the lease: the work must stop. */
static void stop_work(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	fprintf(stderr, "the lease is lost\n");
	_Exit(1);
}

static enum kustos_err render(struct kustos_semaphore *renderers)
{
	struct kustos_hold *lease = NULL;
	enum kustos_err err;

	err = kustos_semaphore_acquire(renderers, KUSTOS_NOW, NULL, &lease);
	if (err == KUSTOS_EBUSY) {
		printf("all renderers are at work, waiting\n");
		fflush(stdout);
		err = kustos_semaphore_acquire(renderers,
			kustos_after_ms(60000), NULL, &lease);
	}
	if (err != KUSTOS_OK)
		return err;
	kustos_hold_on_lost(lease, stop_work, NULL);
	printf("rendering, token %lld\n", (long long)kustos_hold_token(lease));
	fflush(stdout);
	(void)getchar(); /* the work: until standard input ends */
	return kustos_hold_release(lease);
}

int main(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_semaphore_options how = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *renderers = NULL;
	struct kustos_client *client = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	how.max = RENDERERS;
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(client,
			kustos_after_ms(10000), NULL);
	if (err == KUSTOS_OK)
		err = kustos_semaphore_create(client, "/jobs/render", &how,
			&renderers);
	if (err == KUSTOS_OK)
		err = render(renderers);
	kustos_semaphore_destroy(renderers);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
