/* latch.c - of all processes that run "latch NAME", one leads at a time; when
   it ends or dies, another one leads.  Each ends when its standard input
   does. */
#include <kustos/client.h>
#include <kustos/election.h>
#include <kustos/hold.h>
#include <stdio.h>
#include <stdlib.h>

/* We lead now: begin to work.  A leader's token is greater than those of all
   leaders before it, so a receiver of orders can refuse those of an old
   leader. */
static void begin(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)latch;
	printf("%s leads, token %lld\n", (const char *)arg,
		(long long)kustos_hold_token(hold));
	fflush(stdout);
}

/* We do not lead any more: stop.  Another process may lead by now; if we
   resign, only after this has returned. */
static void stop(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)latch;
	(void)hold;
	printf("%s has stopped\n", (const char *)arg);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_latch_options wish = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_latch *latch = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	wish.id = argc > 1 ? argv[1] : "somebody"; /* for others to read */
	wish.on_gained = begin;
	wish.on_lost = stop;
	wish.arg = (void *)wish.id;
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_OK)
		err = kustos_latch_create(client, "/elections/scheduler", &wish,
			&latch);
	if (err == KUSTOS_OK)
		err = kustos_latch_start(latch); /* until it is closed */
	while (err == KUSTOS_OK && getchar() != EOF)
		;
	kustos_latch_close(latch, KUSTOS_CLOSE_NOTIFY); /* calls stop() */
	kustos_latch_destroy(latch);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
