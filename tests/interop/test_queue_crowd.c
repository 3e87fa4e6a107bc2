/*
 * test_queue_crowd.c - several processes of ours and several that use
 * ZooKeeper's own queue put into one queue, and take from it, at the same time.
 */
#include "peer.h"
#include "support/raw.h"

#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000
#define EACH 1200 /* items that each of two processes puts */
#define ALL (2 * EACH)
#define PUT_AT_ONCE 8
#define TAKE_AT_ONCE 4
#define PUTTERS 2
#define PEERS 6

/* The first two put, and the others take. */
static const enum peer_kind kinds[PEERS + 1] = { PEER_KUSTOS, PEER_ZOOKEEPER,
	PEER_KUSTOS, PEER_ZOOKEEPER, PEER_KUSTOS, PEER_ZOOKEEPER, PEER_KINDS };

static struct peer peers[PEERS];
static bool had[ALL];
static int taken;		 /* by all */
static int share[PEERS];	 /* of them */
static int last[PEERS][PUTTERS]; /* that each has of each who puts */

/* The queue's node is made beforehand: a call of theirs that finds it missing
   fails if somebody else is faster to make it. */
static void start(int count)
{
	memset(had, 0, sizeof(had));
	memset(share, 0, sizeof(share));
	memset(last, -1, sizeof(last));
	taken = 0;
	ck_assert_int_eq(raw_create(fixture_address(), "/q", ""), 0);
	peers_start(peers, kinds, count, SESSION_MS);
}

/* Process "who" has this item.  If "in_order" it has none from the same process
   that was put later. */
static void have(int who, int number, bool in_order)
{
	int *before = &last[who][number / EACH];

	ck_assert_int_ge(number, 0);
	ck_assert_int_lt(number, ALL);
	ck_assert_msg(!had[number], "%d was taken twice", number);
	if (in_order)
		ck_assert_int_gt(number, *before);
	had[number] = true;
	*before = number;
	share[who]++;
	taken++;
}

static void hear_items(int who, bool in_order)
{
	char *rest = NULL;

	(void)peer_hear(&peers[who], "fetched", PATIENCE_MS);
	(void)strtok_r(peers[who].reply, " ", &rest);
	(void)strtok_r(NULL, " ", &rest); /* their number */
	for (char *item; (item = strtok_r(NULL, " ", &rest)) != NULL;)
		have(who, atoi(item), in_order);
}

/* Have all that put and those from "from" to "to" - 1, which take, do so at
   once.  "put" is how many were put by each; returns the same for afterwards. */
static int go_on(int put, int from, int to, bool in_order)
{
	int next = put + PUT_AT_ONCE <= EACH ? put + PUT_AT_ONCE : EACH;

	for (int i = 0; i < PUTTERS && next > put; i++)
		peer_tell(&peers[i], "supply simple /q %d %d %d",
			i * EACH + put, i * EACH + next, PATIENCE_MS);
	for (int i = from; i < to; i++)
		peer_tell(&peers[i], "fetch simple /q %d 20", TAKE_AT_ONCE);
	for (int i = 0; i < PUTTERS && next > put; i++)
		ck_assert_int_eq(
			atoi(peer_hear(&peers[i], "supplied", PATIENCE_MS)),
			next - put);
	for (int i = from; i < to; i++)
		hear_items(i, in_order || kinds[i] == PEER_ZOOKEEPER);
	return next;
}

/* Ours and theirs compete for the first items.  One of ours may then take newer
   items before older ones. */
START_TEST(S15_each_item_is_had_once_when_many_of_both_take)
{
	int put = 0;

	start(PEERS);
	while (taken < ALL)
		put = go_on(put, PUTTERS, PEERS, false);
	for (int i = PUTTERS; i < PEERS; i++)
		ck_assert_int_gt(share[i], ALL / 100);
	line_await("/q", 0);
	peers_end(peers, PEERS);
}
END_TEST

START_TEST(who_takes_alone_has_what_each_of_both_put_in_its_order)
{
	int put = 0, who = PUTTERS + _i;

	start(PUTTERS + 2);
	while (taken < ALL)
		put = go_on(put, who, who + 1, true);
	line_await("/q", 0);
	peers_end(peers, PUTTERS + 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, many of both");
	TCase *t = fixture_case(s, "ZooKeeper's and ours", 120);

	tcase_add_test(t, S15_each_item_is_had_once_when_many_of_both_take);
	tcase_add_loop_test(t,
		who_takes_alone_has_what_each_of_both_put_in_its_order, 0, 2);
	return interop_main(s, kinds);
}
