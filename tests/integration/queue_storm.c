/* queue_storm.c - faults while items are put and taken. */
#include "queue_storm.h"
#include "mutex_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[STORM_KINDS] = { "lost requests", "lost replies",
	"cuts", "holds", "long holds", "pauses", "restarts" };

static struct {
	int strikes;
	int counts[STORM_KINDS];
	enum storm_kind armed; /* what the proxy is to lose, or lost last */
	int fired;	       /* how much of that was counted */
} storm;

int storm_setting(const char *name, int usual)
{
	const char *text = getenv(name);

	return text != NULL ? atoi(text) : usual;
}

void storm_pause_ms(int ms)
{
	int64_t end = test_now_ms() + ms;

	while (test_now_ms() < end)
		test_pause_1ms();
}

void storm_begin(void)
{
	memset(&storm, 0, sizeof(storm));
}

/* Count what was lost.  Returns whether it is the first of its kind. */
static bool has_lost(void)
{
	int fired = proxy_fired(proxy);

	storm.counts[storm.armed] += fired - storm.fired;
	storm.fired = fired;
	return storm.counts[storm.armed] > 0;
}

static void arm(enum storm_kind kind, int op, int n)
{
	proxy_arm(proxy, PROXY_NO_FAULT, 0, 1);
	(void)has_lost();
	storm.armed = kind;
	proxy_arm(proxy,
		kind == STORM_LOSE_REPLY ? PROXY_LOSE_REPLY
					 : PROXY_LOSE_REQUEST,
		op, n);
}

/* Wait until what is armed has happened.  The connection may have broken by
   itself before the reply that was to be lost, so arm it again now and then. */
static void await_loss(void)
{
	for (int ms = 0; !has_lost(); ms++) {
		ck_assert_msg(ms < PATIENCE_MS, "no %s", names[storm.armed]);
		if (ms % 1000 == 999)
			arm(storm.armed, ZK_OP_MULTI, 1);
		test_pause_1ms();
	}
}

static void lose(enum storm_kind kind, unsigned *seed)
{
	static const int codes[] = { ZK_OP_MULTI, ZK_OP_MULTI, ZK_OP_GET,
		ZK_OP_EXISTS, ZK_OP_CHILDREN2, ZK_OP_CREATE2 };
	unsigned which = (unsigned)rand_r(seed) % 6;

	/* Transactions are sure to come. */
	arm(kind, storm.strikes < STORM_KINDS ? ZK_OP_MULTI : codes[which],
		1 + (int)((unsigned)rand_r(seed) % 5));
}

static void hold(int ms)
{
	proxy_set_mode(proxy, PROXY_HOLD);
	storm_pause_ms(ms);
	proxy_set_mode(proxy, PROXY_PASS);
}

static void cause(enum storm_kind kind, unsigned *seed, int timeout_ms)
{
	switch (kind) {
	case STORM_LOSE_REQUEST:
	case STORM_LOSE_REPLY:
		lose(kind, seed);
		return; /* it is counted when it happens */
	case STORM_CUT:
		proxy_cut(proxy);
		break;
	case STORM_HOLD:
		hold((int)((unsigned)rand_r(seed) % 300));
		break;
	case STORM_HOLD_LONG:
		hold(4 * timeout_ms / 3);
		break;
	case STORM_PAUSE:
		ck_assert_int_eq(server_pause(fixture_server()), 0);
		storm_pause_ms((int)((unsigned)rand_r(seed) % 500));
		ck_assert_int_eq(server_resume(fixture_server()), 0);
		break;
	default:
		ck_assert_int_eq(server_kill(fixture_server()), 0);
		ck_assert_int_eq(server_restart(fixture_server()), 0);
	}
	storm.counts[kind]++;
}

static enum storm_kind some_kind(unsigned *seed)
{
	unsigned kind = (unsigned)rand_r(seed) % 39;

	if (kind < 30)
		return kind % 2 ? STORM_LOSE_REPLY : STORM_LOSE_REQUEST;
	if (kind < 35)
		return STORM_CUT;
	if (kind < 37)
		return (unsigned)rand_r(seed) % 8 == 0 ? STORM_HOLD_LONG
						       : STORM_HOLD;
	return kind == 37 ? STORM_PAUSE : STORM_RESTART;
}

void storm_strike(unsigned *seed, int timeout_ms)
{
	bool in_turn = storm.strikes < STORM_KINDS;

	if (storm.strikes > 0 && storm.strikes <= STORM_KINDS &&
		storm.counts[storm.strikes - 1] == 0)
		await_loss();
	cause(in_turn ? (enum storm_kind)storm.strikes : some_kind(seed), seed,
		timeout_ms);
	storm.strikes++;
	storm_pause_ms((int)((unsigned)rand_r(seed) % 20));
}

void storm_end(void)
{
	proxy_arm(proxy, PROXY_NO_FAULT, 0, 1);
	(void)has_lost();
	printf("of these");
	for (int i = 0; i < STORM_KINDS; i++)
		printf("%s %d %s", i > 0 ? "," : "", storm.counts[i], names[i]);
	printf("\n");
	for (int i = 0; i < STORM_KINDS; i++)
		ck_assert_msg(storm.counts[i] > 0, "no %s", names[i]);
}
