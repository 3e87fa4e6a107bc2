/*
 * proxy.h - a TCP proxy before a server, that fails when it is told to.
 *
 * It runs in a thread of the process that starts it, so start it in the test
 * or in a checked fixture: libcheck's fork would leave it behind.
 *
 * Changes act on open connections and on later ones, and have taken place when
 * the call returns.
 *
 * Threads: every call is safe from any thread, except proxy_free().
 */
#ifndef TEST_PROXY_H
#define TEST_PROXY_H

#include "zkproto.h"

#include <stdbool.h>

struct proxy;

enum proxy_kind {
	PROXY_ZOOKEEPER, /* knows frames: counts and faults work */
	PROXY_RAW	 /* any bytes, such as the link of a quorum */
};

enum proxy_mode {
	PROXY_PASS,

	/* All connections are closed, and new ones refused. */
	PROXY_REFUSE,

	/* New connections are refused, and the others go on. */
	PROXY_SHUT,

	/* Accepts, and swallows what either side sends, its end included.  A
	   connection that lost something is closed when the mode changes. */
	PROXY_HOLE,

	/* Accepts, and keeps what either side sends until the mode changes: a
	   partition that heals. */
	PROXY_HOLD
};

/* What happens once, to the n-th request of an op code from now on. */
enum proxy_fault {
	PROXY_NO_FAULT,

	/* Cut before it: the server never sees it. */
	PROXY_LOSE_REQUEST,

	/* The server answers, and then the cut: the client never learns the
	   outcome. */
	PROXY_LOSE_REPLY,

	/* That one reply is missing, without a cut. */
	PROXY_DROP_REPLY,

	/* From that reply on all is kept: the mode is PROXY_HOLD then. */
	PROXY_HOLD_REPLY,

	/* The n-th watch event is missing; the op code means nothing. */
	PROXY_DROP_EVENT
};

/* In place of an op code: all but pings and handshakes. */
#define PROXY_ANY 1000

/* Listen on a free port of "ip" and pass on to "upstream" ("ip:port").  NULL
   if that cannot be. */
struct proxy *proxy_start(const char *ip, const char *upstream,
	enum proxy_kind kind);

/* Close all connections and end.  NULL is allowed. */
void proxy_free(struct proxy *p);

/* Return "ip:port", or the port alone: the same for as long as it lives. */
const char *proxy_address(const struct proxy *p);
int proxy_port(const struct proxy *p);

void proxy_set_mode(struct proxy *p, enum proxy_mode mode);

/* Pass new connections on to this one, as who balances load may.  Returns 0, or -1 if
   it is no address. */
int proxy_turn(struct proxy *p, const char *upstream);

/* Close the connections that are open, and go on as before. */
void proxy_cut(struct proxy *p);

/* Pass everything on later by so much, from now on; 0 ends it. */
void proxy_set_delay(struct proxy *p, int to_server_ms, int to_client_ms);

/* Arm one fault, in place of one that was armed, for the n-th (from 1) request
   of the code "op". */
void proxy_arm(struct proxy *p, enum proxy_fault fault, int op, int n);

/* Return how often an armed fault has happened since the proxy started. */
int proxy_fired(struct proxy *p);

/* Return how many requests of the code, or watch events, or accepted
   connections were seen since the last reset. */
int proxy_count(struct proxy *p, int op);
int proxy_events(struct proxy *p);
int proxy_accepted(struct proxy *p);
void proxy_reset_counts(struct proxy *p);

/* Return how many connections are open now, and how many of them have lost
   something, or can only lose, in a hole. */
int proxy_open(struct proxy *p);
int proxy_lost(struct proxy *p);

#endif
