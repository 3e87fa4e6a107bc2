/*
 * test_heir.c - heir.h: to whom a leader hands over, which nodes are deleted
 * for that, and in which order.
 */
#include "heir.h"
#include "unit.h"

#include "random.h"
#include "sanitized.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS (20000 / TIMES_LESS)
#define MOST 8

/* The line: each node's data, in order; or what the read of it has found. */
#define GONE "*gone"
#define HIDDEN "*hidden"       /* but it is there */
#define FORBIDDEN "*forbidden" /* it may be there or not */

static struct ku_op reads[MOST];
static struct ku_sighting line[MOST];
static char paths[MOST][4], data[MOST][12];
static struct ku_survey survey;

static void set_node(int i, const char *what)
{
	struct ku_op *read = &reads[i];

	*read = (struct ku_op){ .kind = KU_ZK_GET, .done = true };
	read->out_stat.version = i + 10;
	if (strcmp(what, GONE) == 0) {
		read->err = KUSTOS_ENONODE;
	} else if (strcmp(what, HIDDEN) == 0) {
		read->kind = KU_ZK_EXISTS;
	} else if (strcmp(what, FORBIDDEN) == 0) {
		read->kind = KU_ZK_EXISTS;
		read->err = KUSTOS_ENOAUTH;
	} else {
		read->out_len = (int)strlen(what);
		read->out_data = strcpy(data[i], what);
	}
	snprintf(paths[i], sizeof(paths[i]), "/%d", i);
	line[i] = (struct ku_sighting){ .path = paths[i], .op = read };
}

static void set_line(const char *const *what)
{
	survey = (struct ku_survey){ .list = line };
	for (; *what != NULL; what++)
		set_node((int)survey.count++, *what);
}

#define LINE(...) set_line((const char *const[]){ __VA_ARGS__, NULL })

static struct ku_heir_wish named(const char *id)
{
	return (struct ku_heir_wish){ .id = id,
		.len = id != NULL ? strlen(id) : 0 };
}

static int find(int own, const char *id)
{
	struct ku_heir_wish wish = named(id);

	return ku_heir_find(&survey, own, &wish);
}

START_TEST(our_node_is_there_if_its_read_did_not_find_it_gone)
{
	LINE("a", GONE, HIDDEN, FORBIDDEN);
	ck_assert_int_eq(ku_heir_own(&survey, "/0"), 0);
	ck_assert_int_eq(ku_heir_own(&survey, "/1"), -1);
	ck_assert_int_eq(ku_heir_own(&survey, "/2"), 2);
	ck_assert_int_eq(ku_heir_own(&survey, "/3"), 3);
	ck_assert_int_eq(ku_heir_own(&survey, "/4"), -1);
	survey.count = 0;
	ck_assert_int_eq(ku_heir_own(&survey, "/0"), -1);
}
END_TEST

START_TEST(the_heir_is_the_first_behind_us_with_the_id)
{
	LINE("b", "a", "x", "b", "b");
	ck_assert_int_eq(find(1, "b"), 3);
	ck_assert_int_eq(find(3, "b"), 4);
	ck_assert_int_eq(find(4, "b"), -1);
	ck_assert_int_eq(find(1, "a"), -1);
}
END_TEST

START_TEST(an_id_is_all_of_the_data)
{
	LINE("a", "b", "bc", "");
	ck_assert_int_eq(find(0, "bc"), 2);
	ck_assert_int_eq(find(0, "bcd"), -1);
	ck_assert_int_eq(find(0, "c"), -1);
	ck_assert_int_eq(find(0, ""), 3);
	/* A node without data has no id. */
	reads[3].out_len = -1;
	ck_assert_int_eq(find(0, ""), -1);
}
END_TEST

START_TEST(whoever_is_next_is_the_next_that_is_there)
{
	LINE("a", GONE, "x", "y");
	ck_assert_int_eq(find(0, NULL), 2);
	LINE("a", GONE);
	ck_assert_int_eq(find(0, NULL), -1);
	LINE("a");
	ck_assert_int_eq(find(0, NULL), -1);
}
END_TEST

/* It may have the id, but a server would refuse to check it.  And nobody may
   pass over the next, whoever that is. */
START_TEST(U09_a_node_that_we_may_not_read_is_no_heir)
{
	LINE("a", HIDDEN, FORBIDDEN, "b");
	ck_assert_int_eq(find(0, "b"), 3);
	ck_assert_int_eq(find(0, NULL), -1);
	ck_assert_int_eq(find(1, NULL), -1);
	ck_assert_int_eq(find(2, NULL), 3);
}
END_TEST

