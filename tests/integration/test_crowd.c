/*
 * test_crowd.c - a double barrier with many processes as members, some of which
 * are killed, in each phase in turn: no member hangs, and none passes too
 * early.
 *
 * Each member is a process with a session of its own.  It reports when it
 * begins to enter and to leave, and when it has done so, with the time of one
 * common clock, so that a late report is judged by its time.  In each round one
 * member is held back until all others wait.  Some of these are killed (-9),
 * and new processes take their places.
 *
 * "make check" runs a few members and rounds.  By hand:
 *	CROWD_MEMBERS=50 CROWD_ROUNDS=200 tests/integration/test_crowd
 */
#include <kustos/barrier.h>
#include <kustos/client.h>

#include "child.h"
#include "fixture.h"
#include "raw.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATH "/crowd/step"
#define SESSION_MS 4000
#define MOST 100
#define HANG_MS 120000 /* what takes longer hangs */

enum phase {
	BEFORE,	     /* a member is killed before it enters */
	WAITING,     /* as it waits for the others to come */
	PASSING_IN,  /* about when the last member comes */
	INSIDE,	     /* while all are in */
	LEAVING,     /* as it waits for the others to leave */
	PASSING_OUT, /* when the last one leaves */
	PHASES
};

static const char *const phase_names[] = { "before it enters",
	"waiting in enter", "as all go in", "inside", "waiting in leave",
	"as all go out" };

static int member_count = 12, round_count = PHASES;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A member, in a process of its own */

static void say(int fd, char what)
{
	char line[40];

	snprintf(line, sizeof(line), "%c %" PRId64, what, now_ns());
	if (child_say(fd, line) != 0)
		_Exit(1);
}

static int obey(int fd, struct kustos_double_barrier *step)
{
	char line[40];
	enum kustos_err err;

	say(fd, 'r');
	for (;;) {
		if (child_hear(fd, line, sizeof(line), 1000000) != 0)
			return 1;
		say(fd, line[0] == 'e' ? 'e' : 'l');
		err = line[0] == 'e' ? kustos_double_barrier_enter(step,
					       KUSTOS_FOREVER, NULL)
				     : kustos_double_barrier_leave(step,
					       KUSTOS_FOREVER, NULL);
		if (line[0] == 'e' && err == KUSTOS_OK)
			say(fd, 'i');
		else if (line[0] != 'e' && err == KUSTOS_OK)
			say(fd, 'o');
		else if (err == KUSTOS_ELOST)
			say(fd, 'x');
		else
			return 1;
	}
}

static int member(int fd, void *arg)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_double_barrier *step = NULL;
	struct kustos_client *client = NULL;

	(void)arg;
	o.hosts = fixture_address();
	o.session_timeout_ms = SESSION_MS;
	o.retry = kustos_retry_forever(20);
	if (kustos_client_open(&o, &client) != KUSTOS_OK ||
		kustos_client_wait_connected(client, kustos_after_ms(HANG_MS),
			NULL) != KUSTOS_OK ||
		kustos_double_barrier_create(client, PATH, member_count, NULL,
			&step) != KUSTOS_OK)
		return 1;
	return obey(fd, step);
}

/* The controller, in the test's process, which has no client */

struct life {
	struct child child;
	bool ready, dead;
	bool lost; /* its session ended though it was not killed */

	/* Of this round; 0: not yet. */
	bool sent;
	int64_t e, i, l, o;
};

static struct life lives[MOST];

/* The members that were killed in this round. */
static struct {
	int64_t e, at;
	bool counted; /* it was in, or may have been, and was not yet leaving */
} dead[MOST];
static int dead_count;

static struct {
	int killed[PHASES], lost;
	int64_t in_ns,
		out_ns; /* the longest, after the last member came or left */
	int64_t out_after_death_ns;
} figures;

/* A random number below "n", in the same sequence in each run. */
static int choose(int n)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)(state % (uint64_t)n);
}

static void spawn(int m)
{
	memset(&lives[m], 0, sizeof(lives[m]));
	ck_assert_int_eq(child_start(&lives[m].child, member, NULL), 0);
}

static void hear(struct life *life)
{
	char line[40];
	int64_t at;

	ck_assert_int_eq(
		child_hear(life->child.fd, line, sizeof(line), HANG_MS), 0);
	at = strtoll(line + 1, NULL, 10);
	switch (line[0]) {
	case 'r':
		life->ready = true;
		break;
	case 'e':
		life->e = at;
		break;
	case 'i':
		life->i = at;
		break;
	case 'l':
		life->l = at;
		break;
	case 'x':
		life->lost = true;
		figures.lost++; /* fall through */
	default:
		life->o = at;
	}
}

