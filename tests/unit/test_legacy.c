/*
 * test_legacy.c - legacy.h: which of the nodes that a former process has left a
 * candidate goes on with, and which it deletes.
 */
#include "legacy.h"
#include "unit.h"

#include "random.h"
#include "sanitized.h"

#include <string.h>

#define ROUNDS (20000 / TIMES_LESS)
#define MOST 6

#define SESSION 0x100000001

static const struct ku_successor us = { .session_id = SESSION,
	.data = "us",
	.len = 2 };

struct node {
	const char *data;
	int64_t czxid;
	enum { LEFT, OTHERS, KNOWN, GONE, HIDDEN } is;
};

static struct ku_op reads[MOST];
static struct ku_sighting line[MOST];
static char data[MOST][8];
static struct ku_survey survey;

static void set_line(const struct node *nodes, size_t count)
{
	survey = (struct ku_survey){ .list = line, .count = count };
	for (size_t i = 0; i < count; i++) {
		const struct node *n = &nodes[i];

		reads[i] = (struct ku_op){ .kind = KU_ZK_GET,
			.done = true,
			.out_len = (int)strlen(n->data),
			.out_data = strcpy(data[i], n->data) };
		reads[i].out_stat.czxid = n->czxid;
		reads[i].out_stat.ephemeral_owner = SESSION + (n->is == OTHERS);
		if (n->is == GONE)
			reads[i].err = KUSTOS_ENONODE;
		if (n->is == HIDDEN)
			reads[i].kind = KU_ZK_EXISTS;
		line[i] = (struct ku_sighting){ .op = &reads[i],
			.known = n->is == KNOWN };
	}
}

#define LINE(...)                                      \
	set_line((const struct node[]){ __VA_ARGS__ }, \
		UNIT_COUNT(((const struct node[]){ __VA_ARGS__ })))

/* Return the index of the node that is chosen, or -1. */
static int choose(void)
{
	const struct ku_sighting *one = ku_legacy_choose(&us, &survey);

	return one != NULL ? (int)(one - line) : -1;
}

/* Return a bit for each node that is deleted. */
static unsigned deleted(void)
{
	const struct ku_sighting *chosen = ku_legacy_choose(&us, &survey);
	unsigned bits = 0;

	for (size_t i = 0; i < survey.count; i++)
		if (ku_legacy_spare(&us, &line[i], chosen))
			bits |= 1U << i;
	return bits;
}

static void check(int chosen, unsigned bits)
{
	ck_assert_int_eq(choose(), chosen);
	ck_assert_uint_eq(deleted(), bits);
}

START_TEST(a_node_of_the_session_is_taken_and_no_other)
{
	survey.count = 0;
	check(-1, 0);
	LINE({ "us", 1, OTHERS }, { "us", 2, HIDDEN }, { "us", 3, GONE });
	check(-1, 0);
	LINE({ "us", 1, OTHERS }, { "us", 2, LEFT }, { "us", 3, OTHERS });
	check(1, 0);
}
END_TEST

START_TEST(of_those_with_our_data_the_newest_is_taken_and_the_others_go)
{
	LINE({ "us", 5, LEFT }, { "us", 7, LEFT }, { "us", 6, LEFT });
	check(1, 1U << 0 | 1U << 2);
	LINE({ "us", 7, LEFT }, { "us", 5, LEFT });
	check(0, 1U << 1);
}
END_TEST

/* The data may have changed since; and another latch of the former process may
   have stood there, too. */
START_TEST(a_node_with_other_data_is_taken_at_need_and_never_deleted)
{
	LINE({ "them", 9, LEFT }, { "us", 5, LEFT }, { "them", 8, LEFT });
	check(1, 0);
	LINE({ "us", 5, LEFT }, { "them", 9, LEFT });
	check(0, 0);
	LINE({ "them", 5, LEFT }, { "u", 9, LEFT }, { "", 8, LEFT });
	check(0, 0);
	LINE({ "use", 5, LEFT }, { "us", 4, LEFT });
	check(1, 0);
}
END_TEST

