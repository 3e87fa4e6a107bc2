/*
 * demo.c - eight processes want one lock.
 *
 * Starts a ZooKeeper server of its own and eight processes that lock and unlock
 * as fast as they can.  Prints how many locks there were, how long the
 * processes waited, how evenly the locks were distributed, and whether there
 * ever were two holders at a time.  Where Curator is installed, its figures on
 * the same server are printed beside them.  The exit code is 0 only if all was
 * as it should be.
 *
 *	kustos-demo [SECONDS]		how long locks are counted; 3
 */
#include "demo.h"
#include "fairness.h"

#include <kustos/client.h>
#include <kustos/mutex.h>

#include "support/child.h"
#include "support/net.h"
#include "support/server.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH "/demo/kustos"
#define PATIENCE_MS 10000
#define SECONDS 3 /* unless told */
#define MOST_SECONDS 60
#define MAX_WAITS 100000 /* remembered, of each process */

enum phase { WARM, COUNT, STOP };

/* What all processes share.  Nothing but the lock under test guards the fields
   that are not atomic. */
struct board {
	struct demo_time time;
	atomic_int phase;
	volatile int64_t counter;
	volatile int64_t token; /* of the last holder */
	atomic_int inside;
	atomic_int overlaps; /* somebody else was inside as well */
	atomic_int stale;    /* a token was not greater than the last */
	struct worker {
		struct board *board;
		const char *address;
		atomic_long locks; /* in all */
		atomic_long counted;
		uint32_t waits_us[MAX_WAITS]; /* of those counted */
	} workers[DEMO_WORKERS];
};

static int complain(const char *what, enum kustos_err err)
{
	fprintf(stderr, "kustos-demo: %s: %s\n", what, kustos_strerror(err));
	return 1;
}

/* --- A process that wants the lock ---------------------------------------- */

/* What the lock has to protect: each step would go wrong with two in here. */
static void use(struct board *board, int64_t token)
{
	if (atomic_fetch_add(&board->inside, 1) != 0)
		atomic_fetch_add(&board->overlaps, 1);
	if (token <= board->token)
		atomic_fetch_add(&board->stale, 1);
	board->token = token;
	board->counter = board->counter + 1;
	atomic_fetch_sub(&board->inside, 1);
}

static enum kustos_err lock_once(struct worker *me, struct kustos_mutex *mutex)
{
	bool counts = atomic_load(&me->board->phase) == COUNT;
	int64_t begin = test_now_us();
	enum kustos_err err = kustos_mutex_lock(mutex,
		kustos_after_ms(PATIENCE_MS), NULL);

	if (err != KUSTOS_OK)
		return err;
	int64_t waited = test_now_us() - begin;
	use(me->board, kustos_mutex_token(mutex));
	err = kustos_mutex_unlock(mutex);
	atomic_fetch_add(&me->locks, 1);
	if (counts && atomic_load(&me->board->phase) == COUNT) {
		long n = atomic_fetch_add(&me->counted, 1);

		if (n < MAX_WAITS)
			me->waits_us[n] = (uint32_t)waited;
	}
	return err;
}

static enum kustos_err contend(struct worker *me, struct kustos_client *client,
	int fd)
{
	struct kustos_mutex *mutex;
	enum kustos_err err = kustos_client_wait_connected(client,
		kustos_after_ms(PATIENCE_MS), NULL);

	if (err == KUSTOS_OK)
		err = kustos_mutex_create(client, PATH, NULL, &mutex);
	if (err != KUSTOS_OK)
		return err;
	child_say(fd, "ready");
	while (err == KUSTOS_OK && atomic_load(&me->board->phase) != STOP)
		err = lock_once(me, mutex);
	kustos_mutex_destroy(mutex);
	return err;
}

static int work(int fd, void *arg)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct worker *me = arg;
	struct kustos_client *client;

	options.hosts = me->address;
	enum kustos_err err = kustos_client_open(&options, &client);
	if (err != KUSTOS_OK)
		return complain("open", err);
	err = contend(me, client, fd);
	if (err != KUSTOS_OK)
		complain("a process", err);
	if (kustos_client_close(client, kustos_after_ms(2000), NULL) !=
		KUSTOS_OK)
		return 1;
	return err == KUSTOS_OK ? 0 : 1;
}

/* --- The one that watches them -------------------------------------------- */

static long counted(const struct board *board)
{
	long sum = 0;

	for (int i = 0; i < DEMO_WORKERS; i++)
		sum += atomic_load(&board->workers[i].counted);
	return sum;
}

static void pause_until(int64_t at_ms)
{
	while (test_now_ms() < at_ms)
		test_pause_1ms();
}

