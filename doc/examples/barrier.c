/* barrier.c - a step that starts when all members are there, and ends when all
   are done: a double barrier, which some call a synchronising queue.  Start it
   as many times as its argument says, or twice without one. */
#include <kustos/barrier.h>
#include <kustos/client.h>
#include <stdio.h>
#include <stdlib.h>

static enum kustos_err take_part(struct kustos_double_barrier *step)
{
	/* With a deadline nobody waits for ever for a member that never
	   comes. */
	enum kustos_err err = kustos_double_barrier_enter(step,
		kustos_after_ms(60000), NULL);

	if (err != KUSTOS_OK)
		return err;
	printf("all are there\n");
	fflush(stdout);
	/* Do the work of this step here. */
	err = kustos_double_barrier_leave(step, KUSTOS_FOREVER, NULL);
	if (err == KUSTOS_OK)
		printf("all are done\n");
	return err;
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_double_barrier *step = NULL;
	int count = argc > 1 ? atoi(argv[1]) : 2;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_double_barrier_create(client, "/jobs/step", count,
			NULL, &step);
	if (err == KUSTOS_OK)
		err = take_part(step);
	kustos_double_barrier_destroy(step);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