/* It is one of our places, or was made late and is being deleted. */
START_TEST(S03_a_node_that_this_client_deals_with_is_left_alone)
{
	LINE({ "us", 9, KNOWN }, { "us", 5, LEFT }, { "us", 4, LEFT });
	check(1, 1U << 2);
	LINE({ "us", 9, KNOWN }, { "them", 8, KNOWN });
	check(-1, 0);
	ck_assert(ku_legacy_left(&us, &line[0]));
}
END_TEST

START_TEST(S03_nothing_is_sure_if_memory_was_short_for_a_read)
{
	LINE({ "us", 1, LEFT }, { "us", 2, GONE }, { "us", 3, HIDDEN });
	ck_assert(!ku_legacy_patchy(&survey));
	reads[2].err = KUSTOS_ENOAUTH;
	ck_assert(!ku_legacy_patchy(&survey));
	reads[1].err = KUSTOS_ENOMEM;
	ck_assert(ku_legacy_patchy(&survey));
	reads[1].err = KUSTOS_ENONODE;
	reads[1].done = false;
	ck_assert(ku_legacy_patchy(&survey));
	reads[1].done = true;
	ck_assert(!ku_legacy_patchy(&survey));
	line[1].op = NULL;
	ck_assert(ku_legacy_patchy(&survey));
	survey.count = 0;
	ck_assert(!ku_legacy_patchy(&survey));
}
END_TEST

static bool is_ours(const struct node *n)
{
	return n->is == LEFT && strcmp(n->data, "us") == 0;
}

/* Of all that are left with our data, one is taken, which is the newest, and
   none stays.  What is not left is neither taken nor deleted. */
static void check_random(const struct node *nodes, size_t count)
{
	int chosen = choose();
	unsigned bits = deleted();
	bool left = false, ours = false;

	for (size_t i = 0; i < count; i++) {
		const struct node *n = &nodes[i];
		bool goes = (bits >> i & 1) != 0;

		left = left || n->is == LEFT;
		ours = ours || is_ours(n);
		ck_assert_int_eq(goes, is_ours(n) && (int)i != chosen);
		if (is_ours(n) && chosen >= 0)
			ck_assert_int_le(n->czxid, nodes[chosen].czxid);
	}
	ck_assert_int_eq(chosen >= 0, left);
	if (chosen < 0)
		return;
	ck_assert_int_eq(nodes[chosen].is, LEFT);
	ck_assert_int_eq(is_ours(&nodes[chosen]), ours);
}

START_TEST(S03_one_is_taken_and_none_with_our_data_stays)
{
	static const char *const any[] = { "us", "us", "them", "u" };
	struct ku_random rnd;

	ku_random_seed(&rnd, 1);
	for (int round = 0; round < ROUNDS; round++) {
		struct node nodes[MOST];
		size_t count = ku_random_below(&rnd, MOST + 1);
		size_t turn = ku_random_below(&rnd, MOST);

		for (size_t i = 0; i < count; i++) {
			nodes[i].data = any[ku_random_below(&rnd, 4)];
			nodes[i].czxid = (int64_t)((i + turn) % MOST);
			nodes[i].is = ku_random_below(&rnd, 2) == 0
				? LEFT
				: ku_random_below(&rnd, HIDDEN + 1);
		}
		set_line(nodes, count);
		check_random(nodes, count);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nodes of a former process, rules");
	TCase *t = tcase_create("rules");

	tcase_add_test(t, a_node_of_the_session_is_taken_and_no_other);
	tcase_add_test(t,
		of_those_with_our_data_the_newest_is_taken_and_the_others_go);
	tcase_add_test(t,
		a_node_with_other_data_is_taken_at_need_and_never_deleted);
	tcase_add_test(t, S03_a_node_that_this_client_deals_with_is_left_alone);
	tcase_add_test(t, S03_nothing_is_sure_if_memory_was_short_for_a_read);
	tcase_add_test(t, S03_one_is_taken_and_none_with_our_data_stays);
	suite_add_tcase(s, t);
	return unit_main(s);
}
