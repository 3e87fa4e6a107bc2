/* resume.c - a leader whose program is restarted goes on in the same term.
   "resume NAME FILE" keeps the ticket that it needs for that in FILE.  When its
   standard input ends it exits as if it had crashed: the client is not closed,
   so its session stays for the next start. */
#include <kustos/client.h>
#include <kustos/election.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Anybody who can read the ticket can do all that the session can: main() sets
   the umask so that the file is readable for nobody else. */
static int keep(const char *file, const struct kustos_ticket *ticket)
{
	FILE *f = fopen(file, "wb");
	int whole = f != NULL && fwrite(ticket, sizeof(*ticket), 1, f) == 1;

	return f != NULL && fclose(f) == 0 && whole;
}

static int kept(const char *file, struct kustos_ticket *ticket)
{
	FILE *f = fopen(file, "rb");
	int whole = f != NULL && fread(ticket, sizeof(*ticket), 1, f) == 1;

	if (f != NULL)
		fclose(f);
	return whole;
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_latch_options wish = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_latch *latch = NULL;
	struct kustos_ticket ticket;
	enum kustos_err err;

	if (argc != 3) {
		fprintf(stderr, "usage: resume NAME FILE\n");
		return 2;
	}
	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	umask(077);
	if (kept(argv[2], &ticket))
		options.resume = &ticket; /* or a new session, if it is over */
	wish.id = argv[1];
	wish.resume = 1;
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_OK)
		err = kustos_latch_create(client, "/elections/scheduler", &wish,
			&latch);
	if (err == KUSTOS_OK)
		err = kustos_latch_start(latch);
	if (err == KUSTOS_OK)
		err = kustos_latch_wait(latch, kustos_after_ms(60000), NULL);
	if (err == KUSTOS_OK)
		err = kustos_client_ticket(client, &ticket);
	if (err != KUSTOS_OK) {
		fprintf(stderr, "%s\n", kustos_strerror(err));
		return 1;
	}
	if (!keep(argv[2], &ticket)) {
		perror(argv[2]);
		return 1;
	}
	printf("%s leads, token %lld\n", argv[1],
		(long long)kustos_latch_term(latch));
	fflush(stdout);
	while (getchar() != EOF)
		;
	_exit(0);
}
