/*
 * test_queue_moves.c - sessions move from a follower, whose link to the leader
 * is held for a while, to the leader and back.  What was sent before a move may
 * be carried out after it; nothing may be lost or doubled.
 *
 * Both servers are behind the same addresses, so that a client cannot tell them
 * apart.  There are many addresses, so that a session has one to go to, however
 * many it shuns.  Which requests are affected is random.  QUEUE_MOVES sets how
 * often this is run (4).
 */
#include "client_fixture.h"
#include "queue_storm.h"
#include "support/ensemble.h"
#include "support/proxy.h"

#include <kustos/queue.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLLOWER 0
#define LEADER 2
#define CLIENTS 4
#define WAYS 9
#define QUEUES 6
#define LANES (CLIENTS * QUEUES)
#define ITEMS_MAX 100000

static struct ensemble *ensemble;
static struct proxy *ways[WAYS];
static struct kustos_client *clients[CLIENTS];
static int next, stop, drain;
static int put[ITEMS_MAX], taken[ITEMS_MAX]; /* how often */

static int get(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static struct kustos_queue *queue_of(size_t lane)
{
	struct kustos_queue *queue = NULL;
	char path[24];

	snprintf(path, sizeof(path), "/moves-%d", (int)(lane % QUEUES));
	ck_assert_int_eq(
		kustos_queue_create(clients[lane / QUEUES], path, NULL, &queue),
		KUSTOS_OK);
	return queue;
}

static void *putting(void *arg)
{
	struct kustos_queue *queue = queue_of((size_t)arg);

	while (!get(&stop)) {
		int id = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
		char text[12];
		int len = snprintf(text, sizeof(text), "%d", id);

		ck_assert_int_lt(id, ITEMS_MAX);
		ck_assert_int_eq(kustos_queue_put(queue, text, (size_t)len,
					 KUSTOS_FOREVER, NULL),
			KUSTOS_OK);
		put[id]++;
		storm_pause_ms(3);
	}
	kustos_queue_destroy(queue);
	return NULL;
}

/* Return whether the queue of this lane has no item. */
static bool is_empty(size_t lane)
{
	struct kustos_client *c = clients[lane / QUEUES];
	struct kustos_names *items = NULL;
	char path[24];

	snprintf(path, sizeof(path), "/moves-%d", (int)(lane % QUEUES));
	ck_assert_int_eq(kustos_sync(c, path, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	ck_assert_int_eq(
		kustos_children(c, path, KUSTOS_FOREVER, NULL, &items, NULL),
		KUSTOS_OK);
	bool empty = items->count == 0;
	kustos_names_free(items);
	return empty;
}

static void *taking(void *arg)
{
	struct kustos_queue *queue = queue_of((size_t)arg);
	enum kustos_err err = KUSTOS_OK;

	while (err == KUSTOS_OK || !get(&drain) || !is_empty((size_t)arg)) {
		struct kustos_item *list[4];
		size_t count = 0;

		err = kustos_queue_poll_many(queue, 4, kustos_after_ms(1000),
			NULL, list, &count);
		for (size_t i = 0; i < count; i++) {
			__atomic_add_fetch(&taken[atoi(list[i]->data)], 1,
				__ATOMIC_SEQ_CST);
			kustos_item_free(list[i]);
		}
	}
	kustos_queue_destroy(queue);
	return NULL;
}

/* Existing connections stay until they are cut. */
static void turn_to(int server)
{
	for (int i = 0; i < WAYS; i++)
		ck_assert_int_eq(proxy_turn(ways[i],
					 server_address(ensemble_server(
						 ensemble, server))),
			0);
}

static void cut(bool really)
{
	for (int i = 0; really && i < WAYS; i++)
		proxy_cut(ways[i]);
}

/* Move all from the follower to the leader, and back. */
static void move(unsigned *seed)
{
	struct proxy *lag = ensemble_lag(ensemble);

	storm_pause_ms(300 + rand_r(seed) % 500);
	proxy_set_mode(lag, PROXY_HOLD);
	turn_to(LEADER);
	storm_pause_ms(rand_r(seed) % 800);
	cut(rand_r(seed) % 2 == 1);
	storm_pause_ms(1500 + rand_r(seed) % 2000);
	turn_to(FOLLOWER);
	proxy_set_mode(lag, PROXY_PASS);
	storm_pause_ms(rand_r(seed) % 60);
	cut(rand_r(seed) % 2 == 1);
	storm_pause_ms(500);
	cut(true);
}

static void open_all(void)
{
	struct server_options o = { .tick_ms = 1000 };
	char hosts[WAYS * 24], ip[16];
	int len = 0;

	ensemble = ensemble_start(&o, true);
	ck_assert_ptr_nonnull(ensemble);
	server_kill(ensemble_server(ensemble, 1));
	for (int i = 0; i < WAYS; i++) {
		snprintf(ip, sizeof(ip), "127.0.0.%d", 51 + i);
		ways[i] = proxy_start(ip,
			server_address(ensemble_server(ensemble, FOLLOWER)),
			PROXY_ZOOKEEPER);
		len += snprintf(hosts + len, sizeof(hosts) - (size_t)len,
			"%s%s", i > 0 ? "," : "", proxy_address(ways[i]));
	}
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = client_connected(hosts, 4000 + 1000 * (i % 3));
}

START_TEST(S15_what_is_done_after_a_move_is_not_done_again)
{
	pthread_t putters[LANES], takers[LANES];
	unsigned seed = 1;

	open_all();
	for (size_t i = 0; i < LANES; i++) {
		pthread_create(&putters[i], NULL, putting, (void *)i);
		pthread_create(&takers[i], NULL, taking, (void *)i);
	}
	for (int i = storm_setting("QUEUE_MOVES", 4); i > 0; i--)
		move(&seed);
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < LANES; i++)
		pthread_join(putters[i], NULL);
	__atomic_store_n(&drain, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < LANES; i++)
		pthread_join(takers[i], NULL);
	for (int i = 0; i < next; i++)
		ck_assert_msg(put[i] == 1 && taken[i] == 1,
			"%d: put %d times, taken %d times", i, put[i],
			taken[i]);
	for (int i = 0; i < CLIENTS; i++)
		client_close(clients[i]);
	for (int i = 0; i < WAYS; i++)
		proxy_free(ways[i]);
	ensemble_free(ensemble);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, moves");
	TCase *t = fixture_bare_case(s, "two of three servers", 60);

	tcase_add_test(t, S15_what_is_done_after_a_move_is_not_done_again);
	return fixture_main(s);
}
