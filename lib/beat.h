/*
 * beat.h - small requests that tell how the server is.
 *
 * A greeting opens each connection: a sync, behind which no read is older than
 * what was seen before.  A heartbeat goes out when the leader has answered
 * nothing for a while; it is a sync, too, because a follower that has lost its
 * leader still answers reads.  A nudge wakes a handle that was pointed at
 * another server.  And the handle itself is looked at, since an event may be
 * lost, or healed before it is seen.
 */
#ifndef KU_BEAT_H
#define KU_BEAT_H

#include "timer.h"
#include "wire.h"

struct ku_ping {
	struct ku_request request;
	bool sent;
};

struct ku_beat {
	struct ku_ping greeting, heartbeat, nudge;
	struct ku_timer timer; /* time to look: at the server, at the handle */
	int odd_polls;	       /* in a row that belie what events said */
};

void ku_beat_init(struct kustos_client *client);

/* Greet the server of a new connection.  Its answer makes the client
   CONNECTED. */
void ku_beat_greet(struct kustos_client *client);

/* Send a heartbeat now, unless one is on its way; to a server that was greeted. */
void ku_beat_now(struct kustos_client *client);

/* The handle was pointed at another server: its connection, if it had one, is
   gone without an event, and its thread sleeps until there is a request. */
void ku_beat_nudge(struct kustos_client *client);

/* Return since when the server owes an answer and has given none, or 0. */
int64_t ku_beat_silent_since(const struct kustos_client *client);

#endif
