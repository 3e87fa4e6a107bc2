/*
 * serve.c - a throw-away server for bench/compare.
 *
 * Prints the server's address, and stops the server at the end of standard
 * input: so it is gone however the program that asked for it ends.
 */
#include "support/server.h"

#include <stdio.h>

int main(void)
{
	static const struct server_options options = {
		.tick_ms = 2000,
		.min_session_ms = 4000,
		.shipped = true, /* configured as ZooKeeper is shipped */
	};
	const char *missing = server_missing();
	struct server *server;

	if (missing != NULL) {
		fprintf(stderr, "%s\n", missing);
		return 77;
	}
	server = server_start(&options);
	if (server == NULL)
		return 1;
	printf("%s\n", server_address(server));
	fflush(stdout);
	while (getchar() != EOF)
		;
	server_free(server);
	return 0;
}
