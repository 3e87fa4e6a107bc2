/*
 * retry.c - policies, back-off, and what each return code means.
 */
#include "retry.h"

#include "clock.h"
#include "random.h"
#include "zk.h"

#include <limits.h>

#define NO_LIMIT INT64_MAX

/* Curator's limit.  It also keeps 2^k well inside 64 bits. */
#define MAX_BACK_OFFS 29

struct meaning {
	int rc;
	enum ku_outcome outcome;
	enum kustos_err err;
};

/* For an unknown outcome "err" is the error of a request that may be repeated
   at will; one that may not be repeated reports KUSTOS_EUNKNOWN.

   INVALIDSTATE and MARSHALLINGERROR are not answers: the request was not even
   queued. */
static const struct meaning meanings[] = {
	{ KU_ZK_OK, KU_OUTCOME_DONE, KUSTOS_OK },

	{ KU_ZK_SYSTEMERROR, KU_OUTCOME_UNKNOWN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_RUNTIMEINCONSISTENCY, KU_OUTCOME_UNKNOWN,
		KUSTOS_EDISCONNECTED },
	{ KU_ZK_DATAINCONSISTENCY, KU_OUTCOME_UNKNOWN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_CONNECTIONLOSS, KU_OUTCOME_UNKNOWN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_OPERATIONTIMEOUT, KU_OUTCOME_UNKNOWN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_CLOSING, KU_OUTCOME_UNKNOWN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_SESSIONEXPIRED, KU_OUTCOME_EXPIRED, KUSTOS_ELOST },

	{ KU_ZK_SESSIONMOVED, KU_OUTCOME_AGAIN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_THROTTLEDOP, KU_OUTCOME_AGAIN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_INVALIDSTATE, KU_OUTCOME_AGAIN, KUSTOS_EDISCONNECTED },
	{ KU_ZK_MARSHALLINGERROR, KU_OUTCOME_AGAIN, KUSTOS_EDISCONNECTED },

	{ KU_ZK_BADARGUMENTS, KU_OUTCOME_REFUSED, KUSTOS_EINVAL },
	{ KU_ZK_UNIMPLEMENTED, KU_OUTCOME_REFUSED, KUSTOS_EUNSUPPORTED },
	{ KU_ZK_NONODE, KU_OUTCOME_REFUSED, KUSTOS_ENONODE },
	{ KU_ZK_NOAUTH, KU_OUTCOME_REFUSED, KUSTOS_ENOAUTH },
	{ KU_ZK_BADVERSION, KU_OUTCOME_REFUSED, KUSTOS_EBADVERSION },
	{ KU_ZK_NOCHILDRENFOREPHEMERALS, KU_OUTCOME_REFUSED,
		KUSTOS_ENOCHILDREN },
	{ KU_ZK_NODEEXISTS, KU_OUTCOME_REFUSED, KUSTOS_EEXISTS },
	{ KU_ZK_NOTEMPTY, KU_OUTCOME_REFUSED, KUSTOS_ENOTEMPTY },
	{ KU_ZK_INVALIDACL, KU_OUTCOME_REFUSED, KUSTOS_EBADACL },
	{ KU_ZK_AUTHFAILED, KU_OUTCOME_REFUSED, KUSTOS_EAUTH },
	{ KU_ZK_NOTREADONLY, KU_OUTCOME_REFUSED, KUSTOS_EUNSUPPORTED },
	{ KU_ZK_NOWATCHER, KU_OUTCOME_REFUSED, KUSTOS_ESERVER },
	{ KU_ZK_QUOTAEXCEEDED, KU_OUTCOME_REFUSED, KUSTOS_EQUOTA },
};

/* ZooKeeper numbers the answers of its servers from here downwards. */
#define FIRST_API_ERROR (-100)

static const struct meaning other_answer = { 0, KU_OUTCOME_REFUSED,
	KUSTOS_ESERVER };
static const struct meaning other = { 0, KU_OUTCOME_UNKNOWN,
	KUSTOS_EDISCONNECTED };

static const struct meaning *meaning_of(int rc)
{
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].rc == rc)
			return &meanings[i];
	return rc <= FIRST_API_ERROR ? &other_answer : &other;
}

enum ku_outcome ku_outcome(int rc)
{
	return meaning_of(rc)->outcome;
}

int ku_culprit(const struct ku_zk_reply *reply, int *rc)
{
	for (int i = 0; i < reply->result_count; i++) {
		*rc = reply->results[i].rc;
		if (*rc != KU_ZK_OK && *rc != KU_ZK_RUNTIMEINCONSISTENCY)
			return i;
	}
	*rc = reply->rc;
	return -1;
}

enum kustos_err ku_rc_err(int rc)
{
	return meaning_of(rc)->err;
}

struct kustos_retry kustos_retry_none(void)
{
	struct kustos_retry policy = { .kind = KUSTOS_RETRY_NONE };

	policy.max_elapsed_ms = NO_LIMIT;
	return policy;
}

