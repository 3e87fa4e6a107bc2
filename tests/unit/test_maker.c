/*
 * test_maker.c - maker.h: who made a node that is there after a try whose
 * answer was lost.
 */
#include "maker.h"
#include "unit.h"

#include "random.h"
#include "sanitized.h"

#define ROUNDS (200000 / TIMES_LESS)
#define STEPS 12

/* Sessions: of ours, the one in which we tried, and one that neither is; and of
   others. */
#define NOW 105
#define BEFORE 104
#define LONG_BEFORE 103
#define ANOTHERS 7

#define CZXID 50

/* What the footprint says, see there. */
#define NOT_KNOWN (-1)
#define BY_A_TRANSACTION 0

static const struct {
	int64_t owner;
	struct ku_maker_clues clues;
	enum ku_maker is;
} looks[] = {
	/* It is of this session, in which we tried. */
	{ NOW, { NOW, false, NOW, NOT_KNOWN }, KU_MAKER_US },
	{ NOW, { NOW, true, NOW, NOT_KNOWN }, KU_MAKER_US },
	/* And an earlier node of that path was known. */
	{ NOW, { NOW, false, NOW, CZXID - 1 }, KU_MAKER_US },
	{ NOW, { NOW, false, NOW, CZXID }, KU_MAKER_ANOTHER },
	{ NOW, { NOW, false, NOW, BY_A_TRANSACTION }, KU_MAKER_UNKNOWN },
	/* It is of this session, but we tried in the one before. */
	{ NOW, { BEFORE, false, NOW, NOT_KNOWN }, KU_MAKER_ANOTHER },
	{ NOW, { BEFORE, true, NOW, CZXID }, KU_MAKER_ANOTHER },
	/* It is of that session. */
	{ BEFORE, { BEFORE, false, NOW, NOT_KNOWN }, KU_MAKER_GHOST },
	{ BEFORE, { BEFORE, true, NOW, BY_A_TRANSACTION }, KU_MAKER_GHOST },
	/* We also tried in a session that is not remembered. */
	{ LONG_BEFORE, { BEFORE, true, NOW, NOT_KNOWN }, KU_MAKER_UNKNOWN },
	{ LONG_BEFORE, { NOW, true, NOW, NOT_KNOWN }, KU_MAKER_UNKNOWN },
	/* Another made it. */
	{ ANOTHERS, { NOW, false, NOW, NOT_KNOWN }, KU_MAKER_ANOTHER },
	{ ANOTHERS, { BEFORE, false, NOW, NOT_KNOWN }, KU_MAKER_ANOTHER },
	{ ANOTHERS, { NOW, false, NOW, BY_A_TRANSACTION }, KU_MAKER_ANOTHER },
	/* No session owns it. */
	{ 0, { NOW, false, NOW, NOT_KNOWN }, KU_MAKER_ANOTHER },
	{ 0, { NOW, true, NOW, NOT_KNOWN }, KU_MAKER_ANOTHER },
};

START_TEST(S03_S06_a_node_is_ours_by_its_session_and_its_czxid)
{
	struct kustos_stat node = { .czxid = CZXID,
		.ephemeral_owner = looks[_i].owner };

	ck_assert_int_eq(ku_maker_of(&node, &looks[_i].clues), looks[_i].is);
}
END_TEST

/* A world with one path, of which all is known.  Of our creation, what the
   clues say is known, too. */
struct world {
	struct kustos_stat node;
	bool there, ours; /* made by our creation */
	int64_t czxid;	  /* the last */
	struct ku_maker_clues clues;
};

static bool make(struct world *w, int64_t owner, bool ours)
{
	if (w->there)
		return false;
	w->there = true;
	w->ours = ours;
	w->node.czxid = ++w->czxid;
	w->node.ephemeral_owner = owner;
	return true;
}

/* Our creation is sent, and perhaps arrives; no answer comes. */
static void try(struct world *w, bool arrives)
{
	struct ku_maker_clues *clues = &w->clues;

	if (arrives)
		make(w, clues->now, true);
	if (clues->tried_in != 0 && clues->tried_in != clues->now)
		clues->moved = true;
	clues->tried_in = clues->now;
}

static void step(struct world *w, struct ku_random *rnd)
{
	switch (ku_random_below(rnd, 7)) {
	case 0:
	case 1:
		try(w, ku_random_below(rnd, 2) == 0);
		break;
	case 2: /* the session expires, and its node goes later */
		w->clues.now++;
		w->clues.known = NOT_KNOWN;
		break;
	case 3:
		make(w, ku_random_below(rnd, 2) == 0 ? ANOTHERS : 0, false);
		break;
	case 4: /* another creation of this client's, which is answered */
		if (make(w, w->clues.now, false))
			w->clues.known = w->node.czxid;
		break;
	case 5: /* a transaction of this client's */
		if (make(w, w->clues.now, false))
			w->clues.known = BY_A_TRANSACTION;
		break;
	default:
		w->there = false;
		break;
	}
}

static void check(const struct world *w, enum ku_maker maker)
{
	const struct ku_maker_clues *clues = &w->clues;
	int64_t owner = w->node.ephemeral_owner;

	switch (maker) {
	case KU_MAKER_US:
		ck_assert(w->ours);
		ck_assert_int_eq(owner, clues->now);
		break;
	case KU_MAKER_ANOTHER:
		ck_assert(!w->ours);
		break;
	case KU_MAKER_GHOST: /* so it goes */
		ck_assert_int_eq(owner, clues->tried_in);
		ck_assert_int_ne(owner, clues->now);
		break;
	case KU_MAKER_UNKNOWN:
		ck_assert(clues->moved || clues->known == BY_A_TRANSACTION);
		ck_assert_int_ne(owner, 0);
		if (owner == clues->now)
			ck_assert_int_eq(clues->known, BY_A_TRANSACTION);
		break;
	}
}

/* What is said for certain is true; and all is said, in some world. */
START_TEST(S03_S06_nothing_is_certain_that_is_not_true)
{
	int count[KU_MAKER_UNKNOWN + 1] = { 0 };
	struct ku_random rnd;

	ku_random_seed(&rnd, 1);
	for (int round = 0; round < ROUNDS; round++) {
		struct world w = { .czxid = CZXID,
			.clues = { .now = NOW, .known = NOT_KNOWN } };

		for (int i = 0; i < STEPS; i++)
			step(&w, &rnd);
		if (!w.there || w.clues.tried_in == 0)
			continue;
		enum ku_maker maker = ku_maker_of(&w.node, &w.clues);

		count[maker]++;
		check(&w, maker);
	}
	for (size_t i = 0; i < UNIT_COUNT(count); i++)
		ck_assert_int_gt(count[i], ROUNDS / 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("who made a node, rules");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t,
		S03_S06_a_node_is_ours_by_its_session_and_its_czxid, 0,
		UNIT_COUNT(looks));
	tcase_add_test(t, S03_S06_nothing_is_certain_that_is_not_true);
	suite_add_tcase(s, t);
	return unit_main(s);
}
