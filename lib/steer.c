/*
 * steer.c - which server to talk to: decisions only, no clock and no socket.
 */
#include "steer.h"
#include "clock.h"
#include "random.h"

#include <string.h>

/* All of these are fractions of T.  A heartbeat is sent after T/8 of silence,
   so that a server that dies is left T/4 after its last answer at the
   latest. */
#define PROBE_PART 16	 /* from the heartbeat to the probes */
#define PATIENCE_PART 16 /* for a live server to answer a probe */
#define SLOW_PART 3	 /* for a server that answers probes but not us */
#define ROUND_PART 8	 /* for all to answer a probe */
#define GAP_PART 16	 /* between rounds at first */
#define GAP_MAX_PART 4	 /* and at the most */
#define ATTEMPT_PART 6	 /* for one server to take us */
#define GRACE_PART 120	 /* for what the library tries by itself */
#define ANEW_MAX 2	 /* how often the only server is tried anew */

#define GAP_MIN (100 * KU_NS_PER_MS)
#define GRACE_MAX (50 * KU_NS_PER_MS)

enum { DEAD, UNDECIDED, ALIVE };

void ku_steer_init(struct ku_steer *s, struct ku_random *random)
{
	memset(s, 0, sizeof(*s));
	s->random = random;
	ku_steer_closed(s);
}

void ku_steer_shun(struct ku_steer *s, int server, bool shunned)
{
	if (server < s->count)
		s->shunned[server] = shunned;
}

void ku_steer_owed(struct ku_steer *s, bool owed)
{
	s->owed = owed;
}

static int64_t first_gap(const struct ku_steer *s)
{
	int64_t gap = s->timeout / GAP_PART;

	return gap < GAP_MIN ? GAP_MIN : gap;
}

/* Forget the answers, and have the next round begin at once.  A round that is
   running no longer counts. */
static void forget_round(struct ku_steer *s)
{
	memset(s->verdicts, 0, sizeof(s->verdicts));
	s->round = -1;
	s->next_round = 0;
	s->gap = first_gap(s);
}

void ku_steer_timeout(struct ku_steer *s, int64_t timeout_ns)
{
	s->timeout = timeout_ns;
}

void ku_steer_addresses(struct ku_steer *s, int count, bool distinct,
	int server)
{
	s->count = count < KU_PROBE_MAX ? count : KU_PROBE_MAX;
	s->distinct = distinct;
	s->server = server < s->count ? server : -1;
	if (s->listed >= 0)
		s->listed = s->server;
	s->probing = false;
	forget_round(s);
}

static void begin_search(struct ku_steer *s, int64_t now)
{
	s->connected = false;
	s->server = s->listed;
	s->since = now;
	s->alive = -1;
	s->anew = 0;
	s->next_resolve = now;
	/* After a kick the answers stay: they were the reason for it.  Anything
	   else that ended the connection may be newer than all answers. */
	if (!s->kicked || now - s->round > s->timeout / ROUND_PART)
		forget_round(s);
	s->kicked = false;
	s->gap = first_gap(s);
}

void ku_steer_opened(struct ku_steer *s, int64_t now)
{
	s->listed = s->count == 1 ? 0 : -1;
	begin_search(s, now);
	s->next_resolve = ku_time_add(now, s->timeout);
}

void ku_steer_connected(struct ku_steer *s, int server)
{
	s->connected = true;
	s->server = server < s->count ? server : -1;
	s->heartbeat = -1;
	s->kicked = false;
}

void ku_steer_disconnected(struct ku_steer *s, int64_t now)
{
	if (s->connected)
		begin_search(s, now);
}

/* Behave as if connected to a server that answers. */
void ku_steer_closed(struct ku_steer *s)
{
	ku_steer_connected(s, -1);
}

void ku_steer_heartbeat(struct ku_steer *s, int64_t now)
{
	if (!s->connected || s->heartbeat >= 0)
		return;
	s->heartbeat = now;
	s->next_resolve = now;
	s->kicked = false;
	s->kick_failed = false;
	if (!s->probing)
		forget_round(s);
}

void ku_steer_answered(struct ku_steer *s)
{
	s->heartbeat = -1;
}

void ku_steer_verdict(struct ku_steer *s, int server,
	enum ku_probe_verdict verdict)
{
	if (s->probing && s->round >= 0 && server < s->count)
		s->verdicts[server] = verdict;
}

void ku_steer_kick_failed(struct ku_steer *s)
{
	s->kick_failed = true;
}

/* Return whether server "i" is alive; one that has not answered stays undecided
   until it has had time to. */
static int health(const struct ku_steer *s, int i, int64_t now)
{
	if (s->verdicts[i] == KU_PROBE_LIVE)
		return ALIVE;
	if (s->verdicts[i] != KU_PROBE_UNKNOWN)
		return DEAD;
	if (s->round < 0 || now - s->round < s->timeout / PATIENCE_PART)
		return UNDECIDED;
	return DEAD;
}

