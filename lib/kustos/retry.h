/*
 * kustos/retry.h - how often and how patiently a request is tried again.
 *
 * A policy is a plain value.  It is asked after each try that failed for a
 * reason that may pass (a lost connection, a throttled server), and never
 * about an answer such as "no such node".  While there is no connection it is
 * asked as well, as if a try had failed each time.  A call ends at its
 * deadline, whatever the policy says; and if the policy gives up before, with
 * KUSTOS_EDISCONNECTED or KUSTOS_EUNKNOWN, even if the deadline is
 * KUSTOS_FOREVER.
 *
 * The policy is for the operations of <kustos/node.h> and for the calls that
 * consist of such operations: kustos_hold_multi(), those that change
 * participants, kustos_barrier_set() and _remove(), those of a count-down latch
 * except the wait, kustos_semaphore_set_max(), kustos_queue_count() and
 * kustos_queue_remove_id(); and for the listing, but not the reads, of
 * kustos_participants().  The other calls of recipes, such as a wait for a lock
 * or an item, go on until their deadlines.
 *
 * Threads: the functions only build values.  A policy's own function runs on
 * any thread, with a lock of the library held: it must not block or call back.
 */
#ifndef KUSTOS_RETRY_H
#define KUSTOS_RETRY_H

#include <kustos/base.h>

KUSTOS_BEGIN

/* Decide about one more try.  "err" is why the last one failed, or
   KUSTOS_EDISCONNECTED while there is no connection to try it on; "tries"
   counts how often the policy was asked (1, 2, ...), and "elapsed_ms" runs from
   the first try.  Return the milliseconds to pause before the next try, or a
   negative number to give up. */
typedef int64_t kustos_retry_fn(void *arg, enum kustos_err err, int tries,
	int64_t elapsed_ms);

enum kustos_retry_kind {
	KUSTOS_RETRY_NONE = 0,
	KUSTOS_RETRY_N_TIMES = 1,
	KUSTOS_RETRY_UNTIL_ELAPSED = 2,
	KUSTOS_RETRY_FOREVER = 3,
	KUSTOS_RETRY_EXPONENTIAL = 4,
	KUSTOS_RETRY_CUSTOM = 5
};

/* Made by the functions below; the fields are not for direct use. */
struct kustos_retry {
	enum kustos_retry_kind kind;
	int max_retries;
	int64_t pause_ms; /* of the first pause, or of each */
	int64_t max_pause_ms;
	int64_t max_elapsed_ms;
	kustos_retry_fn *fn;
	void *arg;
};

/* Never try again. */
KUSTOS_API struct kustos_retry kustos_retry_none(void);

/* Try again once, after "pause_ms". */
KUSTOS_API struct kustos_retry kustos_retry_once(int64_t pause_ms);

/* Try again up to "n" times, "pause_ms" apart. */
KUSTOS_API struct kustos_retry kustos_retry_n_times(int n, int64_t pause_ms);

/* Try again, "pause_ms" apart, until "max_elapsed_ms" have passed since the
   first try. */
KUSTOS_API struct kustos_retry kustos_retry_until_elapsed(
	int64_t max_elapsed_ms, int64_t pause_ms);

/* Try again for as long as the deadline allows, "pause_ms" apart. */
KUSTOS_API struct kustos_retry kustos_retry_forever(int64_t pause_ms);

/* Back off: the k-th pause is base_ms * max(1, random in [0, 2^k)), at most
   "max_pause_ms" (0: no limit), at most "max_retries" times (29 at the
   most). */
KUSTOS_API struct kustos_retry kustos_retry_exponential(int64_t base_ms,
	int64_t max_pause_ms, int max_retries);

/* As kustos_retry_exponential, and give up once "max_elapsed_ms" have passed
   since the first try. */
KUSTOS_API struct kustos_retry kustos_retry_bounded(int64_t base_ms,
	int64_t max_pause_ms, int max_retries, int64_t max_elapsed_ms);

/* Ask "fn" each time. */
KUSTOS_API struct kustos_retry kustos_retry_custom(kustos_retry_fn *fn,
	void *arg);

KUSTOS_END
#endif
