/*
 * steer.h - which server to talk to: decisions only, no clock and no socket.
 *
 * libzookeeper_mt notices a dead server after 2/3 of the session timeout T,
 * and then gives each next one as long (L4).  Here a heartbeat without answer
 * makes us ask all servers at once whether they live, leave a server that does
 * not, and go to one that does:
 *
 *   T/16 after the heartbeat   probe all servers
 *   T/8                        the server is silent, another lives: kick
 *   T/3                        the server answers probes, but not us: kick
 *   a round without a live one the names may have moved: look them up
 *
 *   disconnected               probe at once, and again and again; look up the
 *                              names, and once more every T
 *   T/120, at most 50 ms       the library's own next try has had its chance:
 *                              steer to a server that lives
 *   T/6                        that one did not take us: steer to another
 *   T/6 after it was found to live, and T/3 after that
 *                              the only server did not take us: try it anew
 *
 * The owner reports events, calls ku_steer_next() after each event and at the
 * time that it named, and carries out the actions that it returns.  All times
 * are nanoseconds of one clock, not negative.
 */
#ifndef KU_STEER_H
#define KU_STEER_H

#include "probe.h"

#include <stdbool.h>
#include <stdint.h>

struct ku_random;

enum ku_steer_action {
	KU_STEER_NONE,	 /* nothing until the time given, or an event */
	KU_STEER_PROBE,	 /* ku_probe_start() */
	KU_STEER_STOP,	 /* ku_probe_stop() */
	KU_STEER_KICK,	 /* kick(); if it fails, ku_steer_kick_failed() */
	KU_STEER_TO,	 /* steer() to this server, then send something; if
			     there was a connection, this has ended it */
	KU_STEER_ANEW,	 /* steer() to nowhere, and then as KU_STEER_TO */
	KU_STEER_RESOLVE /* look up the names, then ku_steer_addresses() */
};

struct ku_steer {
	struct ku_random *random;
	int64_t timeout; /* T */
	int count;	 /* servers */
	bool distinct;	 /* steer() works at all */

	bool connected;
	int server;    /* connected: to this one; else: the only one that the
			   handle tries; -1: not known, or it tries several */
	int listed;    /* the handle knows this one only; -1: several */
	int64_t since; /* disconnected: when its present try began */
	int64_t alive; /* since when the only server is known to live; or -1 */
	int anew;      /* how often it was tried anew since then */

	int64_t heartbeat; /* when it was sent; -1: none is out */
	bool kicked;	   /* for this heartbeat */
	bool kick_failed;

	bool probing;
	int64_t round; /* when the last round began; -1: none counts */
	int64_t next_round;
	int64_t gap; /* pause after the next round */
	int64_t next_resolve;
	enum ku_probe_verdict verdicts[KU_PROBE_MAX];
	bool shunned[KU_PROBE_MAX];
	bool owed; /* a write, by the present one */
};

/* "random" must outlive "s". */
void ku_steer_init(struct ku_steer *s, struct ku_random *random);

/* Say whether this server is to be avoided for now (shun.h). */
void ku_steer_shun(struct ku_steer *s, int server, bool shunned);

/* Say whether the present server has a write of ours that it has not answered.
   If so, and if another server lives, it is left by steering to that one: a
   handle that chooses for itself may try the same one again. */
void ku_steer_owed(struct ku_steer *s, bool owed);

/* The session timeout: as asked for, and once it is known as negotiated. */
void ku_steer_timeout(struct ku_steer *s, int64_t timeout_ns);

/* The list of servers has changed, and has "count" of them now.  "server" is
   the index of the one that the handle is connected to, or -1.  "distinct" is
   what ku_addresses_distinct() says.  What was known of the servers is
   forgotten, so a running round of probes must be stopped by the caller. */
void ku_steer_addresses(struct ku_steer *s, int count, bool distinct,
	int server);

/* A new handle was opened on all of them. */
void ku_steer_opened(struct ku_steer *s, int64_t now);

/* The handle is connected to "server", or to one not in the list: -1. */
void ku_steer_connected(struct ku_steer *s, int server);

/* The connection is gone.  Does nothing if there was none. */
void ku_steer_disconnected(struct ku_steer *s, int64_t now);

/* There is no handle any more, and nothing to do until there is. */
void ku_steer_closed(struct ku_steer *s);

/* A heartbeat was sent; does nothing if one is out already, or there is no
   connection.  And: a request was answered. */
void ku_steer_heartbeat(struct ku_steer *s, int64_t now);
void ku_steer_answered(struct ku_steer *s);

/* A probe of "server" has this verdict. */
void ku_steer_verdict(struct ku_steer *s, int server,
	enum ku_probe_verdict verdict);

void ku_steer_kick_failed(struct ku_steer *s);

/* Return one action to be carried out now.  Call it again until it returns
   KU_STEER_NONE, which comes with the time of the next call (INT64_MAX: at the
   next event).  "to" is the server of KU_STEER_TO and KU_STEER_ANEW. */
enum ku_steer_action ku_steer_next(struct ku_steer *s, int64_t now, int *to,
	int64_t *wake);

#endif
