/*
 * soak.c - the frame of all soak scenes.
 */
#include "soak.h"
#include "support/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALM_MS (4 * PATIENCE_MS) /* until all are served when nothing fails */

struct soak soak;

static unsigned seed;
static struct contender *victim; /* was stopped */

int soak_setting(const char *name, int usual)
{
	const char *value = getenv(name);

	return value == NULL ? usual : atoi(value);
}

int soak_below(int n)
{
	return rand_r(&seed) % n;
}

int soak_patience_ms(void)
{
	return soak_below(3) ? 2 * PATIENCE_MS
			     : 1 + soak_below(SOAK_SESSION_MS);
}

bool soak_is_ours(const struct contender *c)
{
	return c->peer.kind == PEER_KUSTOS;
}

bool soak_said(const struct contender *c, const char *word)
{
	size_t len = strlen(word);

	return strncmp(c->peer.reply, word, len) == 0 &&
		(c->peer.reply[len] == ' ' || c->peer.reply[len] == '\0');
}

/* What the contenders do */

void soak_hold(struct contender *c)
{
	c->until_ms = test_now_ms() +
		soak_below(soak_below(3) ? 30 : SOAK_SESSION_MS);
	c->doing = HOLDS;
}

void soak_rest(struct contender *c, bool served)
{
	c->turns += served;
	c->doing = RESTS;
}

static void start(struct contender *c, enum peer_kind kind)
{
	peer_launch(&c->peer, kind, SOAK_SESSION_MS);
	c->doing = STARTS;
	c->stopped = false;
}

static void replace(struct contender *c)
{
	if (soak.scene->killed != NULL)
		soak.scene->killed(c);
	raw_names_free(&c->line);
	peer_kill(&c->peer);
	start(c, c->peer.kind);
	soak.replaced++;
	soak.killed_ours += soak_is_ours(c);
}

/* Take in one line that it has said. */
static void hear(struct contender *c)
{
	const char *session;

	if (child_hear(c->peer.child.fd, c->peer.reply, sizeof(c->peer.reply),
		    PEER_PATIENCE_MS) < 0 ||
		soak_said(c, "error")) {
		ck_assert_msg(!soak_is_ours(c), "ours said \"%s\"",
			c->peer.reply);
		replace(c);
	} else if (c->doing == STARTS) {
		session = strchr(c->peer.reply, ' ');
		ck_assert_ptr_nonnull(session);
		c->peer.session = (int64_t)strtoull(session, NULL, 16);
		c->doing = RESTS;
	} else {
		soak.scene->answer(c);
	}
}

static void go_on(struct contender *c)
{
	if (!peer_silent(&c->peer))
		hear(c);
	if (c->stopped)
		return;
	if (c->doing == RESTS)
		soak.scene->ask(c);
	else if (c->doing == HOLDS && test_now_ms() >= c->until_ms)
		soak.scene->give(c);
	else if (c->doing == HOLDS && soak.scene->look != NULL)
		soak.scene->look(c);
}

static void run_for(int ms)
{
	int64_t end = test_now_ms() + ms;

	while (test_now_ms() < end) {
		for (int i = 0; i < SOAK_COUNT; i++)
			go_on(&soak.contenders[i]);
		test_pause_1ms();
	}
}

/* Faults */

static void wake(void)
{
	if (victim != NULL)
		(void)process_resume(victim->peer.child.pid);
	if (victim != NULL)
		victim->stopped = false;
	victim = NULL;
}

static bool has_it(const struct contender *c)
{
	return c->doing == HOLDS || c->doing == SAYS;
}

/* A process that is to fail: mostly one that has something. */
static struct contender *choose_process(void)
{
	int first = soak_below(SOAK_COUNT);

	for (int i = 0; i < SOAK_COUNT; i++) {
		struct contender *c = &soak.contenders[(first + i) % SOAK_COUNT];

		if (has_it(c))
			return c;
	}
	return &soak.contenders[first];
}

/* Stop or kill a process. */
static const char *strike_one(void)
{
	struct contender *c = choose_process();

	if (c->doing == STARTS)
		return "nothing failed";
	if (soak_below(4) == 0 &&
		(soak.scene->may_be_killed == NULL ||
			soak.scene->may_be_killed(c))) {
		replace(c);
		return "process killed";
	}
	ck_assert_int_eq(process_pause(c->peer.child.pid), 0);
	c->stopped = true;
	victim = c;
	return "process stopped";
}

/* How long a fault lasts: sometimes longer than a session lives. */
static int duration(const char *what)
{
	if (strcmp(what, "cut") == 0 || strcmp(what, "unanswered") == 0)
		return soak_below(SOAK_SESSION_MS / 8);
	return soak_below(2) ? soak_below(SOAK_SESSION_MS)
			     : 2 * SOAK_SESSION_MS;
}

/* Mostly, let one of ours have something when a fault comes. */
static void await_holder(void)
{
	int64_t end = test_now_ms() + SOAK_SESSION_MS;

	if (soak.scene->look == NULL || soak_below(4) == 0)
		return;
	while (test_now_ms() < end) {
		for (int i = 0; i < SOAK_COUNT; i++)
			if (has_it(&soak.contenders[i]) &&
				soak_is_ours(&soak.contenders[i]))
				return;
		run_for(1);
	}
}

