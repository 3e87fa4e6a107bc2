/*
 * peer.c - a process that locks with Kustos, as peer.h says.
 *
 * With the word "kazoo" after its other arguments it uses that dialect.
 */
#include <kustos/client.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/participant.h>

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LINE 1024
#define REPLY 4096
#define MAX_WORDS 6
#define MAX_PATHS 16
#define PATIENCE kustos_after_ms(10000)

struct lock {
	char path[LINE];
	struct kustos_mutex *mutex;
	int asked; /* counts requests to give it back; -1: not revocable */
};

static struct kustos_client *client;
static enum kustos_dialect dialect;
static struct lock locks[MAX_PATHS];
static char reply[REPLY];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Add to the answer. */
static void say(const char *format, ...)
{
	size_t len = strlen(reply);
	va_list args;

	va_start(args, format);
	vsnprintf(reply + len, sizeof(reply) - len, format, args);
	va_end(args);
}

/* Make what was said an error unless "err" is none.  Returns 0 or -1. */
static int check(enum kustos_err err, const char *what)
{
	if (err == KUSTOS_OK)
		return 0;
	reply[0] = '\0';
	say("error %s: %s", what, kustos_strerror(err));
	return -1;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_revoke(void *arg, struct kustos_hold *hold)
{
	const struct lock *lock = arg;

	(void)hold;
	eventfd_write(lock->asked, 1);
}

static struct lock *lock_make(struct lock *lock, const char *path,
	int revocable)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	snprintf(lock->path, sizeof(lock->path), "%s", path);
	lock->asked = -1;
	o.dialect = dialect;
	if (revocable) {
		lock->asked = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
		o.on_revoke = on_revoke;
		o.on_revoke_arg = lock;
	}
	if (check(kustos_mutex_create(client, path, &o, &lock->mutex),
		    "create") < 0)
		exit(1);
	return lock;
}

/* Return that of "path", made if it is new. */
static struct lock *lock_of(const char *path, int revocable)
{
	for (int i = 0; i < MAX_PATHS; i++) {
		if (locks[i].mutex == NULL)
			return lock_make(&locks[i], path, revocable);
		if (strcmp(locks[i].path, path) == 0)
			return &locks[i];
	}
	exit(1);
}

static void acquire(char **w)
{
	kustos_deadline deadline = kustos_after_ms(strtol(w[2], NULL, 10));
	enum kustos_err err = kustos_mutex_lock(lock_of(w[1], 0)->mutex,
		deadline, NULL);

	if (err == KUSTOS_ETIMEDOUT)
		say("timeout");
	else if (err == KUSTOS_ELOST)
		say("lost");
	else if (check(err, "lock") == 0)
		say("acquired %" PRId64, now_ns());
}

static void release(char **w)
{
	enum kustos_err err = kustos_mutex_unlock(lock_of(w[1], 0)->mutex);

	if (err == KUSTOS_ELOST)
		say("lost");
	else if (check(err, "unlock") == 0)
		say("released");
}

static void state(char **w)
{
	struct kustos_hold *hold = kustos_mutex_hold(lock_of(w[1], 0)->mutex);

	if (hold == NULL)
		say("error not held");
	else
		say("state %s",
			kustos_hold_state_name(kustos_hold_state(hold)));
}

static void revocable(char **w)
{
	lock_of(w[1], 1);
	say("ok");
}

static void revoked(char **w)
{
	struct pollfd fd = { lock_of(w[1], 0)->asked, POLLIN, 0 };
	eventfd_t one;

	if (poll(&fd, 1, (int)strtol(w[2], NULL, 10)) == 1 &&
		eventfd_read(fd.fd, &one) == 0)
		say("revoked");
	else
		say("no");
}

static void ask_back(char **w)
{
	if (check(kustos_participant_revoke(client, w[1], PATIENCE, NULL),
		    "revoke") == 0)
		say("ok");
}

static void participants(char **w)
{
	struct kustos_participants *p = NULL;

	if (check(kustos_participants(client, w[1], PATIENCE, NULL, &p),
		    "participants") < 0)
		return;
	say("%zu", p->count);
	for (size_t i = 0; i < p->count; i++)
		say(" %s=%s", p->list[i].path, (const char *)p->list[i].data);
	kustos_participants_free(p);
}

