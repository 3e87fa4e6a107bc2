/*
 * test_queue_killed.c - all that is put is delivered, although those who take
 * it are killed, and stopped for longer than their sessions.
 *
 * Threads of the test put items.  Processes take them, and report each item
 * before they do anything else with it, so that the items of killed processes
 * are known, too.  Meanwhile connections and the server fail, as in
 * test_queue_storm.c.  Each kind of fault happens at least once.
 *
 * KILLED_STORMS sets how often this is run (1), KILLED_ITEMS with how many
 * items (600), KILLED_STRIKES with how many faults (20, which are enough for each
 * kind to have its turn), and KILLED_SEED the random seed.
 */
#include "child.h"
#include "claim_fixture.h"
#include "process.h"
#include "queue_storm.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 2000
#define PUTTERS 2
#define TAKERS 3  /* at a time */
#define LIVES 400 /* of them, one after the other */
#define SPARE 40  /* there may be more faults than wanted */
#define ITEMS_MAX 100000

struct life { /* of a process that takes */
	struct child child;
	pthread_t reader;
	bool out; /* it was killed */
	int said; /* lines that it wrote */
};

struct putter {
	struct kustos_client *client;
	struct kustos_queue *queue;
	pthread_t thread;
	int begin, from, to;
};

struct fate {		       /* of an item */
	int had;	       /* how often it was delivered */
	int done;	       /* how many acks were reported as done */
	int64_t last, done_by; /* tokens: the greatest, and that of the ack */
};

