/*
 * nemesis.c - an ensemble in which one thing after the other fails.
 */
#include "nemesis.h"
#include "support/ensemble.h"
#include "support/fixture.h"
#include "support/proxy.h"
#include "support/server_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define ALL ENSEMBLE_SIZE
#define SOON 20 /* requests, of which one is not answered */

enum fault {
	NONE,
	KILLED,
	STOPPED,
	CUT,
	UNANSWERED,
	REFUSED,
	HELD,
	SWALLOWED,
	LAGGED,
	FAULTS
};

static const char *const words[FAULTS] = { "none", "killed", "stopped", "cut",
	"unanswered", "refused", "held", "swallowed", "lagged" };

static const enum proxy_mode modes[FAULTS] = {
	[REFUSED] = PROXY_REFUSE, [HELD] = PROXY_HOLD, [SWALLOWED] = PROXY_HOLE
};

struct nemesis {
	struct ensemble *ensemble;
	struct proxy *ways[ENSEMBLE_SIZE];
	char hosts[160];
	enum fault fault;
	int victim; /* of the fault: a server, or ALL */
	bool spares_servers;
};

struct nemesis *nemesis_start(bool lag)
{
	const struct server_options o = { .min_session_ms = 1000 };
	struct nemesis *n = calloc(1, sizeof(*n));
	size_t len = 0;
	char ip[24];

	ck_assert_ptr_nonnull(n);
	n->ensemble = ensemble_start(&o, lag);
	ck_assert_ptr_nonnull(n->ensemble);
	for (int i = 0; i < ENSEMBLE_SIZE; i++) {
		snprintf(ip, sizeof(ip), "127.0.0.%d", 11 + i);
		n->ways[i] = proxy_start(ip, nemesis_server(n, i),
			PROXY_ZOOKEEPER);
		ck_assert_ptr_nonnull(n->ways[i]);
		len += (size_t)snprintf(n->hosts + len, sizeof(n->hosts) - len,
			"%s%s", i == 0 ? "" : ",", proxy_address(n->ways[i]));
	}
	return n;
}

void nemesis_free(struct nemesis *n)
{
	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		proxy_free(n->ways[i]);
	ensemble_free(n->ensemble);
	free(n);
}

const char *nemesis_hosts(const struct nemesis *n)
{
	return n->hosts;
}

const char *nemesis_server(const struct nemesis *n, int i)
{
	return server_address(ensemble_server(n->ensemble, i));
}

bool nemesis_runs(const struct nemesis *n, int i)
{
	return n->victim != i || (n->fault != KILLED && n->fault != STOPPED);
}

static void set_mode(struct nemesis *n, enum proxy_mode mode)
{
	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		if (n->victim == ALL || n->victim == i)
			proxy_set_mode(n->ways[i], mode);
}

/* The fault happens to one of the next requests, chosen with "seed". */
static void arm(struct nemesis *n, enum proxy_fault fault, unsigned *seed)
{
	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		if (n->victim == ALL || n->victim == i)
			proxy_arm(n->ways[i], fault, PROXY_ANY,
				seed == NULL ? 1 : 1 + rand_r(seed) % SOON);
}

void nemesis_mend(struct nemesis *n)
{
	struct server *victim = ensemble_server(n->ensemble, n->victim % ALL);

	if (n->fault == KILLED)
		ck_assert_int_eq(server_launch(victim), 0);
	else if (n->fault == STOPPED)
		ck_assert_int_eq(server_resume(victim), 0);
	else if (n->fault == UNANSWERED)
		arm(n, PROXY_NO_FAULT, NULL);
	else if (n->fault == LAGGED)
		proxy_set_mode(ensemble_lag(n->ensemble), PROXY_PASS);
	else if (n->fault >= REFUSED)
		set_mode(n, PROXY_PASS);
	n->fault = NONE;
}

/* A server that is to fail: mostly the leader. */
static int choose_server(struct nemesis *n, unsigned *seed)
{
	int leader = rand_r(seed) % 3 == 0 ? -1 : ensemble_leader(n->ensemble);

	return leader < 0 ? rand_r(seed) % ENSEMBLE_SIZE : leader;
}

static void cut(struct nemesis *n)
{
	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		if (n->victim == ALL || n->victim == i)
			proxy_cut(n->ways[i]);
}

void nemesis_spare_servers(struct nemesis *n)
{
	n->spares_servers = true;
}

/* Where a follower can fall behind, it does so in a third of all cases. */
static enum fault choose_fault(struct nemesis *n, unsigned *seed)
{
	if (ensemble_lag(n->ensemble) != NULL && rand_r(seed) % 3 == 0)
		return LAGGED;
	return (enum fault)(1 + rand_r(seed) % (LAGGED - 1));
}

const char *nemesis_strike(struct nemesis *n, unsigned *seed)
{
	nemesis_mend(n);
	n->fault = choose_fault(n, seed);
	if (n->fault == KILLED && n->spares_servers)
		n->fault = STOPPED;
	if (n->fault == KILLED || n->fault == STOPPED) {
		/* One at a time, so that the other two can go on. */
		nemesis_settle(n);
		n->victim = choose_server(n, seed);
	} else {
		n->victim = rand_r(seed) % 3 ? ALL
					     : rand_r(seed) % ENSEMBLE_SIZE;
	}
	if (n->fault == KILLED)
		server_kill(ensemble_server(n->ensemble, n->victim));
	else if (n->fault == STOPPED)
		server_pause(ensemble_server(n->ensemble, n->victim));
	else if (n->fault == CUT)
		cut(n);
	else if (n->fault == UNANSWERED)
		arm(n, PROXY_LOSE_REPLY, seed);
	else if (n->fault == LAGGED)
		proxy_set_mode(ensemble_lag(n->ensemble), PROXY_HOLD);
	else
		set_mode(n, modes[n->fault]);
	return words[n->fault];
}

void nemesis_settle(struct nemesis *n)
{
	ck_assert_int_ge(
		ensemble_wait(n->ensemble, ENSEMBLE_SIZE, 2 * PATIENCE_MS), 0);
}
