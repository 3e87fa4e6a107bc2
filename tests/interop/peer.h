/*
 * peer.h - start processes that lock with one library each, and control them.
 *
 * Every kind of process reads the same commands, one a line, and answers each
 * with one line:
 *
 *	acquire PATH MS [SIDE]		acquired NS | timeout | lost
 *	release PATH [SIDE]		released | lost
 *	state PATH [SIDE]		state HELD | state UNSURE | state LOST
 *	node PATH [SIDE]		node NODE TOKEN | lost
 *	revocable PATH			ok, if PATH was not acquired before
 *	revoked PATH MS			revoked, once for each request | no
 *	revoke NODE			ok
 *	participants PATH		COUNT NODE=DATA NODE=DATA ...
 *	elect PATH ID HOW		ok
 *	leads PATH MS			leads NS | no
 *	term PATH			term TERM | lost
 *	resign PATH			resigned
 *	hand PATH ID			handed
 *	yield PATH MS			yielded OUTCOME
 *	candidates PATH			COUNT LEADER ID ID ...
 *	count PATH N COUNTER FILE MS [PERCENT]	counted N
 *	reign PATH N COUNTER FILE	counted N
 *	lease PATH MAX COUNT MS		leased NS | timeout
 *	leases PATH			leases COUNT NODE NODE ... | lost
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
 *	look KIND PATH			saw TEXT | saw
 *	size KIND PATH			size COUNT
 *	bundle KIND PATH KEY TEXT ...	ok
 *	remove PATH ID [locked]		removed COUNT
 *	pour PATH MAX FROM TO		ok
 *	shard PATH [taken]		ok
 *	scatter PATH FROM TO		ok
 *	shards PATH			shards COUNT
 *	feed PATH FROM TO KIND		ok
 *	consume PATH MS KIND [REFUSED]	ok
 *	consumed PATH			consumed COUNT ITEM ITEM ...
 *	supply KIND PATH FROM TO MS	supplied COUNT
 *	fetch KIND PATH MAX MS		fetched COUNT ITEM ITEM ...
 *	claim KIND PATH MS AHEAD	claimed ITEM NODE | claimed
 *	has PATH			has | lost
 *	ack PATH MS			acked | lost | unknown
 *	requeue PATH MS			requeued | lost | unknown
 *	unclaim PATH			unclaimed
 *	exit				none; it closes its session and ends
 *
 * A command that fails is answered with "error" and the reason.  MS is how long
 * to wait, and NS is the time of CLOCK_MONOTONIC.
 *
 * Without SIDE, PATH is a mutex.  SIDE "read" or "write" is a side of the
 * read/write lock at PATH.  With "sole", PATH is a mutex made of a semaphore.
 * With "bare", PATH is a simple lock; the other libraries compete for its node
 * without any recipe.  With "all", PATH is several mutexes with commas between,
 * which are taken together.
 *
 * "elect" joins an election as ID, and "resign" leaves it.  HOW is "latch", or
 * "select": a function that leads until it is told to return.  kazoo's Election
 * is of the second kind, and kazoo has no latch.  "candidates" is answered with
 * the leader's id and then all ids in order.  "hand" makes a leader hand over
 * to ID, which only Kustos can do; "yield" makes it hand over to the next one,
 * as far as there is one and nothing fails.
 *
 * "close" sets the barrier at PATH, "open" removes it, and "pass" waits for it.
 * "enter" and "leave" are for a double barrier of N members.
 *
 * "put" and "take" are for a queue.  KIND is "simple", "framed", "priority",
 * "delay" or "id" for Curator's queues, and "kazoo" for kazoo's.  After the
 * first "take" from a queue of Curator that is not simple, the process goes on
 * taking all items, and answers each "take" with one of them.  "size" tells how
 * many items there are; its KIND may also be "locking".  "pour" puts the
 * numbers from FROM to TO - 1 into Curator's DistributedQueue at PATH.  It
 * waits while the queue has MAX items or more, except before the first number.
 * "bundle" puts each TEXT into one node of a queue of Curator.  "remove" removes
 * the items with this id from a DistributedIdQueue, which has a lockPath if the
 * command says "locked".
 *
 * "shard" starts a QueueSharder for the DistributedQueues below PATH, which
 * makes a second one when the first has four items; "shards" tells how many it
 * knows.  "scatter" puts the numbers from FROM to TO - 1 into some of them.  With
 * "taken" all their items are taken, and "take" answers with one of them.
 *
 * "feed" puts the numbers from FROM to TO - 1 into the queue at PATH, Curator's
 * or kazoo's LockingQueue ("locking").  The numbers decide about the order, too,
 * and are the ids.  "consume" starts to consume its items under locks, taking MS
 * for each, and "consumed" names the items that were begun.  Curator's process
 * fails with the first REFUSED of them, and so puts these back.
 *
 * Our process knows none of these queue commands, and only Curator's knows
 * "bundle", "remove", "pour" and those for shards.
 *
 * The process of ZooKeeper's recipes knows "acquire" and "release", without
 * SIDE, for its WriteLock; and "put", without KEY, "take", "look", "supply" and
 * "fetch" for its queue, whose KIND is "simple", or "bytes": then TEXT is "0x"
 * and hexadecimal digits, or "null" for no data at all.  "look" leaves the item
 * there.  Of "take" MS 0 does not wait, and any other MS waits for ever.
 *
 * Only our process knows the other commands for queues.  "supply" puts the
 * numbers from FROM to TO - 1, and COUNT of them, from the first on, were
 * certainly put within MS.  "fetch" takes up to MAX items, and waits MS for the
 * first.  "claim" claims an item, and AHEAD others before they are asked for
 * (which the first "claim" decides); "has" tells whether the process certainly
 * still has it, and "ack", "requeue" and "unclaim" end the claim.
 *
 * "count" reads the number in the node COUNTER and writes it back with 1 added,
 * N times, each time while it holds the lock at PATH.  FILE gets a line "NS NS"
 * for each turn: the first and the last moment.  A turn for which the lock was
 * not acquired within MS is left out, and the answer is the number of the
 * others.  With MS -1 the lock is not acquired at all.  With PERCENT, PATH is a
 * read/write lock; that many of a hundred turns, evenly mixed, are readers,
 * which only read the counter and have " r" at the end of their line.  Our
 * process downgrades after some of its writes and goes on as a reader for one
 * turn more.  Instead of PERCENT there may be "sole", "bare" or "all".  With
 * "bare" the process waits 2 ms after each turn, because it would get the node
 * again if it asked at once.  "reign" does the same, but each turn is a term of
 * a leader with "select".
 *
 * "lease" acquires COUNT leases of the semaphore at PATH at once, in addition
 * to those that the process has.  "return" releases all of them.  MAX is the
 * number of leases, or the path of the node that has this number; "resize" sets
 * it to N. "holders" names the nodes of the leases.  "draw" acquires leases N
 * times, from 1 to COUNT at once, and returns them soon; FILE gets a line "NS
 * NS xLEASES" for each time.
 *
 * "node" is answered with the node of a hold that is certainly held when the
 * answer is written; "leases" with all nodes of the process's leases, if none
 * is lost; "term" with the token of the leadership.
 *
 * Only Kustos knows the state of a hold.  kazoo has no semaphore that the
 * others could share.  A reader of kazoo 2.8.0 waits for writers that came
 * later, too, and so may wait for ever.  kazoo has no revocation, and it
 * returns the participants' data but not their nodes.
 *
 * Whatever fails in these functions fails the test.
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
	PEER_KAZOO_STOCK,  /* kazoo's own names */
	PEER_KUSTOS_KAZOO, /* ours, in kazoo's dialect */
	PEER_ZOOKEEPER,	   /* the recipes that come with ZooKeeper */
	PEER_KINDS
};

