/*
 * lease.h - how long the session is certainly alive, from answered requests.
 *
 * The leader gives a session up no sooner than its timeout T after it last
 * heard of it.  But it hears of a follower's clients only from the follower,
 * every half tick, and a tick is at most T/2.  So that a request was answered
 * does not mean that the leader has heard of it: the follower may be cut off a
 * moment later.  What is certain:
 *
 *  - Of a connection's making the leader hears at once.
 *  - Of a request that was answered at h it has heard, if a later one that was
 *    sent at h + T/4 or after went through the leader and was answered, too:
 *    the follower was in touch with it for the half tick that it takes.
 *
 * So the lease counts from the sending of the latest request, or from the
 * making of the connection, of which the leader has certainly heard: its base.
 * It ends 7/8 T after that; the rest is for clocks that differ, and for whoever
 * is told to stop.  With a request in every T/8 the base is T/4 to T/2 old,
 * which leaves at least 3/8 T.  And it never ends later than 2/3 T after
 * the sending of the last request that the leader answered, which libraries
 * of this kind use alone.
 *
 * Certain, that is, if there is one leader.  A sync is not voted on: a leader
 * that was deposed without noticing answers it until it notices, syncLimit
 * ticks at the latest.  The new one gives every session its full timeout again,
 * and followers take as long to notice that the old one is gone; only if they
 * are quicker than that by more than the timeout may a lease be too long.
 *
 * Pure arithmetic on the boot-time clock, in nanoseconds.
 */
#ifndef KU_LEASE_H
#define KU_LEASE_H

#include <stdbool.h>
#include <stdint.h>

/* Enough, one for each T/32, to look back for more than T/4 + T/8. */
#define KU_LEASE_MARKS 16

struct ku_lease_mark { /* a request that was answered */
	int64_t sent_ns, heard_ns;
};

struct ku_lease {
	int64_t timeout_ns; /* negotiated */
	int64_t base_ns;    /* 0 = the leader has not certainly heard */
	int64_t last_ns;    /* latest sending of what was answered */
	int64_t leader_ns;  /* the same, of what the leader answered */
	struct ku_lease_mark marks[KU_LEASE_MARKS]; /* of this connection */
	unsigned count; /* ever made; the newest is at count - 1 */
	int64_t end_ns; /* what follows from all that; 0: it has none */
};

/* A new session, which did not exist before "since_ns". */
void ku_lease_start(struct ku_lease *lease, int timeout_ms, int64_t since_ns);

/* A new connection of the same session, which certainly was not there before
   "since_ns"; 0 if nothing is known of that.  The server may have granted
   another timeout with it. */
void ku_lease_linked(struct ku_lease *lease, int timeout_ms, int64_t since_ns);

/* A request of this connection was answered at "now_ns"; "leader" if it went
   through the leader.  Answers come in the order of sending. */
void ku_lease_answered(struct ku_lease *lease, int64_t sent_ns, int64_t now_ns,
	bool leader);

/* Return when it ends, or 0 if there is none. */
static inline int64_t ku_lease_end(const struct ku_lease *lease)
{
	return lease->end_ns;
}

/* Return the nanoseconds left at "now_ns", never negative. */
static inline int64_t ku_lease_left(const struct ku_lease *lease,
	int64_t now_ns)
{
	return now_ns < lease->end_ns ? lease->end_ns - now_ns : 0;
}

#endif
