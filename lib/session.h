/*
 * session.h - one ZooKeeper session at a time: its handle, its state, its
 * epoch, and the clock that says how long it is certainly alive.
 *
 * <kustos/client.h> has the diagram of the states.  In addition:
 *
 *  - A connection counts only once the server has answered a sync on it: then
 *    reads are not older than what an earlier session saw, the lease is known,
 *    and the state becomes CONNECTED.  Until then nothing else is sent.
 *  - LOST is declared by the lease's timer, whatever the network does.  The
 *    handle is kept: if the same session answers after all, a new epoch begins
 *    in it.  Recipes delete what they left behind in the old one.
 *  - An expired handle, or one that has not connected for two timeouts, goes
 *    to the reaper, and a new one is opened after a pause.
 */
#ifndef KU_SESSION_H
#define KU_SESSION_H

#include <kustos/client.h>

#include "beat.h"
#include "lease.h"
#include "retry.h"
#include "shun.h"
#include "timer.h"
#include "wire.h"

#include <stdatomic.h>

struct ku_session {
	enum kustos_state state;
	int rounds; /* announcements of a state under way, during which no loss
		       is declared */
	struct ku_handle *handle; /* NULL between handles */
	uint64_t handles;	  /* how many were opened */
	int64_t epoch;
	int64_t lost_epoch; /* the last epoch that ended in LOST */
	int64_t lost_id;    /* and its session */
	int64_t id;
	int timeout_ms; /* negotiated, or asked for before that */
	char server[64];
	bool linked;	     /* the handle says it is connected */
	int64_t connection;  /* counts the connections */
	struct ku_shun shun; /* servers that it does not go back to */
	bool auth_failed;    /* final */
	bool left; /* the servers may still have a session that we gave up */
	struct ku_lease lease;
	_Atomic int64_t sure_ns; /* its end, for unlocked readers; 0: none */
	int64_t not_before_ns;	 /* the next connection is not made
				    before this */

	bool greeted;	  /* the server has answered on this connection */
	int64_t heard_ns; /* time of the last answer, or of the connection */
	struct ku_beat beat;

	struct ku_timer lease_timer; /* the lease may have run out */
	struct ku_timer watchdog;    /* there was no connection for too long */
	struct ku_timer reopen; /* the pause before the next handle is over */
	struct ku_retry reopen_retry;
	bool want_open; /* a handle is due, but no address is known yet */
};

void ku_session_init(struct kustos_client *client);

/* Open a handle now, if addresses are known; else once they are. */
void ku_session_open(struct kustos_client *client);

/* Give the handle to the reaper, for good, and end what is in flight with
   "rc". */
void ku_session_end(struct kustos_client *client, int rc);

/* Return whether the servers have a session of ours, or may have one: a session
   to be resumed, of which nothing is known yet. */
bool ku_session_exists(const struct kustos_client *client);

/* Return whether requests may be sent. */
bool ku_session_ready(const struct kustos_client *client);

/* Return how long to wait after a reconnect before reading what other clients
   read, too, so that a whole fleet does not read at once. */
int64_t ku_session_spread_ms(struct kustos_client *client);

/* A request sent at "sent_ns" was answered; "leader" if by the leader. */
void ku_session_answered(struct kustos_client *client, int64_t sent_ns,
	bool leader);

/* No server would have taken a connection at "at_ns", so the next connection is
   made after that. */
void ku_session_not_before(struct kustos_client *client, int64_t at_ns);

/* Enter another state, if it can follow this one.  Nothing else writes it. */
void ku_session_set_state(struct kustos_client *client,
	enum kustos_state state);

/* The handle has changed its state. */
void ku_session_event(struct kustos_client *client, enum ku_zk_state state);

/* The connection is gone. */
void ku_session_link_down(struct kustos_client *client);

/* Return the state as the clock has it, declaring LOST if it is time. */
enum kustos_state ku_session_state(struct kustos_client *client);

/* Fill in the public description. */
void ku_session_describe(struct kustos_client *client,
	struct kustos_session *out);

/* session_handle.c: open a handle.  Returns false if that is not possible, with
   the reason in "errno". */
bool ku_session_open_handle(struct kustos_client *client,
	ku_zk_event_fn *event);

/* The handle is connected, and nothing was decided on this connection yet: keep
   away from servers where a write of ours may still be under way. */
void ku_session_stay_away(struct kustos_client *client);

/* Close the handles that wait for it.  The client is not locked. */
void ku_session_reap(struct kustos_client *client);

#endif
