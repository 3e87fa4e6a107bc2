/*
 * lease.h - how long the session is certainly alive, from answered requests.
 *
 * The leader gives up a session no sooner than its timeout T after it last
 * heard of the session.  But it hears of a follower's clients only from the
 * follower, every half tick, and a tick is at most T/2.  So an answered request
 * does not prove that the leader has heard of it: the follower may be cut off
 * a moment later.  What is certain:
 *
 *  - The leader hears at once of a new connection.
 *  - The leader has heard of a request that was answered at h if a later
 *    request, sent at h + T/4 or after, went through the leader and was
 *    answered, too: the follower was then in touch with the leader for the
 *    half tick that its report takes.
 *
 * So the lease counts from its base: the time when the latest request was sent,
 * or the connection was made, of which the leader has certainly heard.  The
 * lease ends 7/8 T after its base; the rest allows for clocks that differ, and
 * for the time that holders need to stop.  With a request in every T/8 the
 * base is T/4 to T/2 old, which leaves at least 3/8 T.  The lease also never
 * ends later than 2/3 T after the last request that the leader answered was
 * sent; other libraries of this kind use that rule alone.
 *
 * All this is certain if there is only one leader.  A sync is not voted on: a
 * leader that was deposed without noticing answers syncs until it notices,
 * after syncLimit ticks at the latest.  The new leader gives every session its
 * full timeout again, and followers take as long to notice that the old leader
 * is gone.  Only if they are quicker than that by more than the timeout may a
 * lease be too long.
 *
 * Pure arithmetic on the boot-time clock, in nanoseconds.
 */
#ifndef KU_LEASE_H
#define KU_LEASE_H

#include <stdbool.h>
#include <stdint.h>

/* One mark for each T/32, so that they reach back more than T/4 + T/8. */
#define KU_LEASE_MARKS 16

struct ku_lease_mark { /* a request that was answered */
	int64_t sent_ns, heard_ns;
};

struct ku_lease {
	int64_t timeout_ns; /* negotiated */
	int64_t base_ns;    /* 0 = the leader has certainly heard of nothing */
	int64_t last_ns;    /* when the latest answered request was sent */
	int64_t leader_ns;  /* the same, of those that the leader answered */
	struct ku_lease_mark marks[KU_LEASE_MARKS]; /* of this connection */
	unsigned count; /* marks ever made; the newest is at count - 1 */
	int64_t end_ns; /* computed from the above; 0: there is no lease */
};

/* A new session, which did not exist before "since_ns". */
void ku_lease_start(struct ku_lease *lease, int timeout_ms, int64_t since_ns);

/* A new connection of the same session, which was certainly not made before
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
