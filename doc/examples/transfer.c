/* transfer.c - move money from one account to another: both accounts are
   locked, or none. */
#include <kustos/client.h>
#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <stdio.h>
#include <stdlib.h>

/* The locks are taken in the order of their paths, whatever the order here, so
   a transfer in the other direction cannot deadlock with this one. */
static enum kustos_err transfer(struct kustos_mutex *from,
	struct kustos_mutex *to)
{
	struct kustos_lockable both[2];
	struct kustos_hold *hold = NULL;
	enum kustos_err err;

	both[0] = kustos_mutex_lockable(from);
	both[1] = kustos_mutex_lockable(to);
	err = kustos_acquire_all(both, 2, kustos_after_ms(10000), NULL, &hold);
	if (err != KUSTOS_OK)
		return err;
	/* Each account can refuse a request with a smaller token than the
	   greatest that it has seen. */
	printf("taking, token %lld\n",
		(long long)kustos_hold_token(kustos_hold_part(hold, 0)));
	printf("giving, token %lld\n",
		(long long)kustos_hold_token(kustos_hold_part(hold, 1)));
	return kustos_hold_release(hold);
}

int main(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_mutex *from = NULL, *to = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_mutex_create(client, "/accounts/1", NULL, &from);
	if (err == KUSTOS_OK)
		err = kustos_mutex_create(client, "/accounts/2", NULL, &to);
	if (err == KUSTOS_OK)
		err = transfer(from, to);
	kustos_mutex_destroy(from);
	kustos_mutex_destroy(to);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
