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
 *	elect PATH ID HOW		ok
 *	leads PATH MS			leads NS | no
 *	resign PATH			resigned
 *	hand PATH ID			handed
 *	candidates PATH			COUNT LEADER ID ID ...
 *	count PATH N COUNTER FILE MS [PERCENT]	counted N
 *	reign PATH N COUNTER FILE	counted N
 *	lease PATH MAX COUNT MS		leased NS | timeout
 *	return PATH			returned | lost
 *	resize PATH MAX N		resized
 *	holders PATH MAX		COUNT NODE NODE ...
 *	draw PATH MAX COUNT N FILE MS	counted N
 *	close PATH			ok
 *	open PATH			ok
 *	pass PATH MS			passed NS | timeout
 *	enter PATH N MS			entered NS | timeout
 *	leave PATH MS			left NS | timeout
 *	put KIND PATH TEXT KEY		ok
 *	take KIND PATH MS		took TEXT | took
 *	pour PATH MAX FROM TO		ok
 *	feed PATH FROM TO		ok
 *	consume PATH MS			ok
 *	consumed PATH			consumed COUNT ITEM ITEM ...
 *	exit				none; it closes its session and ends
 *
 * SIDE is "read" or "write", of a read/write lock; or "sole", and PATH is the
 * mutex that is made of a semaphore; or "bare", and PATH is a simple lock, for
 * which the others fight without any recipe; or "all", and PATH is several
 * mutexes with commas between, taken together; without it PATH is a mutex.
 * "elect" begins to take part in an election, as ID, and "resign" ends that;
 * "candidates" is answered with their ids in order, after that of the leader.
 * HOW is "latch", or "select": by a function that leads until it is told to
 * return.  kazoo's Election is such a one, and it has no latch.  "hand" has a
 * leader hand over to ID, which only Kustos can do.
 *
 * "close" sets the barrier at PATH, "open" removes it, and "pass" waits for it;
 * "enter" and "leave" are those of a double barrier of N.
 *
 * "put" and "take" are those of a queue: "simple", "framed", "priority", "delay" or
 * "id" of Curator's, "kazoo" of kazoo's.  Whoever has taken from one of Curator's
 * that are not simple goes on taking all that is there, and tells of one at a time.
 * "pour" puts the numbers from FROM to TO - 1 into the queue at PATH, of Curator's
 * DistributedQueue, while there are less than MAX, and waits while there are not;
 * the first of them it puts in any case.
 * "feed" puts the numbers from FROM to TO - 1 into the queue at PATH, of Curator's
 * DistributedQueue or kazoo's LockingQueue; "consume" starts to consume its items,
 * under locks, which takes MS for each, and "consumed" tells which it has begun
 * with.  Ours does not know these.
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
 * Instead of PERCENT there may be "sole", "bare" or "all"; with "bare" it waits
 * 2 ms after each turn, for who asks at once has it again.
 * "reign" does the same, but each turn is a term of a leader that "select"s.
 *
 * "lease" takes COUNT leases of the semaphore at PATH at once, beside those that
 * it has, and "return" gives all of them back.  MAX is how many there may be, or
 * the path of the node in which that stands, which "resize" makes N.  "holders"
 * names the nodes of the leases.  "draw" takes leases N times, from 1 to COUNT
 * at once, and returns them soon; FILE gets a line "NS NS xLEASES" for each.
 *
 * Only Kustos knows the state of a hold, and kazoo knows no semaphore that
 * others would see.  A reader of kazoo 2.8.0 waits for writers that came later
 * as well, and so for ever.  kazoo knows no revocation, and the
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
	PEER_KAZOO_STOCK,  /* its own names */
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

/* Wait until the node "path" has so many children; or is gone, as the server
   clears an empty one away in its own time, if that is none. */
void line_await(const char *path, int count);

/* Wait until its session watches the node "path" itself. */
void peer_await_watch(const struct peer *peer, const char *path);

/* Run the suite.  Returns as fixture_main(), and 77 too if this machine cannot
   run one of the kinds, which end with PEER_KINDS. */
int interop_main(Suite *suite, const enum peer_kind *kinds);

#endif