/* Read the members' reports for a moment. */
static void pump(int ms)
{
	struct pollfd fds[MOST];

	for (int m = 0; m < member_count; m++)
		fds[m] = (struct pollfd){ lives[m].dead ? -1
							: lives[m].child.fd,
			POLLIN, 0 };
	(void)poll(fds, (nfds_t)member_count, ms);
	for (int m = 0; m < member_count; m++)
		if (fds[m].revents != 0)
			hear(&lives[m]);
}

static void tell(int m, const char *what)
{
	if (!lives[m].dead)
		ck_assert_int_eq(child_say(lives[m].child.fd, what), 0);
}

static void enter(int m)
{
	if (!lives[m].sent)
		tell(m, "enter");
	lives[m].sent = true;
}

/* Wait until "so" is true of all living members except "but". */
static void await(bool (*so)(const struct life *life), int but,
	const char *what)
{
	int64_t end = now_ns() + HANG_MS * INT64_C(1000000);

	for (;;) {
		int missing = 0;

		for (int m = 0; m < member_count; m++)
			missing += m != but && !lives[m].dead && !so(&lives[m]);
		if (missing == 0)
			return;
		ck_assert_msg(now_ns() < end, "%d are not %s", missing, what);
		pump(100);
	}
}

static bool is_ready(const struct life *life)
{
	return life->ready;
}

static bool has_come(const struct life *life)
{
	return life->e != 0;
}

static bool is_in(const struct life *life)
{
	return life->i != 0;
}

static bool goes(const struct life *life)
{
	return life->l != 0;
}

static bool is_out(const struct life *life)
{
	return life->o != 0;
}

/* Return how many nodes of members the server has. */
static int nodes(void)
{
	struct raw_names names;
	int count = 0;

	if (raw_children(fixture_address(), PATH, &names) != 0)
		return 0;
	for (int i = 0; i < names.count; i++)
		count += strcmp(names.names[i], "ready") != 0;
	raw_names_free(&names);
	return count;
}

static void await_nodes(int least, int most)
{
	int64_t end = now_ns() + HANG_MS * INT64_C(1000000);
	int count;

	while ((count = nodes()) < least || count > most) {
		ck_assert_msg(now_ns() < end, "%d nodes, not %d to %d", count,
			least, most);
		pump(5);
	}
}

/* Kill a few members, but not "but", and leave one more. */
static void kill_some(int but, enum phase phase)
{
	int most = member_count / 8 < 3 ? member_count / 8 : 3;
	int count = 1 + choose(most > 0 ? most : 1);

	for (int i = 0; i < count && dead_count < member_count - 2; i++) {
		int m = choose(member_count);

		while (m == but || lives[m].dead)
			m = choose(member_count);
		child_end(&lives[m].child);
		lives[m].dead = true;
		figures.killed[phase]++;
		dead[dead_count].e = lives[m].e;
		dead[dead_count].counted = phase == PASSING_IN ||
			phase == INSIDE;
		dead[dead_count++].at = now_ns();
	}
}

/* Start new members in the places of the dead. */
static void replace(void)
{
	for (int m = 0; m < member_count; m++)
		if (lives[m].dead)
			spawn(m);
	await(is_ready, -1, "ready");
}

/* A dead member may be taken for alive for at most this long. */
#define GHOST_NS ((SESSION_MS + 2000) * INT64_C(1000000))

/* No member was in before enough members had come that were alive. */
static void check_in(int64_t released)
{
	for (int m = 0; m < member_count; m++) {
		const struct life *life = &lives[m];
		int there = 0;

		if (life->dead)
			continue;
		for (int k = 0; k < member_count; k++)
			there += !lives[k].dead && lives[k].e != 0 &&
				lives[k].e <= life->i;
		for (int k = 0; k < dead_count; k++)
			there += dead[k].e != 0 && dead[k].e <= life->i &&
				life->i < dead[k].at + GHOST_NS;
		ck_assert_msg(there >= member_count,
			"one was in when %d had come", there);
		ck_assert_msg(life->i >= released,
			"one was in before the last came");
		if (life->i - released > figures.in_ns)
			figures.in_ns = life->i - released;
	}
}

/* No member was out before all of the round had begun to leave or had lost
   their sessions.  For a dead member half a session timeout is certain: it may
   have sent its last request well before its death. */
