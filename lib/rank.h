/*
 * rank.h - who stands before whom among the children of a line.
 *
 * The server numbers the children of a node, whatever their names are.  So all
 * contenders under one node stand in one order, that of the numbers at the ends
 * of their names.  The marks of a rule say which children take part: a mark is
 * the text that must stand before the number.  Other children are ignored.
 *
 * An exclusive contender waits for all that stand before it; one that shares
 * waits only for the exclusive ones among them.  A writer that becomes a reader
 * makes a node with its own number: the reader stands where the writer stood.
 *
 * A server that has used up its numbers gives the last one again and again.
 * Then nothing tells who is first, and nobody may be (KU_RANK_SATURATED).
 *
 * Pure functions.
 */
#ifndef KU_RANK_H
#define KU_RANK_H

#include "service.h"

#include <kustos/participant.h>
#include <stdbool.h>

/* What stands before the number: "text"; or, if that is NULL, "x-", the id of a
   session, and "-". */
struct ku_mark {
	const char *text;
	enum kustos_style style;
	enum kustos_kind kind;
};

struct ku_rule {
	const struct ku_mark *marks;
	int mark_count;
	bool downgrades;   /* a leaving writer may leave a reader in its
			      place */
	bool counts;	   /* every child counts, whatever its name: see
			      ku_rank() */
	bool seat;	   /* no order: all contend for the line's node itself,
			      and the rest is not used (seat.c) */
	const char *extra; /* more marks, all of locks: texts that are separated
			      by commas; NULL: none */
};

/* Is "extra" valid as such marks: at least one, and none of them empty? */
KU_SERVICE bool ku_marks_valid(const char *extra);

/* Compare rules, for sorting: 0 if they see the same contenders. */
int ku_rule_compare(const struct ku_rule *a, const struct ku_rule *b);

/* Return "rule", which is constant; or, if it has extra marks, a copy that has
   them as well, to be freed with ku_rule_free().  NULL if memory is short. */
const struct ku_rule *ku_rule_keep(const struct ku_rule *rule);
void ku_rule_free(const struct ku_rule *rule);

/* All known marks of a semaphore's lease; of an election; of an exclusive lock;
   of a read/write lock; of all of these; and none. */
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

/* Return the kind that stands for its line: two kinds see each other if this is
   the same for both. */
static inline enum kustos_kind ku_kind_line(enum kustos_kind kind)
{
	return kind == KUSTOS_KIND_READ ? KUSTOS_KIND_WRITE : kind;
}

/* Does it wait for exclusive ones only? */
static inline bool ku_contender_shares(const struct ku_contender *one)
{
	return one->kind == KUSTOS_KIND_READ;
}

/* Parse a name.  Returns false if it is not a contender's. */
bool ku_contender_parse(const struct ku_rule *rule, const char *name,
	struct ku_contender *out);

/* Does number "a" come before "b"?  Numbers may have wrapped in between. */
static inline bool ku_number_before(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a - (uint32_t)b) < 0;
}

/* Does this number tell an order?  The last one does not, and servers that go
   on after it count from below zero. */
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
	KU_RANK_OWNER,	  /* nobody that it waits for stands before it */
	KU_RANK_WAIT,	  /* somebody does */
	KU_RANK_GONE,	  /* it is not among the children */
	KU_RANK_SATURATED /* its number tells no order */
};

/* How many of the contenders before a place are named: the nearest. */
#define KU_NEAR 3

/* The nearest of some contenders before a place, nearest first. */
struct ku_nearest {
	int count; /* of all these contenders */
	const char *names[KU_NEAR];
	int32_t numbers[KU_NEAR];
};

/* One place of ours, and what a listing says about it.  The base of a place is
   the nearest exclusive one before it in the array; or the beginning of the
   line. */
struct ku_standing {
	const char *name; /* in; and the next three */
	int32_t number;
	bool shares;
	int company; /* how many may hold beside it; negative: not even it
			may */
	bool seen;
	bool tied;		/* its number tells no order */
	int before;		/* how many it waits for, ours among them */
	struct ku_nearest near; /* the others from its base on that it waits
				   for */

	/* The others between it and the place before it in the array. */
	struct ku_nearest all, exclusive;
};

/* Fill in "standings" from the names of all children, in one pass and without
   sorting the names.  "standings" are sorted by number; of two with the same
   number, the exclusive one comes before the one that shares.  Returns how many
   of the contenders would not wait for a place of style "ours".

   If the rule counts all children, a place with "company" waits only if more
   than that many children are before it.  Of all the places that were granted
   in this way and still have their nodes, the one with the highest number was
   granted by a listing that showed all the others, as they were there before
   it.  So there are never more of them than may hold.  A child that has no
   mark, or whose number tells no order, counts as before everybody; and
   everybody counts as before a place of ours with such a number. */
int ku_rank(const struct ku_rule *rule, enum kustos_style ours,
	const char *const *names, int count, struct ku_standing *standings,
	int standing_count);

/* Return what ku_rank() has found out about one place. */
enum ku_verdict ku_rank_verdict(const struct ku_standing *own);

#endif