/* Is it a server to turn to? */
static bool may_take_us(const struct ku_steer *s, int i)
{
	return i != s->server && !s->shunned[i] &&
		s->verdicts[i] == KU_PROBE_LIVE;
}

/* Choose a live server other than the present one, at random so that many
   clients that lose one server do not all go to the same; -1: none. */
static int pick(struct ku_steer *s)
{
	int i, found = -1;
	uint64_t seen = 0;

	for (i = 0; i < s->count; i++)
		if (may_take_us(s, i) &&
			ku_random_below(s->random, ++seen) == 0)
			found = i;
	return found;
}

static bool another_lives(const struct ku_steer *s)
{
	int i;

	for (i = 0; i < s->count; i++)
		if (may_take_us(s, i))
			return true;
	return false;
}

/* Has a whole round found no live server? */
static bool none_lives(const struct ku_steer *s)
{
	return s->round >= 0 && !s->probing && !another_lives(s) &&
		(s->server < 0 || s->verdicts[s->server] != KU_PROBE_LIVE);
}

static bool all_answered(const struct ku_steer *s)
{
	int i;

	for (i = 0; i < s->count; i++)
		if (s->verdicts[i] == KU_PROBE_UNKNOWN)
			return false;
	return true;
}

static void keep_earlier(int64_t *wake, int64_t at)
{
	if (at < *wake)
		*wake = at;
}

/* Return the only server that is not to be avoided; -1: there are several, or
   none. */
static int the_only(const struct ku_steer *s)
{
	int only = -1;

	for (int i = 0; i < s->count; i++) {
		if (s->shunned[i])
			continue;
		if (only >= 0)
			return -1;
		only = i;
	}
	return only;
}

static enum ku_steer_action stop_round(struct ku_steer *s, int64_t now)
{
	int64_t most = s->timeout / GAP_MAX_PART;

	s->probing = false;
	if (s->round < 0)
		return KU_STEER_STOP;
	s->next_round = ku_time_add(now, s->gap);
	/* is_stuck() counts from the return of the only server: while that is
	   down the gap must not grow. */
	int only = the_only(s);
	if (only < 0 || s->verdicts[only] == KU_PROBE_LIVE)
		s->gap = 2 * s->gap < most ? 2 * s->gap : most;
	if (s->gap < GAP_MIN)
		s->gap = GAP_MIN;
	return KU_STEER_STOP;
}

/* Start and end rounds of probes, the next not before "earliest". */
static enum ku_steer_action run_rounds(struct ku_steer *s, int64_t now,
	int64_t earliest, int64_t *wake)
{
	int64_t end = s->round < 0
		? 0
		: ku_time_add(s->round, s->timeout / ROUND_PART);

	if (s->probing) {
		if (now >= end || all_answered(s))
			return stop_round(s, now);
		keep_earlier(wake, end);
		return KU_STEER_NONE;
	}
	if (s->next_round > earliest)
		earliest = s->next_round;
	if (now < earliest) {
		keep_earlier(wake, earliest);
		return KU_STEER_NONE;
	}
	memset(s->verdicts, 0, sizeof(s->verdicts));
	s->probing = true;
	s->round = now;
	return KU_STEER_PROBE;
}

static enum ku_steer_action go_to(struct ku_steer *s, int64_t now, int server,
	int *to)
{
	if (s->connected)
		begin_search(s, now);
	s->server = server;
	s->listed = server;
	s->since = now;
	*to = server;
	return KU_STEER_TO;
}

/* Return when the connection may be given up; INT64_MAX: not for now.  A server
   whose index is not known may be the live one. */
static int64_t time_to_kick(const struct ku_steer *s, int64_t now)
{
	int64_t slow = ku_time_add(s->heartbeat, s->timeout / SLOW_PART);
	int state = s->server < 0 ? ALIVE : health(s, s->server, now);

	if (state == UNDECIDED)
		return s->round < 0
			? INT64_MAX
			: ku_time_add(s->round, s->timeout / PATIENCE_PART);
	if (state == ALIVE)
		return s->server >= 0 || another_lives(s) ? slow : INT64_MAX;
	return another_lives(s)
		? ku_time_add(s->heartbeat,
			  s->timeout / PROBE_PART + s->timeout / PATIENCE_PART)
		: INT64_MAX;
}

/* Give up the connection. */
static enum ku_steer_action leave(struct ku_steer *s, int64_t now, int *to)
{
	int server = s->owed && s->distinct ? pick(s) : -1;

	return server >= 0 ? go_to(s, now, server, to) : KU_STEER_KICK;
}