START_TEST(U09_who_has_no_heir_hears_why)
{
	LINE(HIDDEN, "a", "x", GONE);
	ck_assert_int_eq(ku_heir_missing(&survey, 0), KUSTOS_EABSENT);
	ck_assert_int_eq(ku_heir_missing(&survey, 3), KUSTOS_EABSENT);
	LINE("a", "x", HIDDEN);
	ck_assert_int_eq(ku_heir_missing(&survey, 0), KUSTOS_ENOAUTH);
	ck_assert_int_eq(ku_heir_missing(&survey, 2), KUSTOS_EABSENT);
	LINE("a", FORBIDDEN);
	ck_assert_int_eq(ku_heir_missing(&survey, 0), KUSTOS_ENOAUTH);
	/* It was refused, and then it was gone. */
	reads[1].err = KUSTOS_ENONODE;
	ck_assert_int_eq(ku_heir_missing(&survey, 0), KUSTOS_EABSENT);
}
END_TEST

static struct kustos_op ops[MOST + 1];

static size_t plan(int own, int heir, const char *id)
{
	struct ku_heir_wish wish = named(id);

	memset(ops, 0, sizeof(ops));
	return ku_heir_deletion(&survey, own, heir, &wish, ops);
}

static void check_op(size_t i, enum kustos_op_kind kind, const char *path,
	int version)
{
	ck_assert_int_eq(ops[i].kind, kind);
	ck_assert_str_eq(ops[i].path, path);
	ck_assert_int_eq(ops[i].version, version);
}

START_TEST(own_node_is_deleted_last)
{
	LINE("first", "a", "x", GONE, HIDDEN, FORBIDDEN, "b", "c");
	ck_assert_uint_eq(plan(1, 6, "b"), 5);
	check_op(0, KUSTOS_OP_CHECK, "/6", 16);
	check_op(1, KUSTOS_OP_DELETE, "/5", -1);
	check_op(2, KUSTOS_OP_DELETE, "/4", -1);
	check_op(3, KUSTOS_OP_DELETE, "/2", -1);
	check_op(4, KUSTOS_OP_DELETE, "/1", -1);
}
END_TEST

/* Whoever is next is next under any id. */
START_TEST(only_an_id_that_was_asked_for_is_checked)
{
	LINE("a", "b");
	ck_assert_uint_eq(plan(0, 1, "b"), 2);
	check_op(0, KUSTOS_OP_CHECK, "/1", 11);
	check_op(1, KUSTOS_OP_DELETE, "/0", -1);
	ck_assert_uint_eq(plan(0, 1, NULL), 2);
	check_op(0, KUSTOS_OP_CHECK, "/1", -1);
	check_op(1, KUSTOS_OP_DELETE, "/0", -1);
}
END_TEST

static const struct {
	enum kustos_err err;
	bool unsettled;
} ends[] = {
	{ KUSTOS_OK, false },
	{ KUSTOS_EUNKNOWN, true },
	{ KUSTOS_ENONODE, true },
	{ KUSTOS_EBADVERSION, true },
	{ KUSTOS_ENOAUTH, false },
	{ KUSTOS_ELOST, false },
	{ KUSTOS_ECLOSED, false },
	{ KUSTOS_EDISCONNECTED, false },
	{ KUSTOS_ENOMEM, false },
};

START_TEST(S15_who_waits_is_looked_at_again_if_that_changed_or_is_not_known)
{
	ck_assert_int_eq(ku_heir_unsettled(ends[_i].err), ends[_i].unsettled);
}
END_TEST

static enum kustos_err outcome(const char *id, bool unsure, bool certain)
{
	struct ku_heir_wish wish = named(id);

	return ku_heir_outcome(&survey, &wish, unsure, certain);
}

/* Whose node went with a session that is not certain, or without any
   transaction, knows of no hand-over, though the heir may lead. */
START_TEST(S15_it_is_done_if_our_node_is_gone_and_the_heir_the_first)
{
	LINE("b", "x");
	ck_assert_int_eq(outcome("b", true, true), KUSTOS_OK);
	ck_assert_int_eq(outcome(NULL, true, true), KUSTOS_OK);
	ck_assert_int_eq(outcome("x", true, true), KUSTOS_EUNKNOWN);
	ck_assert_int_eq(outcome("c", true, true), KUSTOS_EUNKNOWN);
	ck_assert_int_eq(outcome("b", true, false), KUSTOS_EUNKNOWN);
	ck_assert_int_eq(outcome("b", false, true), KUSTOS_ELOST);
	ck_assert_int_eq(outcome("b", false, false), KUSTOS_ELOST);
}
END_TEST

