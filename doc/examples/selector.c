/* selector.c - of all processes that run "selector NAME", one leads at a time:
   it writes a report, and lets the next one lead.  Each ends when its standard
   input does. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */
#include <kustos/cancel.h>
#include <kustos/client.h>
#include <kustos/election.h>
#include <kustos/hold.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* We lead while this function runs.  Returning gives leadership up. */
static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	const struct timespec tenth = { 0, 100000000 };

	(void)selector;
	/* The work has to check now and then whether it is to stop, and to pass
	   "cancel" to every call that waits. */
	for (int i = 0; i < 3 && !kustos_cancel_fired(cancel); i++)
		nanosleep(&tenth, NULL);
	if (kustos_cancel_fired(cancel))
		return;
	/* A leader's token is greater than those of all leaders before it, so
	   the receiver of the reports can refuse one that comes too late. */
	printf("%s has written a report, token %lld\n", (const char *)arg,
		(long long)kustos_hold_token(hold));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_selector_options wish = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_selector *selector = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	wish.id = argc > 1 ? argv[1] : "somebody"; /* for others to read */
	wish.lead = lead;
	wish.arg = (void *)wish.id;
	wish.requeues = 1; /* stand in line again after each term */
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_OK)
		err = kustos_selector_create(client, "/elections/reports",
			&wish, &selector);
	if (err == KUSTOS_OK)
		err = kustos_selector_start(selector);
	while (err == KUSTOS_OK && getchar() != EOF)
		;
	/* If lead() runs: ask it to return, and wait until it has. */
	kustos_selector_destroy(selector);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
