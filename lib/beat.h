/*
 * beat.h - small requests that tell how the server is.
 *
 * A greeting opens each connection: a sync, behind which no read is older than
 * what was seen before.  A heartbeat goes out when the leader has answered
 * nothing for a while; it is a sync, too, because a follower that has lost its
 * leader still answers reads.  A nudge wakes a handle that was pointed at
 * another server.  The handle's own state is polled as well, since an event may
 * be lost, or be out of date before it is seen.
 */
#ifndef KU_BEAT_H
#define KU_BEAT_H

#include "timer.h"
#include "wire.h"

struct ku_beat {
	struct ku_request greeting, heartbeat, nudge;
	struct ku_timer timer; /* when to look at the server and the handle */
	int odd_polls;	       /* polls in a row that contradict the events */
};

void ku_beat_init(struct kustos_client *client);

/* Greet the server of a new connection.  Its answer makes the client
   CONNECTED. */
void ku_beat_greet(struct kustos_client *client);

/* Send a heartbeat now, unless one is under way.  The server must have been
   greeted. */
void ku_beat_now(struct kustos_client *client);

/* The handle was pointed at another server: its connection, if it had one, is
   gone without an event, and its thread sleeps until there is a request. */
void ku_beat_nudge(struct kustos_client *client);

/* Return since when the server owes an answer and has given none, or 0. */
int64_t ku_beat_silent_since(const struct kustos_client *client);

#endif
