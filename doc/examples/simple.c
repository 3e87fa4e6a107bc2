/* simple.c - a nightly job: one machine of many does it, and the others skip
   it. */
#include <kustos/client.h>
#include <kustos/simple.h>
#include <stdio.h>
#include <stdlib.h>

/* Called at the moment when another may have the lock: the work must stop. */
static void stop_work(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	fprintf(stderr, "the lock is lost\n");
	_Exit(1);
}

static enum kustos_err run_nightly(struct kustos_simple *lock)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err;

	err = kustos_simple_acquire(lock, KUSTOS_NOW, NULL, &hold);
	if (err == KUSTOS_EBUSY) {
		printf("another does it\n");
		return KUSTOS_OK;
	}
	if (err != KUSTOS_OK)
		return err;
	kustos_hold_on_lost(hold, stop_work, NULL);
	printf("at work, token %lld\n", (long long)kustos_hold_token(hold));
	fflush(stdout);
	(void)getchar(); /* the work: until standard input ends */
	return kustos_hold_release(hold);
}

int main(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_simple *lock = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(client,
			kustos_after_ms(10000), NULL);
	if (err == KUSTOS_OK)
		err = kustos_simple_create(client, "/locks/nightly", NULL,
			&lock);
	if (err == KUSTOS_OK)
		err = run_nightly(lock);
	kustos_simple_destroy(lock);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
