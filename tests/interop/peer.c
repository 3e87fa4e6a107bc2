/*
 * peer.c - a process that locks with Kustos, controlled as peer.h says.
 *
 * With "kazoo" after its other arguments it uses kazoo's dialect.
 */
#include <kustos/client.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/participant.h>
#include <kustos/rwlock.h>

#include "peer_words.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REPLY 4096
#define MAX_WORDS 7
#define MAX_PATHS 16

struct kustos_client *client;
enum kustos_dialect dialect;
static struct lock locks[MAX_PATHS];
static char reply[REPLY];

void say(const char *format, ...)
{
	size_t len = strlen(reply);
	va_list args;

	va_start(args, format);
	vsnprintf(reply + len, sizeof(reply) - len, format, args);
	va_end(args);
}

int check(enum kustos_err err, const char *what)
{
	if (err == KUSTOS_OK)
		return 0;
	reply[0] = '\0';
	say("error %s: %s", what, kustos_strerror(err));
	return -1;
}

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void note_request(void *arg, struct kustos_hold *hold)
{
	const struct lock *lock = arg;

	(void)hold;
	eventfd_write(lock->asked, 1);
}

static struct lock *lock_make(struct lock *lock, const char *path,
	int revocable)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_rwlock_options rw = KUSTOS_RWLOCK_OPTIONS_INIT;

	snprintf(lock->path, sizeof(lock->path), "%s", path);
	lock->asked = -1;
	o.dialect = rw.dialect = dialect;
	if (revocable) {
		lock->asked = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
		o.on_revoke = note_request;
		o.on_revoke_arg = lock;
	}
	if (check(kustos_mutex_create(client, path, &o, &lock->mutex),
		    "create") < 0 ||
		check(kustos_rwlock_create(client, path, &rw, &lock->rw),
			"create") < 0)
		exit(1);
	return lock;
}

struct lock *lock_of(const char *path, int revocable)
{
	for (int i = 0; i < MAX_PATHS; i++) {
		if (locks[i].mutex == NULL)
			return lock_make(&locks[i], path, revocable);
		if (strcmp(locks[i].path, path) == 0)
			return &locks[i];
	}
	exit(1);
}

/* A side of the read/write lock; the mutex; the semaphore's mutex; the simple
   lock; or several mutexes together. */
enum which { READ = KUSTOS_READ, WRITE = KUSTOS_WRITE, MUTEX, SOLE, BARE, ALL };

static enum which side_of(const char *word)
{
	return word == NULL    ? MUTEX
		: *word == 's' ? SOLE
		: *word == 'b' ? BARE
		: *word == 'a' ? ALL
		: *word == 'r' ? READ
			       : WRITE;
}

static enum kustos_err take(struct lock *lock, enum which which, long ms)
{
	kustos_deadline end = kustos_after_ms(ms);

	if (which == SOLE)
		return sole_take(lock, ms);
	if (which == BARE)
		return bare_take(lock, ms);
	if (which == ALL)
		return all_take(lock, ms);
	return which == MUTEX ? kustos_mutex_lock(lock->mutex, end, NULL)
			      : kustos_rwlock_lock(lock->rw,
					(enum kustos_side)which, end, NULL);
}

static enum kustos_err give(struct lock *lock, enum which which)
{
	if (which == SOLE)
		return sole_give(lock);
	if (which == BARE || which == ALL)
		return hold_give(lock);
	return which == MUTEX
		? kustos_mutex_unlock(lock->mutex)
		: kustos_rwlock_unlock(lock->rw, (enum kustos_side)which);
}

static void acquire(char **w)
{
	enum kustos_err err = take(lock_of(w[1], 0), side_of(w[3]),
		strtol(w[2], NULL, 10));

	if (err == KUSTOS_ETIMEDOUT)
		say("timeout");
	else if (err == KUSTOS_ELOST)
		say("lost");
	else if (check(err, "lock") == 0)
		say("acquired %" PRId64, now_ns());
}

static void release(char **w)
{
	enum kustos_err err = give(lock_of(w[1], 0), side_of(w[2]));

	if (err == KUSTOS_ELOST)
		say("lost");
	else if (check(err, "unlock") == 0)
		say("released");
}

/* The hold of the mutex, or of a side of the read/write lock. */
static struct kustos_hold *hold_of(char **w)
{
	struct lock *lock = lock_of(w[1], 0);
	enum which side = side_of(w[2]);

	return side == MUTEX
		? kustos_mutex_hold(lock->mutex)
		: kustos_rwlock_hold(lock->rw, (enum kustos_side)side);
}

static void node(char **w)
{
	struct kustos_hold *hold = hold_of(w);

	if (hold == NULL)
		say("error not held");
	else if (kustos_hold_state(hold) == KUSTOS_HOLD_LOST)
		say("lost");
	else
		say("node %s %" PRId64, kustos_hold_path(hold),
			kustos_hold_token(hold));
}

static void state(char **w)
{
	struct kustos_hold *hold = hold_of(w);

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
		say(" %s=%s", p->list[i]->path, (const char *)p->list[i]->data);
	kustos_participants_free(p);
}

int use(const char *counter, bool only_read)
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
	if (only_read)
		return 0;
	return check(kustos_set(client, counter, text, (size_t)n, -1, PATIENCE,
			     NULL, NULL),
		"set");
}

