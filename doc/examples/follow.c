/* follow.c - print who leads, and each change, without taking part, until
   standard input ends. */
#include <kustos/client.h>
#include <kustos/participant.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(void *arg, enum kustos_err err,
	const struct kustos_participant *leader)
{
	(void)arg;
	if (err != KUSTOS_OK)
		printf("%s\n", kustos_strerror(err));
	else if (leader == NULL)
		printf("nobody leads\n");
	else
		printf("%.*s leads, token %lld\n", (int)leader->len,
			(const char *)leader->data,
			(long long)leader->stat.czxid);
	fflush(stdout);
}

int main(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_observer *observer = NULL;
	struct kustos_client *client = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_OK)
		err = kustos_observe(client, "/elections/scheduler", tell, NULL,
			&observer);
	while (err == KUSTOS_OK && getchar() != EOF)
		;
	kustos_observer_destroy(observer);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