static struct life lives[LIVES];
static int life_count, lives_made;
static struct putter putters[PUTTERS];
static struct fate fates[ITEMS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the fates */
static int items, left_to_put, delivered;
static int strikes, strikes_wanted, kills, short_pauses, long_pauses;

/* In a process that takes */

static struct kustos_client *child_client(int fd)
{
	char address[64];

	if (child_hear(fd, address, sizeof(address), 100 * PATIENCE_MS) != 0)
		exit(0); /* it was not needed */
	struct kustos_client_options o = client_options(address, T_MS);
	o.retry = kustos_retry_forever(5);
	return client_open_with(&o);
}

/* A process that has just been started may have had no connection yet.  Then the
   server may know of a session that the client does not know of. */
static void child_close(struct kustos_client *own)
{
	client_wait(own, KUSTOS_STATE_CONNECTED, PATIENCE_MS);
	client_close(own);
}

/* Return whether it was told to end. */
static bool is_told(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

/* Take an item and report which one.  Returns whether there was one. */
static bool take_one(int fd, struct kustos_queue *q, kustos_deadline deadline)
{
	struct kustos_item *item = NULL;
	char line[16];

	if (kustos_queue_poll(q, deadline, NULL, &item) != KUSTOS_OK)
		return false;
	snprintf(line, sizeof(line), "t %.8s", (const char *)item->data);
	kustos_item_free(item);
	(void)child_say(fd, line);
	return true;
}

/* At most once: an item that was taken is gone. */
static int take_them(int fd, void *arg)
{
	struct kustos_client *own = child_client(fd);
	struct kustos_queue *q = queue_new(own);

	(void)arg;
	while (!is_told(fd))
		(void)take_one(fd, q, kustos_after_ms(50));
	check_err(kustos_queue_flush(q, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	while (take_one(fd, q, KUSTOS_NOW)) {
	}
	kustos_queue_destroy(q);
	child_close(own);
	return 0;
}

/* At least once: an item that was claimed and not acknowledged is available
   again. */
static int claim_them(int fd, void *arg)
{
	struct kustos_client *own = child_client(fd);
	struct kustos_claims *from = claims_new(own, QUEUE, NULL);
	struct kustos_claim *claim;
	char line[64];

	(void)arg;
	while (!is_told(fd)) {
		if (kustos_claim_next(from, kustos_after_ms(50), NULL,
			    &claim) != KUSTOS_OK)
			continue;
		int number = atoi(kustos_claim_item(claim)->data);
		long long token = kustos_hold_token(kustos_claim_hold(claim));
		snprintf(line, sizeof(line), "c %d %lld", number, token);
		(void)child_say(fd, line);
		storm_pause_ms(number % 10); /* its work */
		if (kustos_claim_ack(claim, KUSTOS_FOREVER, NULL) != KUSTOS_OK)
			continue;
		snprintf(line, sizeof(line), "a %d %lld", number, token);
		(void)child_say(fd, line);
	}
	kustos_claims_destroy(from);
	child_close(own);
	return 0;
}

/* What the processes report */

static void was_delivered(int number)
{
	ck_assert_int_ge(number, 0);
	ck_assert_int_lt(number, items);
	if (fates[number].had++ == 0)
		delivered++;
}

static void note(struct life *life, const char *line)
{
	int number;
	long long token = 0;

	ck_assert_int_ge(sscanf(line + 1, "%d %lld", &number, &token), 1);
	life->said++;
	if (line[0] != 'a') {
		was_delivered(number);
		if (token > fates[number].last)
			fates[number].last = token;
	} else {
		fates[number].done++;
		fates[number].done_by = token;
	}
}

/* Read until the process ends. */
static void *reading(void *arg)
{
	struct life *life = arg;
	char line[128];

	while (child_hear(life->child.fd, line, sizeof(line), PATIENCE_MS) ==
		0) {
		pthread_mutex_lock(&lock);
		note(life, line);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static struct life *next_life(void)
{
	struct life *life = &lives[life_count++];

	ck_assert_int_le(life_count, lives_made);
	ck_assert_int_eq(child_say(life->child.fd, proxy_address(proxy)), 0);
	ck_assert_int_eq(pthread_create(&life->reader, NULL, reading, life), 0);
	return life;
}

/* The threads that put */

static void *putting(void *arg)
{
	struct putter *p = arg;
	char text[12];

	while (p->from < p->to) {
		snprintf(text, sizeof(text), "%d", p->from);
		check_err(kustos_queue_put(p->queue, text, strlen(text),
				  KUSTOS_FOREVER, NULL),
			KUSTOS_OK);
		p->from++;
		__atomic_sub_fetch(&left_to_put, 1, __ATOMIC_SEQ_CST);
		/* Spread the faults over all items. */
		while (__atomic_load_n(&strikes, __ATOMIC_SEQ_CST) <
			strikes_wanted * (int64_t)(p->from - p->begin) /
				(p->to - p->begin))
			test_pause_1ms();
	}
	return NULL;
}

static void begin_to_put(void)
{
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);

	o.retry = kustos_retry_forever(5);
	left_to_put = items;
	for (int i = 0; i < PUTTERS; i++) {
		struct putter *p = &putters[i];

		p->client = client_open_with(&o);
		p->queue = queue_new(p->client);
		p->from = p->begin = items * i / PUTTERS;
		p->to = items * (i + 1) / PUTTERS;
		ck_assert_int_eq(pthread_create(&p->thread, NULL, putting, p),
			0);
	}
}

static void end_putting(void)
{
	for (int i = 0; i < PUTTERS; i++) {
		pthread_join(putters[i].thread, NULL);
		kustos_queue_destroy(putters[i].queue);
		client_close(putters[i].client);
	}
}

/* What happens to the processes */

/* Return one that is alive. */
static struct life *some_life(unsigned *seed)
{
	struct life *life;

	do
		life = &lives[(unsigned)rand_r(seed) % (unsigned)life_count];
	while (life->out);
	return life;
}

static void kill_one(unsigned *seed)
{
	struct life *life = some_life(seed);

	process_kill(life->child.pid);
	life->out = true;
	kills++;
	(void)next_life();
}

static void stop_one(unsigned *seed, bool is_long)
{
	struct life *life = some_life(seed);

	ck_assert_int_eq(process_pause(life->child.pid), 0);
	storm_pause_ms(is_long ? 5 * T_MS / 4 : T_MS / 4);
	ck_assert_int_eq(process_resume(life->child.pid), 0);
	*(is_long ? &long_pauses : &short_pauses) += 1;
}

enum strike_kind { STOP, STOP_LONG, OTHER, KILL };
#define IN_TURN (OTHER + STORM_KINDS)

/* First a fault of each kind, with a kill before each, and then random ones. */
static void strike(unsigned *seed)
{
	static const enum strike_kind some[] = { KILL, KILL, KILL, STOP_LONG,
		STOP, OTHER, OTHER, OTHER };
	enum strike_kind kind = some[(unsigned)rand_r(seed) % 8];

	if (strikes < 2 * IN_TURN && strikes % 2 == 0)
		kind = KILL;
	else if (strikes < 2 * IN_TURN)
		kind = strikes / 2 < OTHER ? (enum strike_kind)(strikes / 2)
					   : OTHER;
	if (kind == KILL)
		kill_one(seed);
	else if (kind == OTHER)
		storm_strike(seed, T_MS);
	else
		stop_one(seed, kind == STOP_LONG);
}

static int delivered_now(void)
{
	pthread_mutex_lock(&lock);
	int count = delivered;
	pthread_mutex_unlock(&lock);
	return count;
}

/* Let the living ones end by themselves, and read all their reports. */
static void end_taking(void)
{
	for (int i = 0; i < life_count; i++) {
		struct life *life = &lives[i];

		if (!life->out) {
			(void)child_say(life->child.fd, "end");
			ck_assert_int_eq(child_wait(&life->child, PATIENCE_MS),
				0);
		}
		pthread_join(life->reader, NULL);
	}
}

static void blow(const char *what, int loop)
{
	unsigned seed = (unsigned)(storm_setting("KILLED_SEED", 1) + loop);

	begin_to_put();
	for (int i = 0; i < TAKERS; i++)
		(void)next_life();
	while (__atomic_load_n(&left_to_put, __ATOMIC_SEQ_CST) > 0) {
		strike(&seed);
		__atomic_add_fetch(&strikes, 1, __ATOMIC_SEQ_CST);
	}
	printf("%s: %d items, %d strikes, %d killed, %d stood still for long, "
	       "%d for a moment\n",
		what, items, strikes, kills, long_pauses, short_pauses);
	storm_end();
	ck_assert(kills > 0 && long_pauses > 0 && short_pauses > 0);
	end_putting();
	test_eventually(queue_count() == 0, PATIENCE_MS);
	end_taking();
	printf("%d delivered\n", delivered_now());
}

/* Return how many deeds a receipt stands for: its version, less the versions
   that were used up, the number of which is in its data. */
static int deeds_of(struct raw *raw, const char *path)
{
	struct raw_stat stat;
	char data[64];

	ck_assert_int_eq(raw_do_get(raw, path, data, sizeof(data), &stat), 0);
	const char *used_up = strchr(data, '-');
	return stat.version - (used_up != NULL ? atoi(used_up + 1) : 0);
}

/* Return how much the killed processes took, by their receipts; no other
   receipts are left. */
static int taken_by_the_killed(void)
{
	struct raw *raw = raw_open(fixture_address(), T_MS);
	struct raw_names names;
	char path[128];
	int sum = 0;

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_children(raw, RECEIPTS, &names), 0);
	for (int i = 0; i < names.count; i++) {
		snprintf(path, sizeof(path), "%s/%s", RECEIPTS, names.names[i]);
		sum += deeds_of(raw, path);
	}
	raw_names_free(&names);
	raw_close(raw);
	return sum;
}

START_TEST(S15_who_is_killed_takes_along_what_it_had_and_nothing_else)
{
	int missing = 0, said = 0;

	blow("at most once", _i);
	for (int i = 0; i < items; i++) {
		ck_assert_msg(fates[i].had <= 1, "%d: taken %d times", i,
			fates[i].had);
		missing += fates[i].had == 0;
	}
	for (int i = 0; i < life_count; i++)
		said += lives[i].out ? lives[i].said : 0;
	printf("%d were taken by who was killed then\n", missing);
	ck_assert_int_eq(missing, taken_by_the_killed() - said);
}
END_TEST

START_TEST(S16_who_is_killed_gives_back_what_it_had_claimed)
{
	int again = 0, told = 0;

	blow("at least once", _i);
	for (int i = 0; i < items; i++) {
		const struct fate *fate = &fates[i];

		ck_assert_msg(fate->had >= 1, "%d: never delivered", i);
		ck_assert_msg(fate->done <= 1, "%d: acknowledged %d times", i,
			fate->done);
		ck_assert_msg(fate->done == 0 || fate->done_by == fate->last,
			"%d: was another's when it was acknowledged", i);
		again += fate->had > 1;
		told += fate->done;
	}
	printf("%d came again, %d acks were told to be done\n", again, told);
	ck_assert_int_eq(claim_marks(), 0);
	/* The other answers were lost with a death, of the process or of the
	   server. */
	ck_assert_int_ge(told, items - 2 * (kills + strikes));
}
END_TEST

static void set_up(int (*run)(int fd, void *arg))
{
	memset(fates, 0, sizeof(fates));
	memset(lives, 0, sizeof(lives));
	life_count = delivered = strikes = 0;
	kills = short_pauses = long_pauses = 0;
	strikes_wanted = storm_setting("KILLED_STRIKES", 20);
	items = storm_setting("KILLED_ITEMS", 600);
	ck_assert_int_le(items, ITEMS_MAX);
	lives_made = TAKERS + strikes_wanted + SPARE;
	ck_assert_int_le(lives_made, LIVES);
	for (int i = 0; i < lives_made; i++)
		ck_assert_int_eq(child_start(&lives[i].child, run, NULL), 0);
	(void)pair_proxy(T_MS);
	storm_begin();
}

static void set_up_takers(void)
{
	set_up(take_them);
}

static void set_up_claimers(void)
{
	set_up(claim_them);
}

static void tear_down(void)
{
	for (int i = 0; i < lives_made; i++)
		child_end(&lives[i].child);
	proxy_free(proxy);
	proxy = NULL;
}

int main(void)
{
	Suite *s = suite_create("queue, killed consumers");
	TCase *t = fixture_case(s, "at most once", 120);
	int storms = storm_setting("KILLED_STORMS", 1);

	tcase_add_checked_fixture(t, set_up_takers, tear_down);
	tcase_add_loop_test(t,
		S15_who_is_killed_takes_along_what_it_had_and_nothing_else, 0,
		storms);
	t = fixture_case(s, "at least once", 120);
	tcase_add_checked_fixture(t, set_up_claimers, tear_down);
	tcase_add_loop_test(t, S16_who_is_killed_gives_back_what_it_had_claimed,
		0, storms);
	return fixture_main(s);
}
