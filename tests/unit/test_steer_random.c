/*
 * test_steer_random.c - steer.h: rules that every decision must keep, under
 * random events.
 */
#include "steer_bed.h"

#include "sanitized.h"

/* Three servers, and no connection. */
static void begin(void)
{
	ku_steer_init(&s, &rnd);
	ku_steer_timeout(&s, T);
	ku_steer_addresses(&s, 3, true, -1);
	now = 1000 * T;
}

/* What a careful reader of steer.h would expect at any moment. */
struct belief {
	bool connected, heartbeat, kicked, probing, distinct;
	int count, server, listed;
	bool live[KU_PROBE_MAX];
};

/* The only server that lives has not taken us: it is left, and will be steered
   to again. */
static bool must_be_sent_away(const struct belief *b)
{
	int i, others = 0;

	for (i = 0; i < b->count; i++)
		others += i != b->server && b->live[i];
	return others == 0 && b->server >= 0 && b->live[b->server];
}

static void act(struct belief *b, enum ku_steer_action action)
{
	int i;

	switch (action) {
	case KU_STEER_PROBE:
		ck_assert(!b->probing);
		ck_assert(!b->connected || b->heartbeat);
		b->probing = true;
		for (i = 0; i < b->count; i++)
			b->live[i] = false;
		break;
	case KU_STEER_STOP:
		ck_assert(b->probing);
		b->probing = false;
		break;
	case KU_STEER_KICK:
		ck_assert(b->connected && b->heartbeat && !b->kicked);
		b->kicked = true;
		if (ku_random_below(&rnd, 2)) {
			ku_steer_kick_failed(&s);
		} else {
			ku_steer_disconnected(&s, now);
			b->connected = b->heartbeat = false;
			b->server = b->listed;
		}
		break;
	case KU_STEER_TO:
		ck_assert(b->distinct);
		ck_assert(!b->connected || (b->heartbeat && b->kicked));
		ck_assert(to >= 0 && to < b->count && to != b->server);
		ck_assert(b->live[to] || must_be_sent_away(b));
		b->connected = b->heartbeat = false;
		b->server = b->listed = to;
		break;
	case KU_STEER_ANEW:
		ck_assert(b->distinct && !b->connected);
		ck_assert(b->count == 1 && b->server <= 0 && to == 0);
		b->listed = to;
		break;
	case KU_STEER_RESOLVE:
		ck_assert(!b->connected || b->heartbeat);
		break;
	case KU_STEER_NONE:
		break;
	}
}

static void new_addresses(struct belief *b)
{
	int i;

	b->count = (int)ku_random_below(&rnd, 5);
	b->distinct = ku_random_below(&rnd, 4) > 0;
	b->probing = false;
	b->server = -1;
	if (b->listed >= 0)
		b->listed = -1;
	for (i = 0; i < KU_PROBE_MAX; i++)
		b->live[i] = false;
	ku_steer_addresses(&s, b->count, b->distinct, -1);
}

static void happen(struct belief *b)
{
	int i = b->count ? (int)ku_random_below(&rnd, (uint64_t)b->count) : -1;
	enum ku_probe_verdict verdict;

	switch (ku_random_below(&rnd, 12)) {
	case 0:
		if (b->listed < 0)
			b->server = i;
		else
			b->server = b->listed;
		ku_steer_connected(&s, b->server);
		b->connected = true;
		b->heartbeat = b->kicked = false;
		break;
	case 1:
		if (b->connected)
			b->server = b->listed;
		ku_steer_disconnected(&s, now);
		b->connected = b->heartbeat = false;
		break;
	case 2:
	case 3:
		ku_steer_heartbeat(&s, now);
		if (b->connected && !b->heartbeat)
			b->heartbeat = true, b->kicked = false;
		break;
	case 4:
		ku_steer_answered(&s);
		b->heartbeat = false;
		break;
	case 5:
		if (ku_random_below(&rnd, 10) == 0)
			new_addresses(b);
		break;
	default:
		if (i < 0)
			break;
		verdict = (enum ku_probe_verdict)(1 + ku_random_below(&rnd, 4));
		if (b->probing)
			b->live[i] = verdict == KU_PROBE_LIVE;
		ku_steer_verdict(&s, i, verdict);
	}
}

START_TEST(whatever_happens_the_rules_are_kept)
{
	struct belief b = { .count = 3,
		.distinct = true,
		.server = -1,
		.listed = -1 };
	int i, actions;

	ku_random_seed(&rnd, (uint64_t)_i + 1);
	ku_steer_opened(&s, now);
	for (i = 0; i < 20000 / TIMES_LESS; i++) {
		enum ku_steer_action action;

		happen(&b);
		for (actions = 0; (action = next()) != KU_STEER_NONE;
			actions++) {
			ck_assert_int_lt(actions, 8);
			act(&b, action);
		}
		ck_assert_int_eq(s.connected, b.connected);
		ck_assert_int_gt(wake, now);
		if (!b.connected || b.probing || b.heartbeat)
			ck_assert_int_lt(wake, now + 2 * T);
		now += (int64_t)ku_random_below(&rnd, T / 20);
		if (ku_random_below(&rnd, 3) == 0 && wake < now + T)
			now = wake;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steer_random");
	TCase *tcase = tcase_create("rules");

	tcase_add_checked_fixture(tcase, begin, NULL);
	tcase_add_loop_test(tcase, whatever_happens_the_rules_are_kept, 0, 20);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