struct turns {
	struct lock *lock;
	const char *counter;
	long ms;      /* negative: without the lock */
	long percent; /* that read; negative: "other" says what to lock */
	enum which other;
	FILE *file;
};

/* Use the counter so many times while the lock is held.  Returns 0 or -1. */
static int use_it(const struct turns *t, enum which how, int times)
{
	int64_t from = now_ns();

	while (times-- > 0)
		if (use(t->counter, how == READ) < 0)
			return -1;
	fprintf(t->file, "%" PRId64 " %" PRId64 "%s\n", from, now_ns(),
		how == READ ? " r" : "");
	return 0;
}

/* Downgrade to a reader for one more turn, which is long enough for a waiting
   writer to begin if it wrongly could.  Returns 1, or -1. */
static int go_on(const struct turns *t)
{
	if (check(take(t->lock, READ, t->ms), "downgrade") < 0 ||
		check(give(t->lock, WRITE), "unlock") < 0 ||
		use_it(t, READ, 5) < 0 ||
		check(give(t->lock, READ), "unlock") < 0)
		return -1;
	return 1;
}

/* Take turn number "i".  Returns how many turns were taken: 0 if the lock was
   not acquired in time, or -1 if something failed. */
static int turn(const struct turns *t, long i)
{
	const struct timespec between = { 0, 2000000 };
	enum which how = t->percent < 0	    ? t->other
		: i * 37 % 100 < t->percent ? READ
					    : WRITE;

	if (t->ms >= 0) {
		enum kustos_err err = take(t->lock, how, t->ms);

		if (err == KUSTOS_ETIMEDOUT)
			return 0;
		if (check(err, "lock") < 0)
			return -1;
	}
	if (use_it(t, how, 1) < 0)
		return -1;
	if (how == WRITE && i % 3 == 0 && t->ms >= 0)
		return go_on(t) < 0 ? -1 : 2;
	if (t->ms >= 0 && check(give(t->lock, how), "unlock") < 0)
		return -1;
	if (how == BARE)
		nanosleep(&between, NULL);
	return 1;
}

static void count(char **w)
{
	struct turns t = { lock_of(w[1], 0), w[3], strtol(w[5], NULL, 10), -1,
		side_of(w[6]), fopen(w[4], "we") };
	long n = strtol(w[2], NULL, 10);
	long done = 0;

	if (t.other == WRITE)
		t.percent = strtol(w[6], NULL, 10);
	if (t.file == NULL) {
		say("error cannot write %s", w[4]);
		return;
	}
	for (long i = 0; i < n && reply[0] == '\0'; i++)
		done += turn(&t, i);
	if (fclose(t.file) < 0)
		say("error cannot write %s", w[4]);
	else if (reply[0] == '\0')
		say("counted %ld", done);
}

static const struct command {
	const char *word;
	int words, most;
	void (*run)(char **words);
} commands[] = {
	{ "acquire", 3, 4, acquire },
	{ "release", 2, 3, release },
	{ "state", 2, 3, state },
	{ "node", 2, 3, node },
	{ "revocable", 2, 2, revocable },
	{ "revoked", 3, 3, revoked },
	{ "revoke", 2, 2, ask_back },
	{ "elect", 4, 4, elect },
	{ "leads", 3, 3, leads },
	{ "term", 2, 2, term },
	{ "resign", 2, 2, resign },
	{ "hand", 3, 3, hand },
	{ "yield", 3, 3, yield },
	{ "candidates", 2, 2, candidates },
	{ "participants", 2, 2, participants },
	{ "count", 6, 7, count },
	{ "reign", 5, 5, reign },
	{ "lease", 5, 5, lease },
	{ "leases", 2, 2, held_leases },
	{ "return", 2, 2, give_leases },
	{ "resize", 4, 4, resize },
	{ "holders", 3, 3, holders },
	{ "draw", 7, 7, draw },
	{ "close", 2, 2, gate_close },
	{ "open", 2, 2, gate_open },
	{ "pass", 3, 3, gate_pass },
	{ "enter", 4, 4, step_enter },
	{ "leave", 3, 3, step_leave },
	{ "supply", 6, 6, supply },
	{ "fetch", 5, 5, fetch },
	{ "claim", 5, 5, claim_one },
	{ "has", 2, 2, claim_has },
	{ "ack", 3, 3, claim_end },
	{ "requeue", 3, 3, claim_end },
	{ "unclaim", 2, 2, claim_end },
};

static void answer(char *line)
{
	char *words[MAX_WORDS] = { NULL };
	char *rest = NULL;
	char *word;
	int n = 0;

	reply[0] = '\0';
	for (word = strtok_r(line, " \n", &rest); word && n < MAX_WORDS;
		word = strtok_r(NULL, " \n", &rest))
		words[n++] = word;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (n > 0 && n >= commands[i].words && n <= commands[i].most &&
			strcmp(words[0], commands[i].word) == 0)
			commands[i].run(words);
	puts(reply[0] != '\0' ? reply : "error what is that");
}

static int connect_to(const char *hosts, const char *session_ms)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_session session = KUSTOS_SESSION_INIT;

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
		holds_end(&locks[i]);
		kustos_mutex_destroy(locks[i].mutex);
		kustos_rwlock_destroy(locks[i].rw);
		election_end(&locks[i]);
		leases_end(&locks[i]);
		barriers_end(&locks[i]);
		store_end(&locks[i]);
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
