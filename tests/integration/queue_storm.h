/*
 * queue_storm.h - faults for tests that put and take many items meanwhile: of
 * connections, through the proxy of mutex_pair.h, and of the server.
 *
 * A storm has a fault of each kind once, and then random ones.  What has
 * happened is counted, and not only what was asked for: a request must come to
 * be lost.
 */
#ifndef TEST_QUEUE_STORM_H
#define TEST_QUEUE_STORM_H

enum storm_kind {
	STORM_LOSE_REQUEST, /* and the connection with it */
	STORM_LOSE_REPLY,   /* the same, after the request was carried out */
	STORM_CUT,
	STORM_HOLD,	 /* nothing comes through for a moment */
	STORM_HOLD_LONG, /* for longer than a session lasts */
	STORM_PAUSE,	 /* of the server */
	STORM_RESTART,	 /* the server is killed */
	STORM_KINDS
};

/* Return the number in the environment variable "name", or "usual" if it is not
   set. */
int storm_setting(const char *name, int usual);

void storm_pause_ms(int ms);

/* Begin a storm: nothing has been struck yet.  The proxy has just been
   started. */
void storm_begin(void);

/* Cause one fault: the first STORM_KINDS calls one of each kind, and later ones
   some fault, chosen with "seed".  Mostly a connection fails; sometimes for
   longer than a session timeout of "timeout_ms".

   A request that is to be lost may come after the call.  While each kind has its
   turn, the next call waits for it, so items must be put or taken. */
void storm_strike(unsigned *seed, int timeout_ms);

/* Let everything through again, print how often each kind has happened, and
   fail the test if one has not. */
void storm_end(void);

#endif
