/*
 * peer.h - a process that locks with one library and does as it is told.
 *
 * All kinds obey the same lines, and answer each with one:
 *
 *	acquire PATH MS [SIDE]		acquired NS | timeout | lost
 *	release PATH [SIDE]		released | lost
 *	state PATH [SIDE]		state HELD | state UNSURE | state LOST
 *	revocable PATH			ok, if PATH was not acquired before
 *	revoked PATH MS			revoked, once for each request | no
 *	revoke NODE			ok
 *	participants PATH		COUNT NODE=DATA NODE=DATA ...
 *	elect PATH ID			ok
 *	leads PATH MS			leads NS | no
 *	resign PATH			resigned
 *	candidates PATH			COUNT LEADER ID ID ...
 *	count PATH N COUNTER FILE MS [PERCENT]	counted N
 *	exit				none; it closes its session and ends
 *
 * SIDE is "read" or "write", of a read/write lock; without it PATH is a mutex.
 * "elect" begins to take part in an election, as ID, and "resign" ends that;
 * "candidates" is answered with their ids in order, after that of the leader.
 * kazoo has no such election.
 *
 * What fails is answered with "error" and the reason.  MS is how long to wait,
 * NS the time of CLOCK_MONOTONIC.  "count" reads the number in the node
 * COUNTER and writes it back with 1 added, N times, each time holding the lock
 * at PATH; FILE gets a line "NS NS" for each: the first moment and the last.
 * Turns for which the lock did not come in MS are left out, and the answer is
 * how many were not.  With MS -1 it does not ask for the lock at all.  With
 * PERCENT it is a read/write lock; so many of a hundred turns, here and there,
 * only look at the counter, as readers, and have " r" at the end of their line.
 * Ours goes on as a reader, for one turn more, after some that wrote.
 *
 * Only Kustos knows the state of a hold.  kazoo's read/write lock is that of
 * doc/examples/kustos_lock.py; a reader of kazoo 2.8.0 waits for writers that
 * came later as well, and so for ever.  kazoo knows no revocation, and the
 * participants' data but not their nodes.
 *
 * In all these functions, what cannot be done fails the test.
 */
#ifndef TEST_PEER_H
#define TEST_PEER_H

#include "support/child.h"
#include "support/fixture.h"

#include <stdbool.h>
#include <stdint.h>

enum peer_kind {
	PEER_KUSTOS,
	PEER_CURATOR,
	PEER_KAZOO,	   /* with doc/examples/kustos_lock.py */
	PEER_KAZOO_STOCK,  /* its own Lock */
	PEER_KUSTOS_KAZOO, /* ours, in kazoo's dialect */
	PEER_KINDS
};

#define PEER_COMMON 3 /* the first three share one line */
#define PEER_REPLY 4096
#define PEER_PATIENCE_MS PATIENCE_MS

struct peer {
	enum peer_kind kind;
	struct child child;
	int64_t session;
	char reply[PEER_REPLY]; /* the last line it said */
};

/* Return "kustos" and so on. */
const char *peer_name(enum peer_kind kind);

/* Start a process of each kind against the fixture's server.  They end with
   the test.  Returns when all of them are connected. */
void peers_start(struct peer *peers, const enum peer_kind *kinds, int count,
	int session_ms);
void peer_start(struct peer *peer, enum peer_kind kind, int session_ms);

/* Let them close their sessions, and wait for their end. */
void peers_end(struct peer *peers, int count);

/* Send a line, and do not wait for the answer. */
void peer_tell(struct peer *peer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Wait for an answer that begins with the word "wanted", and return what
   follows it. */
const char *peer_hear(struct peer *peer, const char *wanted, int ms);

/* Send a line and wait for an answer that begins with "wanted"; the whole is
   in peer->reply. */
void peer_do(struct peer *peer, const char *wanted, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Return whether it has said nothing that was not heard. */
bool peer_silent(struct peer *peer);

/* Wait for "acquired", and return when that was, in nanoseconds. */
int64_t peer_hear_acquired(struct peer *peer, int ms);

/* Kill it with SIGKILL; on return it is gone. */
void peer_kill(struct peer *peer);

/* Tell "peer" to acquire "path", and wait until "place" nodes are there. */
void peer_join(struct peer *peer, const char *path, int place);

/* Wait until the node "path" has so many children. */
void line_await(const char *path, int count);

/* Run the suite.  Returns as fixture_main(), and 77 too if this machine cannot
   run one of the kinds, which end with PEER_KINDS. */
int interop_main(Suite *suite, const enum peer_kind *kinds);

#endif