struct kustos_retry kustos_retry_once(int64_t pause_ms)
{
	return kustos_retry_n_times(1, pause_ms);
}

struct kustos_retry kustos_retry_n_times(int n, int64_t pause_ms)
{
	struct kustos_retry policy = kustos_retry_none();

	policy.kind = KUSTOS_RETRY_N_TIMES;
	policy.max_retries = n;
	policy.pause_ms = pause_ms;
	return policy;
}

struct kustos_retry kustos_retry_until_elapsed(int64_t max_elapsed_ms,
	int64_t pause_ms)
{
	struct kustos_retry policy = kustos_retry_forever(pause_ms);

	policy.kind = KUSTOS_RETRY_UNTIL_ELAPSED;
	policy.max_elapsed_ms = max_elapsed_ms;
	return policy;
}

struct kustos_retry kustos_retry_forever(int64_t pause_ms)
{
	struct kustos_retry policy = kustos_retry_none();

	policy.kind = KUSTOS_RETRY_FOREVER;
	policy.pause_ms = pause_ms;
	return policy;
}

struct kustos_retry kustos_retry_exponential(int64_t base_ms,
	int64_t max_pause_ms, int max_retries)
{
	return kustos_retry_bounded(base_ms, max_pause_ms, max_retries,
		NO_LIMIT);
}

struct kustos_retry kustos_retry_bounded(int64_t base_ms, int64_t max_pause_ms,
	int max_retries, int64_t max_elapsed_ms)
{
	struct kustos_retry policy = kustos_retry_none();

	policy.kind = KUSTOS_RETRY_EXPONENTIAL;
	policy.pause_ms = base_ms;
	policy.max_pause_ms = max_pause_ms;
	policy.max_retries = max_retries;
	policy.max_elapsed_ms = max_elapsed_ms;
	return policy;
}

struct kustos_retry kustos_retry_custom(kustos_retry_fn *fn, void *arg)
{
	struct kustos_retry policy = kustos_retry_none();

	policy.kind = KUSTOS_RETRY_CUSTOM;
	policy.fn = fn;
	policy.arg = arg;
	return policy;
}

void ku_retry_start(struct ku_retry *r, const struct kustos_retry *policy,
	int64_t now_ns)
{
	r->policy = policy;
	r->tries = 0;
	r->started_ns = now_ns;
}

/* Return the pause after "tries" tries, of which there are 1 to
   MAX_BACK_OFFS. */
static int64_t back_off_ms(const struct kustos_retry *policy, int tries,
	struct ku_random *random)
{
	int64_t times = (int64_t)ku_random_below(random, UINT64_C(1) << tries);
	int64_t pause = policy->pause_ms;

	if (times > 1)
		pause = pause > INT64_MAX / times ? INT64_MAX : pause * times;
	if (policy->max_pause_ms > 0 && pause > policy->max_pause_ms)
		pause = policy->max_pause_ms;
	return pause;
}

/* Return milliseconds, or a negative number to give up. */
static int64_t next_pause_ms(const struct kustos_retry *policy,
	enum kustos_err err, int tries, int64_t elapsed_ms,
	struct ku_random *random)
{
	if (policy->kind == KUSTOS_RETRY_CUSTOM)
		return policy->fn(policy->arg, err, tries, elapsed_ms);
	if (elapsed_ms >= policy->max_elapsed_ms)
		return -1;
	switch (policy->kind) {
	case KUSTOS_RETRY_N_TIMES:
		return tries <= policy->max_retries ? policy->pause_ms : -1;
	case KUSTOS_RETRY_UNTIL_ELAPSED:
	case KUSTOS_RETRY_FOREVER:
		return policy->pause_ms;
	case KUSTOS_RETRY_EXPONENTIAL:
		if (tries > policy->max_retries || tries > MAX_BACK_OFFS)
			return -1;
		return back_off_ms(policy, tries, random);
	default:
		return -1;
	}
}

int64_t ku_retry_next(struct ku_retry *r, enum kustos_err err, int64_t now_ns,
	struct ku_random *random)
{
	int64_t elapsed_ns, pause_ms;

	if (r->tries < INT_MAX)
		r->tries++;
	elapsed_ns = now_ns > r->started_ns ? now_ns - r->started_ns : 0;
	pause_ms = next_pause_ms(r->policy, err, r->tries,
		elapsed_ns / KU_NS_PER_MS, random);
	if (pause_ms < 0)
		return -1;
	if (pause_ms > INT64_MAX / KU_NS_PER_MS)
		return INT64_MAX;
	return pause_ms * KU_NS_PER_MS;
}

bool ku_retry_valid(const struct kustos_retry *policy)
{
	return (unsigned)policy->kind <= KUSTOS_RETRY_CUSTOM &&
		(policy->kind != KUSTOS_RETRY_CUSTOM || policy->fn != NULL) &&
		policy->pause_ms >= 0 && policy->max_pause_ms >= 0 &&
		policy->max_elapsed_ms >= 0;
}