static enum ku_steer_action next_connected(struct ku_steer *s, int64_t now,
	int *to, int64_t *wake)
{
	int64_t kick;
	int server;

	if (s->heartbeat < 0)
		return s->probing ? stop_round(s, now) : KU_STEER_NONE;
	if (s->kick_failed && s->distinct) {
		server = pick(s);
		if (server >= 0)
			return go_to(s, now, server, to);
	}
	if (!s->kicked) {
		kick = time_to_kick(s, now);
		if (now >= kick) {
			s->kicked = true;
			return leave(s, now, to);
		}
		keep_earlier(wake, kick);
	}
	if (none_lives(s) && now >= s->next_resolve) {
		s->next_resolve = ku_time_add(now, s->timeout);
		return KU_STEER_RESOLVE;
	}
	return run_rounds(s, now,
		ku_time_add(s->heartbeat, s->timeout / PROBE_PART), wake);
}

/* Return when the present try may be interrupted.  Never at once: at the moment
   of a disconnect libzookeeper_mt may have chosen a server and not yet called
   connect(), and would miss that it was steered elsewhere. */
static int64_t time_to_move(const struct ku_steer *s, int64_t now)
{
	int64_t grace = s->timeout / GRACE_PART;

	if (s->server >= 0 && health(s, s->server, now) != DEAD)
		return ku_time_add(s->since, s->timeout / ATTEMPT_PART);
	return ku_time_add(s->since, grace < GRACE_MAX ? grace : GRACE_MAX);
}

/* Return another server that is not to be avoided.  It is dead, and the handle
   will be sent back from it.  -1: there is none. */
static int next_after(const struct ku_steer *s)
{
	for (int i = 1; i < s->count; i++)
		if (!s->shunned[(s->server + i) % s->count])
			return (s->server + i) % s->count;
	return -1;
}

/* Return the server to go to now; -1: none, for now. */
static int way_out(struct ku_steer *s, int64_t now, int64_t *wake)
{
	bool others = another_lives(s);

	if (!s->distinct)
		return -1;
	/* If only the server that is being tried lives, and it has not taken
	   us, the handle may have missed that it was steered there.  It would
	   miss the same address again, so it is sent to another one first. */
	if (!others &&
		(s->server < 0 || s->verdicts[s->server] != KU_PROBE_LIVE))
		return -1;
	int64_t move = time_to_move(s, now);
	if (now < move) {
		keep_earlier(wake, move);
		return -1;
	}
	return others ? pick(s) : next_after(s);
}

/* Should the only server be tried anew?  It should if it has lived long enough
   to take us, and has not.  A server that is starting may accept one
   connection, never answer on it, and serve all others; the library would give
   that one 2/3 of T.  A slow server gets more time with each try, and after
   ANEW_MAX tries is left alone. */
static bool is_stuck(struct ku_steer *s, int only, int64_t now, int64_t *wake)
{
	if (!s->distinct || only < 0 || (s->server >= 0 && s->server != only))
		return false;
	if (s->verdicts[only] != KU_PROBE_LIVE &&
		s->verdicts[only] != KU_PROBE_UNKNOWN) {
		s->alive = -1;
		s->anew = 0;
	}
	if (s->alive < 0 && s->verdicts[only] == KU_PROBE_LIVE)
		s->alive = now;
	if (s->alive < 0 || s->anew >= ANEW_MAX)
		return false;
	int64_t end = ku_time_add(s->alive,
		(s->timeout / ATTEMPT_PART) << s->anew);
	if (now >= end)
		return true;
	keep_earlier(wake, end);
	return false;
}

/* Even a server that cannot be left for another is probed: if it takes no
   connections now, a connection that it takes later is newer than the probe. */
static enum ku_steer_action next_disconnected(struct ku_steer *s, int64_t now,
	int *to, int64_t *wake)
{
	if (now >= s->next_resolve) {
		s->next_resolve = ku_time_add(now, s->timeout);
		return KU_STEER_RESOLVE;
	}
	keep_earlier(wake, s->next_resolve);
	if (s->count == 0)
		return KU_STEER_NONE;
	int server = way_out(s, now, wake);
	if (server >= 0)
		return go_to(s, now, server, to);
	int only = the_only(s);
	if (is_stuck(s, only, now, wake)) {
		s->anew++;
		(void)go_to(s, now, only, to);
		s->alive = now;
		return KU_STEER_ANEW;
	}
	/* A server that has not answered by then counts as dead, and may be
	   left before its time is up. */
	if (s->probing && now - s->round < s->timeout / PATIENCE_PART)
		keep_earlier(wake,
			ku_time_add(s->round, s->timeout / PATIENCE_PART));
	return run_rounds(s, now, s->next_round, wake);
}

enum ku_steer_action ku_steer_next(struct ku_steer *s, int64_t now, int *to,
	int64_t *wake)
{
	*wake = INT64_MAX;
	return s->connected ? next_connected(s, now, to, wake)
			    : next_disconnected(s, now, to, wake);
}