/* Show the progress: on a terminal in one line that is redrawn, else in a line
   each second. */
static void watch(const struct board *board, int64_t begin_ms)
{
	int all_ms = board->time.ms;
	bool live = isatty(STDOUT_FILENO);
	int step_ms = live ? 100 : 1000;
	char bar[33];

	for (int ms = step_ms; ms <= all_ms; ms += step_ms) {
		pause_until(begin_ms + ms);
		long n = counted(board);
		int full = ms * (int)(sizeof(bar) - 1) / all_ms;

		memset(bar, '.', sizeof(bar));
		memset(bar, '#', (size_t)full);
		bar[sizeof(bar) - 1] = '\0';
		printf("%s  %s  %4.1f s  %6ld locks  %5ld a second%s",
			live ? "\r" : "", bar, ms / 1000.0, n, n * 1000 / ms,
			live ? "" : "\n");
		fflush(stdout);
	}
	if (live)
		putchar('\n');
}

/* Wait until all are connected, and each has had the lock. */
static bool gather(struct board *board, struct child *children)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	for (int i = 0; i < DEMO_WORKERS; i++)
		if (!child_expect(children[i].fd, "ready", PATIENCE_MS))
			return false;
	for (int i = 0; i < DEMO_WORKERS; i++)
		while (atomic_load(&board->workers[i].locks) == 0) {
			if (test_now_ms() > end)
				return false;
			test_pause_1ms();
		}
	pause_until(test_now_ms() + board->time.lead_ms);
	return true;
}

/* Run the contest.  Returns for how many milliseconds locks were counted, 0 if
   something failed. */
static int64_t let_contend(struct board *board, const char *address)
{
	struct child children[DEMO_WORKERS];
	int64_t begin = 0;
	int64_t took = 0;
	int n = 0;
	bool ok = true;

	for (; n < DEMO_WORKERS && ok; n++) {
		board->workers[n].board = board;
		board->workers[n].address = address;
		ok = child_start(&children[n], work, &board->workers[n]) == 0;
	}
	n -= !ok;
	ok = ok && gather(board, children);
	if (ok) {
		begin = test_now_ms();
		atomic_store(&board->phase, COUNT);
		watch(board, begin);
		took = test_now_ms() - begin;
	}
	atomic_store(&board->phase, STOP);
	for (int i = 0; i < n; i++) {
		ok = child_wait(&children[i], PATIENCE_MS) == 0 && ok;
		child_end(&children[i]);
	}
	return ok ? took : 0;
}

/* --- What came of it ------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Return the wait, in milliseconds, that "percent" in a hundred waits did not
   exceed. */
static double percentile(const uint32_t *sorted, size_t n, size_t percent)
{
	size_t at = (n - 1) * percent / 100;

	return sorted[at] / 1000.0;
}

static void measure_waits(const struct board *board, struct demo_figures *f)
{
	uint32_t *all = malloc(
		sizeof(board->workers[0].waits_us) * DEMO_WORKERS);
	size_t n = 0;

	if (all == NULL)
		return;
	for (int i = 0; i < DEMO_WORKERS; i++) {
		long here = atomic_load(&board->workers[i].counted);

		for (long j = 0; j < here && j < MAX_WAITS; j++)
			all[n++] = board->workers[i].waits_us[j];
	}
	qsort(all, n, sizeof(*all), by_size);
	if (n > 0) {
		f->p50_ms = percentile(all, n, 50);
		f->p90_ms = percentile(all, n, 90);
		f->p99_ms = percentile(all, n, 99);
		f->max_ms = percentile(all, n, 100);
	}
	free(all);
}

static void measure(const struct board *board, int64_t took_ms,
	struct demo_figures *f)
{
	double shares[DEMO_WORKERS], sum = 0;

	f->fewest = (double)counted(board);
	f->most = 0;
	for (int i = 0; i < DEMO_WORKERS; i++) {
		double n = (double)atomic_load(&board->workers[i].counted);

		shares[i] = n;
		sum += n;
		f->fewest = n < f->fewest ? n : f->fewest;
		f->most = n > f->most ? n : f->most;
	}
	f->per_second = sum * 1000 / (double)took_ms;
	f->handoff_ms = sum > 0 ? (double)took_ms / sum : -1;
	f->jain = fairness_jain(shares, DEMO_WORKERS);
	measure_waits(board, f);
}

static void cell(double value, int digits, const char *unit)
{
	char text[32] = "-";

	if (value >= 0)
		snprintf(text, sizeof(text), "%.*f%s", digits, value, unit);
	printf("%14s", text);
}

