/*
 * proxy.h - a TCP proxy in front of a server, which fails when it is told to.
 *
 * It runs in a thread of the process that starts it.  So start it in the test
 * or in a checked fixture: libcheck forks for each test, and the thread would
 * be left behind.
 *
 * Changes apply to open connections and to later ones, and are in effect when
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

	/* New connections are refused, and open ones go on. */
	PROXY_SHUT,

	/* Connections are accepted, and what either side sends, even the end of
	   the connection, is lost.  A connection that lost something is closed
	   when the mode changes. */
	PROXY_HOLE,

	/* Connections are accepted, and what either side sends is kept until
	   the mode changes: a partition that heals. */
	PROXY_HOLD
};

/* A fault that happens once, to the n-th request with an op code from now
   on. */
enum proxy_fault {
	PROXY_NO_FAULT,

	/* The connection is cut before the request: the server never sees
	   it. */
	PROXY_LOSE_REQUEST,

	/* The connection is cut after the server has answered: the client never
	   learns the outcome. */
	PROXY_LOSE_REPLY,

	/* Only this reply is lost; the connection is not cut. */
	PROXY_DROP_REPLY,

	/* From this reply on everything is kept: the mode becomes
	   PROXY_HOLD. */
	PROXY_HOLD_REPLY,

	/* The n-th watch event is lost; the op code is ignored. */
	PROXY_DROP_EVENT
};

/* In place of an op code: all but pings and handshakes. */
#define PROXY_ANY 1000

/* Listen on a free port of "ip" and pass everything on to "upstream"
   ("ip:port").  Returns NULL if it fails. */
struct proxy *proxy_start(const char *ip, const char *upstream,
	enum proxy_kind kind);

/* Close all connections and end.  NULL is allowed. */
void proxy_free(struct proxy *p);

/* Return "ip:port", or the port alone.  They do not change while the proxy
   lives. */
const char *proxy_address(const struct proxy *p);
int proxy_port(const struct proxy *p);

void proxy_set_mode(struct proxy *p, enum proxy_mode mode);

/* Pass new connections on to this server instead, as a load balancer may.
   Returns 0, or -1 if it is no address. */
int proxy_turn(struct proxy *p, const char *upstream);

/* Close the connections that are open, and go on as before. */
void proxy_cut(struct proxy *p);

/* From now on, delay everything by these times; 0 ends it. */
void proxy_set_delay(struct proxy *p, int to_server_ms, int to_client_ms);

/* Arm one fault, for the n-th (from 1) request with the code "op".  It replaces
   a fault that was armed before. */
void proxy_arm(struct proxy *p, enum proxy_fault fault, int op, int n);

/* Return how often an armed fault has happened since the proxy started. */
int proxy_fired(struct proxy *p);

/* Return how many requests of the code, or watch events, or accepted
   connections were seen since the last reset. */
int proxy_count(struct proxy *p, int op);
int proxy_events(struct proxy *p);
int proxy_accepted(struct proxy *p);
void proxy_reset_counts(struct proxy *p);

/* Return how many connections are open now; and how many of them have lost
   something, or will lose everything because they are in a hole. */
int proxy_open(struct proxy *p);
int proxy_lost(struct proxy *p);

#endif
