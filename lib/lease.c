/* lease.c - the end of a session's certain life. */

#include "lease.h"

#include "clock.h"

/* T/4 is at least half a tick, as a timeout is at least two ticks. */
#define HALF_TICK_PART 4
#define MARK_PART 32
#define SPARE_PART 8

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void set_timeout(struct ku_lease *lease, int timeout_ms)
{
	lease->timeout_ns = timeout_ms > 0 ? timeout_ms * KU_NS_PER_MS : 0;
}

/* Compute the end now, as it is read far more often than it changes. */
static void set_end(struct ku_lease *lease)
{
	lease->end_ns = 0;
	if (lease->base_ns == 0 || lease->leader_ns == 0)
		return;
	int64_t heard = ku_time_add(lease->base_ns,
		lease->timeout_ns - lease->timeout_ns / SPARE_PART);
	int64_t answered = ku_time_add(lease->leader_ns,
		lease->timeout_ns * 2 / 3);
	lease->end_ns = heard < answered ? heard : answered;
}

void ku_lease_start(struct ku_lease *lease, int timeout_ms, int64_t since_ns)
{
	set_timeout(lease, timeout_ms);
	lease->base_ns = since_ns;
	lease->last_ns = 0;
	lease->leader_ns = 0;
	lease->count = 0;
	set_end(lease);
}

void ku_lease_linked(struct ku_lease *lease, int timeout_ms, int64_t since_ns)
{
	set_timeout(lease, timeout_ms);
	/* The connection was made after the one before it brought its last
	   answer. */
	lease->base_ns = later(lease->base_ns, later(lease->last_ns, since_ns));
	lease->count = 0; /* marks are of another follower */
	set_end(lease);
}

/* Move the base to the latest mark that the leader has certainly heard of when
   it answers what was sent at "sent_ns". */
static void move_base(struct ku_lease *lease, int64_t sent_ns)
{
	int64_t before = sent_ns - lease->timeout_ns / HALF_TICK_PART;
	unsigned kept = lease->count < KU_LEASE_MARKS ? lease->count
						      : KU_LEASE_MARKS;

	for (unsigned i = 1; i <= kept; i++) {
		const struct ku_lease_mark *mark =
			&lease->marks[(lease->count - i) % KU_LEASE_MARKS];

		if (mark->heard_ns <= before) {
			lease->base_ns = later(lease->base_ns, mark->sent_ns);
			return;
		}
	}
}

static void add_mark(struct ku_lease *lease, int64_t sent_ns, int64_t now_ns)
{
	struct ku_lease_mark *mark;

	if (lease->count > 0) {
		mark = &lease->marks[(lease->count - 1) % KU_LEASE_MARKS];
		if (sent_ns - mark->sent_ns < lease->timeout_ns / MARK_PART)
			return;
	}
	mark = &lease->marks[lease->count++ % KU_LEASE_MARKS];
	mark->sent_ns = sent_ns;
	mark->heard_ns = now_ns;
}

void ku_lease_answered(struct ku_lease *lease, int64_t sent_ns, int64_t now_ns,
	bool leader)
{
	lease->last_ns = later(lease->last_ns, sent_ns);
	if (leader) {
		lease->leader_ns = later(lease->leader_ns, sent_ns);
		move_base(lease, sent_ns);
	}
	add_mark(lease, sent_ns, now_ns);
	set_end(lease);
}