static void row(const char *what, int digits, const char *unit, double ours,
	const double *theirs)
{
	printf("  %-34s", what);
	cell(ours, digits, unit);
	if (theirs != NULL)
		cell(*theirs, digits, unit);
	putchar('\n');
}

#define ROW(what, digits, unit, field)       \
	row(what, digits, unit, ours->field, \
		theirs != NULL ? &theirs->field : NULL)

static void show(const struct demo_figures *ours,
	const struct demo_figures *theirs)
{
	printf("\n  %-34s%14s%s\n", "", "Kustos",
		theirs != NULL ? "       Curator" : "");
	ROW("locks per second", 0, "", per_second);
	ROW("time per hand-over", 2, " ms", handoff_ms);
	ROW("wait: median", 2, " ms", p50_ms);
	ROW("  90th percentile", 2, " ms", p90_ms);
	ROW("  99th percentile", 2, " ms", p99_ms);
	ROW("  maximum", 2, " ms", max_ms);
	ROW("locks per process: minimum", 0, "", fewest);
	ROW("  maximum", 0, "", most);
	ROW("fairness (Jain's index; 1 is even)", 4, "", jain);
	if (theirs != NULL)
		printf("\n  These ran once, one after the other.  \"make "
		       "bench\" compares in several\n  rounds, in turn.\n");
	putchar('\n');
}

/* Print whether the lock has excluded others.  Returns whether all is well. */
static bool verify(const struct board *board)
{
	long locks = 0;
	bool served = true;

	for (int i = 0; i < DEMO_WORKERS; i++) {
		locks += atomic_load(&board->workers[i].locks);
		served = served && atomic_load(&board->workers[i].counted) > 0;
	}
	printf("  after %ld locks a counter that nothing else guards is at "
	       "%" PRId64 "\n"
	       "  two holders at a time: %d times; a token that did not grow: "
	       "%d times\n",
		locks, board->counter, atomic_load(&board->overlaps),
		atomic_load(&board->stale));
	return served && locks == board->counter &&
		atomic_load(&board->overlaps) == 0 &&
		atomic_load(&board->stale) == 0;
}

static int demo(struct server *server, struct board *board)
{
	const struct demo_figures unknown = { -1, -1, -1, -1, -1, -1, -1, -1,
		-1 };
	struct demo_figures ours = unknown, theirs = unknown;
	const char *address = server_address(server);
	const char *why = demo_curator_missing();

	printf("\nKustos: %d processes, one lock\n", DEMO_WORKERS);
	fflush(stdout);
	int64_t took = let_contend(board, address);
	if (took == 0) {
		fprintf(stderr, "kustos-demo: a process failed\n");
		return 1;
	}
	measure(board, took, &ours);
	if (why == NULL) {
		printf("\nCurator: %d threads with a session each, one lock\n",
			DEMO_WORKERS);
		fflush(stdout);
		why = demo_curator(address, server_dir(server), board->time,
			&theirs);
	}
	show(&ours, why == NULL ? &theirs : NULL);
	bool held = verify(board);
	if (why != NULL)
		printf("\n  note: no figures of Curator beside ours: %s\n",
			why);
	return held ? 0 : 1;
}

/* Return the time that "argv" asks for; 0 ms if it is not understood. */
static struct demo_time time_asked(int argc, char **argv)
{
	long seconds = SECONDS;
	char *end = NULL;

	if (argc > 1)
		seconds = strtol(argv[1], &end, 10);
	if (argc > 2 || (end != NULL && *end != '\0') || seconds < 1 ||
		seconds > MOST_SECONDS)
		seconds = 0;
	return (struct demo_time){ .ms = (int)seconds * 1000,
		.lead_ms = (int)seconds * 1000 / 3 };
}

int main(int argc, char **argv)
{
	/* As a server is shipped: it writes to the disk before it answers. */
	static const struct server_options durable = {
		.jvm = "-Dzookeeper.forceSync=yes",
	};
	const struct demo_time asked = time_asked(argc, argv);
	const char *missing = server_missing();

	if (asked.ms == 0) {
		fprintf(stderr, "usage: kustos-demo [SECONDS], 1 to %d\n",
			MOST_SECONDS);
		return 2;
	}
	if (missing != NULL) {
		fprintf(stderr, "kustos-demo: %s\n", missing);
		return 1;
	}
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) {
		perror("kustos-demo");
		return 1;
	}
	board->time = asked;
	printf("Starting a ZooKeeper server of our own\n");
	fflush(stdout);
	struct server *server = server_start(&durable);
	if (server == NULL)
		return 1;
	int rc = demo(server, board);
	server_free(server);
	munmap(board, sizeof(*board));
	printf("\n%s\n",
		rc == 0 ? "All as it should be."
			: "Something was not as it should be.");
	return rc;
}
