/*
 * retry.h - the one place that counts tries, backs off and knows what each
 * return code of ZooKeeper means for trying again.
 */
#ifndef KU_RETRY_H
#define KU_RETRY_H

#include <kustos/retry.h>
#include <stdbool.h>

struct ku_random;
struct ku_zk_reply;

/* What a return code says of the request it answers. */
enum ku_outcome {
	KU_OUTCOME_DONE,    /* applied */
	KU_OUTCOME_REFUSED, /* not applied, and trying again will not help */
	KU_OUTCOME_AGAIN,   /* not applied; trying again may help */
	KU_OUTCOME_UNKNOWN, /* may or may not have been applied */
	KU_OUTCOME_EXPIRED  /* unknown, and the session is over */
};

/* Return what "rc", an enum ku_zk_rc, says.  A code not in the table counts
   as a refusal if it is an answer of the server (<= -100), else as unknown. */
enum ku_outcome ku_outcome(int rc);

/* Return the index of the transaction's operation that was refused, or -1 for
   the whole; "*rc" is its code. */
int ku_culprit(const struct ku_zk_reply *reply, int *rc);

/* Return the error that a caller sees for "rc" when it is final. */
enum kustos_err ku_rc_err(int rc);

/* Policies that are constant. */
#define KU_RETRY_FOREVER(pause)                                    \
	{                                                          \
		.kind = KUSTOS_RETRY_FOREVER, .pause_ms = (pause), \
		.max_elapsed_ms = INT64_MAX                        \
	}
#define KU_RETRY_EXPONENTIAL(base, max_pause)                        \
	{                                                            \
		.kind = KUSTOS_RETRY_EXPONENTIAL, .max_retries = 29, \
		.pause_ms = (base), .max_pause_ms = (max_pause),     \
		.max_elapsed_ms = INT64_MAX                          \
	}

/* Progress of one call through its policy. */
struct ku_retry {
	const struct kustos_retry *policy; /* outlives it */
	int tries;
	int64_t started_ns;
};

void ku_retry_start(struct ku_retry *r, const struct kustos_retry *policy,
	int64_t now_ns);

/* One more try has failed with "err": return the nanoseconds to pause before
   the next, or -1 to give up. */
int64_t ku_retry_next(struct ku_retry *r, enum kustos_err err, int64_t now_ns,
	struct ku_random *random);

/* Return whether "policy" makes sense: no negative times, a function if it is
   custom, a known kind. */
bool ku_retry_valid(const struct kustos_retry *policy);

#endif