#define PEER_COMMON 3 /* the first three kinds can share a line */
#define PEER_REPLY 4096
#define PEER_PATIENCE_MS PATIENCE_MS

struct peer {
	enum peer_kind kind;
	struct child child;
	int64_t session;
	char reply[PEER_REPLY]; /* the last line it sent */
};

/* Return "kustos" and so on. */
const char *peer_name(enum peer_kind kind);

/* Start a process of each kind, connected to the fixture's server.  They end
   with the test.  Returns when all of them are connected. */
void peers_start(struct peer *peers, const enum peer_kind *kinds, int count,
	int session_ms);
void peer_start(struct peer *peer, enum peer_kind kind, int session_ms);

/* Have the processes that are started from now on connect to these servers; NULL
   for the fixture's, as at first.  "hosts" must stay. */
void peers_connect_to(const char *hosts);

/* Start a process without waiting for it.  Its first line is "ready SESSION". */
void peer_launch(struct peer *peer, enum peer_kind kind, int session_ms);

/* Let the processes close their sessions, and wait for them to end. */
void peers_end(struct peer *peers, int count);

/* Send a command without waiting for the answer. */
void peer_tell(struct peer *peer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Wait for an answer that begins with the word "wanted", and return the rest of
   it. */
const char *peer_hear(struct peer *peer, const char *wanted, int ms);

/* Send a command and wait for an answer that begins with "wanted"; the whole
   answer is in peer->reply. */
void peer_do(struct peer *peer, const char *wanted, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Return whether there is no unread answer. */
bool peer_silent(struct peer *peer);

/* Wait for "acquired" and return its time, in nanoseconds. */
int64_t peer_hear_acquired(struct peer *peer, int ms);

/* Kill the process with SIGKILL and wait until it is gone. */
void peer_kill(struct peer *peer);

/* Tell "peer" to acquire "path", and wait until "path" has "place" children. */
void peer_join(struct peer *peer, const char *path, int place);

/* Wait until the node "path" has so many children.  If none, it may also be
   gone: the server deletes an empty container at some time. */
void line_await(const char *path, int count);

/* Wait until the peer's session has a watch on the node "path" itself. */
void peer_await_watch(const struct peer *peer, const char *path);

/* Run the suite.  "kinds" ends with PEER_KINDS.  Returns as fixture_main(), and
   also 77 if this machine cannot run one of the kinds. */
int interop_main(Suite *suite, const enum peer_kind *kinds);

#endif
