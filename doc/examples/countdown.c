/* countdown.c - work is done in pieces, and another process waits for all of
   them.  Without an argument the program waits; with one it does that piece. */
#include <kustos/client.h>
#include <kustos/countdown.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES 3

static enum kustos_err do_piece(struct kustos_countdown *work, const char *id)
{
	/* If this program dies before its piece is done, all that wait get
	   KUSTOS_EBROKEN. */
	enum kustos_err err = kustos_countdown_join(work, id,
		kustos_after_ms(10000), NULL);

	if (err != KUSTOS_OK)
		return err;
	/* Do the work here. */
	return kustos_countdown_done(work, id, KUSTOS_FOREVER, NULL);
}

static enum kustos_err wait_for_all(struct kustos_countdown *work)
{
	enum kustos_err err = kustos_countdown_wait(work,
		kustos_after_ms(60000), NULL);

	if (err == KUSTOS_OK)
		printf("all is done\n");
	return err;
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_countdown *work = NULL;
	enum kustos_err err;

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client); /* does not wait */
	if (err == KUSTOS_OK)
		err = kustos_countdown_create(client, "/jobs/work", PIECES,
			NULL, &work);
	if (err == KUSTOS_OK)
		err = argc > 1 ? do_piece(work, argv[1]) : wait_for_all(work);
	kustos_countdown_destroy(work);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
