/* gate.c - a gate that an operator closes for a while, for instance to maintain
   a database: "gate close" and "gate open".  Without an argument it goes
   through, and waits while the gate is closed. */
#include <kustos/barrier.h>
#include <kustos/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum kustos_err go_through(struct kustos_barrier *gate)
{
	enum kustos_err err = kustos_barrier_wait(gate, KUSTOS_NOW, NULL);

	if (err == KUSTOS_EBUSY) {
		printf("the gate is closed\n");
		fflush(stdout);
		err = kustos_barrier_wait(gate, KUSTOS_FOREVER, NULL);
	}
	if (err == KUSTOS_OK)
		printf("at work\n"); /* do the work here */
	return err;
}

/* The gate stays as it is when the operator's program has ended. */
static enum kustos_err use(struct kustos_barrier *gate, const char *how)
{
	if (how == NULL)
		return go_through(gate);
	if (strcmp(how, "close") == 0)
		return kustos_barrier_set(gate, kustos_after_ms(10000), NULL);
	return kustos_barrier_remove(gate, kustos_after_ms(10000), NULL);
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_barrier *gate = NULL;
	const char *how = argc > 1 ? argv[1] : NULL;
	enum kustos_err err;

	if (how != NULL && strcmp(how, "close") != 0 &&
		strcmp(how, "open") != 0) {
		fprintf(stderr, "usage: gate [close | open]\n");
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
		err = kustos_barrier_create(client, "/gates/database", NULL,
			&gate);
	if (err == KUSTOS_OK)
		err = use(gate, how);
	kustos_barrier_destroy(gate);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
