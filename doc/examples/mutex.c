/* mutex.c - one report at a time, whichever machine writes it. */
#include <kustos/client.h>
#include <kustos/mutex.h>
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

static enum kustos_err report(struct kustos_mutex *mutex)
{
	enum kustos_err err;

	err = kustos_mutex_lock(mutex, kustos_after_ms(10000), NULL);
	if (err != KUSTOS_OK)
		return err;
	kustos_hold_on_lost(kustos_mutex_hold(mutex), stop_work, NULL);
	/* A holder's token is greater than those of all holders before it, so
	   the receiver of the reports can refuse one that comes too late. */
	printf("writing the report, token %lld\n",
		(long long)kustos_mutex_token(mutex));
	return kustos_mutex_unlock(mutex); /* does not wait for the network */
}

int main(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_mutex *mutex = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_mutex_create(client, "/locks/report", NULL,
			&mutex);
	if (err == KUSTOS_OK)
		err = report(mutex);
	kustos_mutex_destroy(mutex);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
