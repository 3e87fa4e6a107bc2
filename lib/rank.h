/*
 * rank.h - who stands before whom among the children of a line.
 *
 * The server numbers the children of a node, whatever their names: so all who
 * line up under one node stand in one order, that of the numbers at the ends
 * of their names.  Which children take part, the marks of a rule say: the text
 * that must stand before the number.  Others are nobody's concern.
 *
 * Who is exclusive waits for all who stand before it; who shares, only for the
 * exclusive ones among them.  A writer that becomes a reader makes a node with
 * the number of its own: that one stands where the writer stood.
 *
 * A server that has given its last number away gives it again and again; then
 * nothing tells who is first, and nobody may be (KU_RANK_SATURATED).
 *
 * Pure functions.
 */
#ifndef KU_RANK_H
#define KU_RANK_H

#include "service.h"

#include <kustos/participant.h>
#include <stdbool.h>

/* Before the number stands "text"; or, if it is NULL, "x-", a session's id,
   and "-". */
struct ku_mark {
	const char *text;
	enum kustos_style style;
	enum kustos_kind kind;
};

struct ku_rule {
	const struct ku_mark *marks;
	int mark_count;
	bool downgrades; /* a writer that leaves may leave a reader there */
	bool counts;	 /* every child, whatever its name: see ku_rank() */
	bool seat;	 /* no order: the line's node itself is fought for, and
			    the rest is not used (seat.c) */
	const char *extra; /* more marks, of locks, each of them a text;
			      separated by commas; NULL: none */
};

/* Are these such marks: at least one, and none of them empty? */
KU_SERVICE bool ku_marks_valid(const char *extra);

/* Order rules: 0 says that they see the same contenders. */
int ku_rule_compare(const struct ku_rule *a, const struct ku_rule *b);

/* Return "rule", which is constant; or, if it has extra marks, a copy with them,
   which ku_rule_free() frees.  NULL if memory is short. */
const struct ku_rule *ku_rule_keep(const struct ku_rule *rule);
void ku_rule_free(const struct ku_rule *rule);

/* Every mark of a semaphore's lease that is known; of an election; of an
   exclusive lock; of a read/write lock; of all; and none. */
extern const struct ku_rule ku_rule_lease;
KU_SERVICE extern const struct ku_rule ku_rule_latch;
KU_SERVICE extern const struct ku_rule ku_rule_lock;
KU_SERVICE extern const struct ku_rule ku_rule_rw;
extern const struct ku_rule ku_rule_any;
KU_SERVICE extern const struct ku_rule ku_rule_seat;

struct ku_contender {
	int32_t number;
	enum kustos_style style;
	enum kustos_kind kind;
};

/* Return the kind of the line in which kinds see each other. */
static inline enum kustos_kind ku_kind_line(enum kustos_kind kind)
{
	return kind == KUSTOS_KIND_READ ? KUSTOS_KIND_WRITE : kind;
}

/* Does it wait for the exclusive ones only? */
static inline bool ku_contender_shares(const struct ku_contender *one)
{
	return one->kind == KUSTOS_KIND_READ;
}

/* Take a name apart.  Returns false if it is not a contender's. */
bool ku_contender_parse(const struct ku_rule *rule, const char *name,
	struct ku_contender *out);

/* Does number "a" come before "b"?  They may have wrapped in between. */
static inline bool ku_number_before(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a - (uint32_t)b) < 0;
}

/* Is this a number that tells an order?  The last one does not, and servers
   that go on after it count from below zero. */
static inline bool ku_number_sound(int32_t number)
{
	return number >= 0 && number < INT32_MAX;
}

/* Does "before" have to go before "after" may be granted? */
bool ku_contender_blocks(const struct ku_contender *before,
	const struct ku_contender *after);

/* Would a contender of style "theirs" wait for one of style "ours"? */
bool ku_style_sees(enum kustos_style theirs, enum kustos_style ours);

enum ku_verdict {
	KU_RANK_OWNER,	  /* nobody stands before it for whom it waits */
	KU_RANK_WAIT,	  /* somebody does */
	KU_RANK_GONE,	  /* it is not among the children */
	KU_RANK_SATURATED /* its number tells no order */
};

/* So many of those before a place are named. */
#define KU_NEAR 3

/* The nearest of some who stand before a place, nearest first. */
struct ku_nearest {
	int count; /* of all of them */
	const char *names[KU_NEAR];
	int32_t numbers[KU_NEAR];
};

/* One place, and what a listing says about it.  The base of a place is the
   nearest exclusive one before it in the array; or the beginning. */
struct ku_standing {
	const char *name; /* in; and the next three */
	int32_t number;
	bool shares;
	int company; /* so many may hold beside it; negative: nor may it */
	bool seen;
	bool tied;		/* its number tells no order */
	int before;		/* for so many it waits, ours among them */
	struct ku_nearest near; /* the others of those behind its base */

	/* The others between it and the one before it in the array. */
	struct ku_nearest all, exclusive;
};

struct ku_crowd {
	int contenders;
	int blind; /* of those, the ones that would not wait for "ours" */
};

/* Fill in "standings", which are sorted by number, and an exclusive one before
   the one that shares its number, from the names of all children: in one pass
   and without sorting those.

   If the rule counts all children, who has "company" waits only if more than
   those are before it.  Of all who were granted so, and are still there, the
   last has seen all the others, as they were there before it: so they are never
   more.  A child without a mark, or whose number tells no order, is before
   everybody; everybody is before one of ours with such a number. */
void ku_rank(const struct ku_rule *rule, enum kustos_style ours,
	const char *const *names, int count, struct ku_standing *standings,
	int standing_count, struct ku_crowd *crowd);

enum ku_verdict ku_rank_verdict(const struct ku_standing *own);

#endif