START_TEST(S15_it_is_not_known_if_the_first_has_left_or_hides)
{
	LINE(GONE, "b");
	ck_assert_int_eq(outcome("b", true, true), KUSTOS_EUNKNOWN);
	ck_assert_int_eq(outcome(NULL, true, true), KUSTOS_EUNKNOWN);
	LINE(HIDDEN, "b");
	ck_assert_int_eq(outcome("b", true, true), KUSTOS_EUNKNOWN);
	ck_assert_int_eq(outcome(NULL, true, true), KUSTOS_EUNKNOWN);
	survey.count = 0;
	ck_assert_int_eq(outcome("b", true, true), KUSTOS_EUNKNOWN);
}
END_TEST

/* The nodes that the transaction leaves, if it is applied: whoever then comes
   first among those that were not gone. */
static int first_after(size_t count)
{
	for (int i = 0; i < (int)survey.count; i++) {
		bool deleted = reads[i].err == KUSTOS_ENONODE;

		for (size_t op = 0; op < count; op++)
			deleted = deleted ||
				(ops[op].kind == KUSTOS_OP_DELETE &&
					strcmp(ops[op].path, paths[i]) == 0);
		if (!deleted)
			return i;
	}
	return -1;
}

static void check_hand_over(int own, int heir, const char *id)
{
	size_t count = plan(own, heir, id);

	ck_assert_int_gt(heir, own);
	ck_assert(!ku_survey_hides(&line[heir]));
	ck_assert_int_ne(reads[heir].err, KUSTOS_ENONODE);
	ck_assert(id == NULL || strcmp(data[heir], id) == 0);
	ck_assert_uint_ge(count, 2);
	ck_assert_uint_le(count, (size_t)(heir - own + 1));
	ck_assert_str_eq(ops[0].path, paths[heir]);
	ck_assert_str_eq(ops[count - 1].path, paths[own]);
	for (size_t i = 1; i < count; i++)
		ck_assert_int_eq(ops[i].kind, KUSTOS_OP_DELETE);
	ck_assert_int_eq(first_after(count), heir);
}

/* The leader is the first that is there. */
START_TEST(whatever_the_line_the_heir_is_the_first_then)
{
	static const char *const any[] = { "a", "b", "c", GONE, HIDDEN,
		FORBIDDEN };
	struct ku_random rnd;
	int handed_over = 0;

	ku_random_seed(&rnd, 1);
	for (int round = 0; round < ROUNDS; round++) {
		int own = (int)ku_random_below(&rnd, 3);
		const char *id = any[ku_random_below(&rnd, 3)];

		survey = (struct ku_survey){ .list = line, .count = MOST };
		for (int i = 0; i < MOST; i++)
			set_node(i,
				i < own ? GONE
					: any[ku_random_below(&rnd,
						  UNIT_COUNT(any))]);
		set_node(own, "a");
		id = ku_random_below(&rnd, 3) == 0 ? NULL : id;
		int heir = find(own, id);

		if (heir < 0)
			continue;
		handed_over++;
		check_hand_over(own, heir, id);
	}
	ck_assert_int_gt(handed_over, ROUNDS / 4);
	ck_assert_int_lt(handed_over, ROUNDS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hand-over, rules");
	TCase *t = tcase_create("rules");

	tcase_add_test(t, our_node_is_there_if_its_read_did_not_find_it_gone);
	tcase_add_test(t, the_heir_is_the_first_behind_us_with_the_id);
	tcase_add_test(t, an_id_is_all_of_the_data);
	tcase_add_test(t, whoever_is_next_is_the_next_that_is_there);
	tcase_add_test(t, U09_a_node_that_we_may_not_read_is_no_heir);
	tcase_add_test(t, U09_who_has_no_heir_hears_why);
	tcase_add_test(t, own_node_is_deleted_last);
	tcase_add_test(t, only_an_id_that_was_asked_for_is_checked);
	tcase_add_loop_test(t,
		S15_who_waits_is_looked_at_again_if_that_changed_or_is_not_known,
		0, UNIT_COUNT(ends));
	tcase_add_test(t,
		S15_it_is_done_if_our_node_is_gone_and_the_heir_the_first);
	tcase_add_test(t, S15_it_is_not_known_if_the_first_has_left_or_hides);
	tcase_add_test(t, whatever_the_line_the_heir_is_the_first_then);
	suite_add_tcase(s, t);
	return unit_main(s);
}