/* Add 1 to the number in a node, as somebody would who is alone. */
static int add(const char *counter)
{
	char text[32];
	char *data = NULL;
	int n;

	if (check(kustos_get(client, counter, PATIENCE, NULL, &data, NULL,
			  NULL),
		    "get") < 0)
		return -1;
	n = snprintf(text, sizeof(text), "%ld", strtol(data, NULL, 10) + 1);
	kustos_free(data);
	return check(kustos_set(client, counter, text, (size_t)n, -1, PATIENCE,
			     NULL, NULL),
		"set");
}

/* One turn; without the lock if "ms" is negative.  Returns 1 if it was taken,
   0 if the lock did not come, -1 if something failed. */
static int turn(struct kustos_mutex *mutex, long ms, const char *counter,
	FILE *file)
{
	int64_t from, to;

	if (ms >= 0) {
		enum kustos_err err = kustos_mutex_lock(mutex,
			kustos_after_ms(ms), NULL);

		if (err == KUSTOS_ETIMEDOUT)
			return 0;
		if (check(err, "lock") < 0)
			return -1;
	}
	from = now_ns();
	if (add(counter) < 0)
		return -1;
	to = now_ns();
	if (ms >= 0 && check(kustos_mutex_unlock(mutex), "unlock") < 0)
		return -1;
	fprintf(file, "%" PRId64 " %" PRId64 "\n", from, to);
	return 1;
}

static void count(char **w)
{
	struct kustos_mutex *mutex = lock_of(w[1], 0)->mutex;
	long n = strtol(w[2], NULL, 10);
	long ms = strtol(w[5], NULL, 10);
	FILE *file = fopen(w[4], "we");
	long done = 0;

	if (file == NULL) {
		say("error cannot write %s", w[4]);
		return;
	}
	while (n-- > 0 && reply[0] == '\0')
		done += turn(mutex, ms, w[3], file);
	if (fclose(file) < 0)
		say("error cannot write %s", w[4]);
	else if (reply[0] == '\0')
		say("counted %ld", done);
}

static const struct command {
	const char *word;
	int words;
	void (*run)(char **words);
} commands[] = {
	{ "acquire", 3, acquire },
	{ "release", 2, release },
	{ "state", 2, state },
	{ "revocable", 2, revocable },
	{ "revoked", 3, revoked },
	{ "revoke", 2, ask_back },
	{ "participants", 2, participants },
	{ "count", 6, count },
};

static void answer(char *line)
{
	char *words[MAX_WORDS];
	char *rest = NULL;
	char *word;
	int n = 0;

	reply[0] = '\0';
	for (word = strtok_r(line, " \n", &rest); word && n < MAX_WORDS;
		word = strtok_r(NULL, " \n", &rest))
		words[n++] = word;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (n > 0 && n == commands[i].words &&
			strcmp(words[0], commands[i].word) == 0)
			commands[i].run(words);
	puts(reply[0] != '\0' ? reply : "error what is that");
}

static int connect_to(const char *hosts, const char *session_ms)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_session session;

	o.hosts = hosts;
	o.session_timeout_ms = (int)strtol(session_ms, NULL, 10);
	if (check(kustos_client_open(&o, &client), "open") < 0 ||
		check(kustos_client_wait_connected(client, PATIENCE, NULL),
			"connect") < 0 ||
		check(kustos_client_session(client, &session), "session") < 0) {
		puts(reply);
		return -1;
	}
	printf("ready %" PRIx64 "\n", (uint64_t)session.session_id);
	return 0;
}

static void hang_up(void)
{
	for (int i = 0; i < MAX_PATHS && locks[i].mutex != NULL; i++) {
		kustos_mutex_destroy(locks[i].mutex);
		if (locks[i].asked >= 0)
			close(locks[i].asked);
	}
	kustos_client_close(client, PATIENCE, NULL);
}

int main(int argc, char **argv)
{
	char line[LINE];

	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 3 && strcmp(argv[3], "kazoo") == 0)
		dialect = KUSTOS_DIALECT_KAZOO;
	if (connect_to(argv[1], argv[2]) < 0)
		return 1;
	while (fgets(line, sizeof(line), stdin) != NULL &&
		strcmp(line, "exit\n") != 0)
		answer(line);
	hang_up();
	return 0;
}