/* Whoever has something keeps it, and can be asked about it after "ms". */
static void keep_for(int ms)
{
	for (int i = 0; i < SOAK_COUNT; i++)
		if (has_it(&soak.contenders[i]))
			soak.contenders[i].until_ms = test_now_ms() + ms +
				soak_below(SOAK_SESSION_MS / 8);
}

/* Let one thing fail for a while, and then nothing. */
static void strike(void)
{
	const char *what;
	int ms;

	await_holder();
	what = soak_below(3) == 0 ? strike_one()
				  : nemesis_strike(soak.nemesis, &seed);
	ms = duration(what);
	keep_for(ms);
	if (getenv("SOAK_VERBOSE") != NULL)
		fprintf(stderr, "%lld: %s for %d ms\n",
			(long long)test_now_ms(), what, ms);
	soak.strikes++;
	run_for(ms);
	wake();
	nemesis_mend(soak.nemesis);
	run_for(soak_below(SOAK_SESSION_MS / 2));
}

/* Nobody goes on */

static void show_line(const char *server)
{
	struct raw_names names = { 0 };
	struct raw_stat stat;
	char path[512];

	if (raw_children(server, soak.scene->line, &names) != 0)
		return;
	for (int i = 0; i < names.count; i++) {
		snprintf(path, sizeof(path), "%s/%s", soak.scene->line,
			names.names[i]);
		if (raw_exists(server, path, &stat) == 0)
			fprintf(stderr, "%s of session %" PRIx64 "\n", path,
				(uint64_t)stat.ephemeral_owner);
	}
	raw_names_free(&names);
}

/* Fail, having said what each process does. */
static void give_up(const char *server)
{
	static const char *const words[] = { "starts", "rests", "waits",
		"holds", "is asked", "gives" };

	for (int i = 0; i < SOAK_COUNT; i++) {
		const struct contender *c = &soak.contenders[i];

		fprintf(stderr,
			"%d, %s, session %" PRIx64 ", %d turns: %s; "
			"last said \"%s\"\n",
			i, peer_name(c->peer.kind), (uint64_t)c->peer.session,
			c->turns, words[c->doing], c->peer.reply);
	}
	show_line(server);
	ck_abort_msg("not all are served, or at rest");
}

/* The whole */

static bool all_served(const int *turns)
{
	run_for(10);
	for (int i = 0; i < SOAK_COUNT; i++)
		if (soak.contenders[i].turns < turns[i] + 2)
			return false;
	return true;
}

bool soak_all_rest(void)
{
	for (int i = 0; i < SOAK_COUNT; i++)
		if (soak.contenders[i].doing != RESTS)
			return false;
	return true;
}

bool soak_empty(const char *server, const char *path)
{
	int count = raw_count_children(server, path);

	return count == 0 || count == RAW_NONODE;
}

static bool over(const char *server)
{
	run_for(10);
	return soak.scene->over != NULL ? soak.scene->over(server)
					: soak_all_rest();
}

static void await_served(const int *turns, const char *server)
{
	int64_t end = test_now_ms() + CALM_MS;

	while (!all_served(turns))
		if (test_now_ms() > end)
			give_up(server);
}

static void await_over(const char *server)
{
	int64_t end = test_now_ms() + CALM_MS;

	while (!over(server))
		if (test_now_ms() > end)
			give_up(server);
}

static void report(unsigned of)
{
	int turns[PEER_KINDS] = { 0 };

	for (int i = 0; i < SOAK_COUNT; i++)
		turns[soak.contenders[i].peer.kind] += soak.contenders[i].turns;
	fprintf(stderr,
		"%s, seed %u, %d faults: %d looks, %d losses, %d replaced; "
		"turns: ours %d, Curator %d, kazoo %d\n",
		soak.scene->name, of, soak.strikes, soak.looks, soak.losses,
		soak.replaced, turns[PEER_KUSTOS], turns[PEER_CURATOR],
		turns[PEER_KAZOO]);
}

static void contend(int ms, const char *server)
{
	int turns[SOAK_COUNT] = { 0 };
	int64_t end_ms = test_now_ms() + ms;

	for (int i = 0; i < SOAK_COUNT; i++) {
		soak.contenders[i].number = i;
		start(&soak.contenders[i], soak.scene->kinds[i]);
	}
	await_served(turns, server);
	while (test_now_ms() < end_ms)
		strike();
	nemesis_settle(soak.nemesis);
	for (int i = 0; i < SOAK_COUNT; i++)
		turns[i] = soak.contenders[i].turns;
	await_served(turns, server);
	soak.closing = true;
	await_over(server);
}

void soak_play(const struct soak_scene *scene, unsigned of, int ms)
{
	const char *server;

	seed = of;
	victim = NULL;
	soak = (struct soak){ .scene = scene };
	soak.nemesis = nemesis_start(soak_below(2));
	if (scene->spares_servers)
		nemesis_spare_servers(soak.nemesis);
	server = nemesis_server(soak.nemesis, 0);
	peers_connect_to(nemesis_hosts(soak.nemesis));
	scene->prepare(server);
	contend(ms, server);
	report(of);
	for (int i = 0; i < SOAK_COUNT; i++)
		peers_end(&soak.contenders[i].peer, 1);
	scene->verdict(server);
	nemesis_free(soak.nemesis);
}
