/* queue_storm.c - random faults while items are put and taken. */
#include "queue_storm.h"
#include "mutex_pair.h"

#include <stdlib.h>

int storm_setting(const char *name, int usual)
{
	const char *text = getenv(name);

	return text != NULL ? atoi(text) : usual;
}

void storm_pause_ms(int ms)
{
	for (int i = 0; i < ms; i++)
		test_pause_1ms();
}

static void hold_up(unsigned *seed, int timeout_ms)
{
	proxy_set_mode(proxy, PROXY_HOLD);
	storm_pause_ms((int)((unsigned)rand_r(seed) % 8 == 0
			? 4 * (unsigned)timeout_ms / 3
			: (unsigned)rand_r(seed) % 300));
	proxy_set_mode(proxy, PROXY_PASS);
}

void storm_strike(unsigned *seed, int timeout_ms)
{
	static const int codes[] = { ZK_OP_MULTI, ZK_OP_MULTI, ZK_OP_GET,
		ZK_OP_EXISTS, ZK_OP_CHILDREN2, ZK_OP_CREATE2 };
	unsigned kind = (unsigned)rand_r(seed) % 39;

	if (kind < 30) {
		proxy_arm(proxy,
			kind % 2 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
			codes[(unsigned)rand_r(seed) % 6],
			1 + (int)((unsigned)rand_r(seed) % 5));
	} else if (kind < 35) {
		proxy_cut(proxy);
	} else if (kind < 37) {
		hold_up(seed, timeout_ms);
	} else if (kind == 37) {
		ck_assert_int_eq(server_pause(fixture_server()), 0);
		storm_pause_ms((int)((unsigned)rand_r(seed) % 500));
		ck_assert_int_eq(server_resume(fixture_server()), 0);
	} else {
		ck_assert_int_eq(server_kill(fixture_server()), 0);
		ck_assert_int_eq(server_restart(fixture_server()), 0);
	}
	storm_pause_ms((int)((unsigned)rand_r(seed) % 20));
}