static void check_out(int64_t released)
{
	int64_t least = released, deaths = 0;

	for (int k = 0; k < dead_count; k++)
		if (dead[k].counted && dead[k].at > deaths)
			deaths = dead[k].at;
	for (int m = 0; m < member_count; m++) {
		const struct life *life = &lives[m];

		if (life->dead || life->lost)
			continue;
		ck_assert_msg(life->o >= least,
			"one was out before the last went");
		ck_assert_msg(deaths == 0 ||
				life->o >= deaths + SESSION_MS * 500000,
			"one was out while another's session lived");
		if (deaths == 0 && life->o - released > figures.out_ns)
			figures.out_ns = life->o - released;
		if (deaths != 0 &&
			life->o - deaths > figures.out_after_death_ns)
			figures.out_after_death_ns = life->o - deaths;
	}
}

static void go_in(enum phase phase)
{
	int last = choose(member_count);
	int64_t released;

	if (phase == BEFORE) {
		kill_some(last, phase);
		replace();
	}
	for (int m = 0; m < member_count; m++)
		if (m != last)
			enter(m);
	await(has_come, last, "coming");
	await_nodes(member_count - 1, member_count - 1);
	if (phase == WAITING) {
		kill_some(last, phase);
		/* Each dead member counts until its session has ended. */
		await_nodes(0, member_count - 1 - dead_count);
		replace();
		for (int m = 0; m < member_count; m++)
			if (m != last)
				enter(m);
		await_nodes(member_count - 1, member_count - 1);
	}
	if (phase == PASSING_IN && choose(2) == 0)
		kill_some(last, phase);
	released = now_ns();
	enter(last);
	if (phase == PASSING_IN) {
		pump(choose(10));
		kill_some(last, phase);
	}
	await(is_in, -1, "in");
	check_in(released);
	if (phase == INSIDE)
		kill_some(-1, phase);
}

static void go_out(enum phase phase)
{
	int last = choose(member_count);
	int64_t released;

	while (lives[last].dead)
		last = choose(member_count);
	for (int m = 0; m < member_count; m++)
		if (m != last)
			tell(m, "leave");
	await(goes, last, "leaving");
	if (phase == LEAVING) {
		/* The member with the lowest node keeps it until it is
		   alone. */
		await_nodes(0, 2);
		kill_some(last, phase);
	}
	pump(choose(20));
	released = now_ns();
	tell(last, "leave");
	if (phase == PASSING_OUT) {
		pump(choose(10));
		kill_some(last, phase);
	}
	await(is_out, -1, "out");
	check_out(released);
}

static void play(int round)
{
	enum phase phase = (enum phase)(round % PHASES);

	dead_count = 0;
	for (int m = 0; m < member_count; m++) {
		lives[m].sent = lives[m].lost = false;
		lives[m].e = lives[m].i = lives[m].l = lives[m].o = 0;
	}
	go_in(phase);
	go_out(phase);
	replace();
}

static void report(double seconds)
{
	printf("%d members, %d rounds in %.0f s: no hang, nobody early\n",
		member_count, round_count, seconds);
	for (int p = 0; p < PHASES; p++)
		printf("killed %-17s %d\n", phase_names[p], figures.killed[p]);
	printf("sessions that ended by themselves: %d\n"
	       "all in at most %" PRId64 " ms after the last came, out %" PRId64
	       " ms after it went, or %" PRId64 " ms after a death\n",
		figures.lost, figures.in_ns / 1000000, figures.out_ns / 1000000,
		figures.out_after_death_ns / 1000000);
}

START_TEST(L18_S12_members_die_in_every_phase_and_nobody_hangs_or_passes_early)
{
	int64_t began = now_ns();

	for (int m = 0; m < member_count; m++)
		spawn(m);
	await(is_ready, -1, "ready");
	for (int round = 0; round < round_count; round++)
		play(round);
	for (int m = 0; m < member_count; m++)
		child_end(&lives[m].child);
	report((double)(now_ns() - began) / 1e9);
	for (int p = 0; p < PHASES; p++)
		ck_assert_int_ge(figures.killed[p], round_count / PHASES);
}
END_TEST

static void read_number(const char *name, int least, int most, int *out)
{
	const char *text = getenv(name);
	int n = text != NULL ? atoi(text) : 0;

	if (n >= least && n <= most)
		*out = n;
}

int main(void)
{
	Suite *s = suite_create("a crowd");
	TCase *t;

	read_number("CROWD_MEMBERS", 3, MOST, &member_count);
	read_number("CROWD_ROUNDS", 1, 1000000, &round_count);
	t = fixture_case(s, "one server", 60 + 20.0 * round_count);
	tcase_add_test(t,
		L18_S12_members_die_in_every_phase_and_nobody_hangs_or_passes_early);
	return fixture_main(s);
}
