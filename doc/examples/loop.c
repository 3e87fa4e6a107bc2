/* loop.c - a daemon with an event loop of its own: it waits for a lock, works in
   small steps while it has it, and answers its standard input meanwhile, all in one
   thread.  It ends when its standard input does. */
#define _POSIX_C_SOURCE 200809L
#include <kustos/client.h>
#include <kustos/hold.h>
#include <kustos/mutex.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEP_MS 100

struct daemon {
	struct kustos_mutex *mutex;
	struct kustos_hold *hold; /* NULL while we wait for the lock */
	int steps;
	enum kustos_err err;
};

static void ask(struct daemon *d);

/* Called at the moment when another may have the lock: stop working, and wait
   for the lock again. */
static void lost(void *arg, struct kustos_hold *hold)
{
	struct daemon *d = arg;

	printf("lost\n");
	kustos_hold_release(hold);
	d->hold = NULL;
	ask(d);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct daemon *d = arg;

	d->err = err;
	if (err != KUSTOS_OK)
		return;
	d->hold = hold;
	printf("at work, token %lld\n", (long long)kustos_hold_token(hold));
	kustos_hold_on_lost(hold, lost, d);
}

static void ask(struct daemon *d)
{
	d->err = kustos_mutex_acquire_async(d->mutex, KUSTOS_FOREVER, NULL,
		granted, d);
}

/* Begin a step only if it takes less time than is left of the hold. */
static void work(struct daemon *d)
{
	if (kustos_hold_remaining_ms(d->hold) > STEP_MS)
		d->steps++;
}

/* Answer a line.  Returns 0 at the end of the input. */
static int answer(const struct daemon *d)
{
	char line[80];

	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		return 0;
	printf("%s, %d steps\n", d->hold != NULL ? "at work" : "waiting",
		d->steps);
	return 1;
}

/* All callbacks run in kustos_client_dispatch(), so never during a step. */
static void loop(struct daemon *d, struct kustos_client *client)
{
	struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 },
		{ kustos_client_fd(client), POLLIN, 0 } };
	int more = 1;

	while (more && d->err == KUSTOS_OK) {
		fflush(stdout);
		if (poll(fds, 2, d->hold != NULL ? STEP_MS : -1) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (fds[1].revents != 0)
			kustos_client_dispatch(client);
		if (fds[0].revents != 0)
			more = answer(d);
		if (d->hold != NULL)
			work(d);
	}
}

int main(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct daemon d = { NULL, NULL, 0, KUSTOS_OK };

	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	options.dispatch = KUSTOS_DISPATCH_FD;
	d.err = kustos_client_open(&options, &client);
	if (d.err == KUSTOS_OK)
		d.err = kustos_mutex_create(client, "/locks/daemon", NULL,
			&d.mutex);
	if (d.err == KUSTOS_OK)
		ask(&d);
	if (d.err == KUSTOS_OK)
		loop(&d, client);
	kustos_hold_release(d.hold);
	kustos_mutex_destroy(d.mutex);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (d.err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(d.err));
	return d.err == KUSTOS_OK ? 0 : 1;
}
