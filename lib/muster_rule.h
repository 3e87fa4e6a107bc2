/*
 * muster_rule.h - what a member of a double barrier does next; pure.
 */
#ifndef KU_MUSTER_RULE_H
#define KU_MUSTER_RULE_H

#include <kustos/node.h>
#include <stdbool.h>

/* "round 0x", and sixteen digits. */
#define KU_MUSTER_TEXT_LEN 24
#define KU_MUSTER_TEXT_SIZE (KU_MUSTER_TEXT_LEN + 1)

/* What a member that wants to go in has seen. */
struct ku_muster_view {
	const struct kustos_names *names; /* ku_muster_sort() */
	int64_t pzxid;			  /* of the node that has them */
	int count;			  /* of members to wait for */
	const char *own;
	int64_t own_czxid;
	bool ready; /* it is there, for members that came up to this zxid: */
	int64_t ready_round;
	bool came;   /* "ready" was made for us, but cannot be read */
	bool tidied; /* we have tried to remove an old "ready" */
};

enum ku_muster_step {
	KU_MUSTER_ABSENT, /* our node was not seen, or only an older one */
	KU_MUSTER_WAIT,
	KU_MUSTER_PASS,
	KU_MUSTER_TELL, /* all are in: tell the others, and pass */
	KU_MUSTER_TIDY	/* remove an old "ready" */
};

/* Leave only members' names, sorted bytewise as all libraries do. */
void ku_muster_sort(struct kustos_names *names);

/*
 * All are in if "count" members are there at once; or if "ready" says so: its
 * writer had counted them, and a round that has begun goes on although members
 * die.
 *
 * "ready" is not for members that came later than its writer counted.  Then it
 * is the "ready" of a round that goes on without us, or was left behind by one.
 * It was left behind for certain if no other member is there.
 */
enum ku_muster_step ku_muster_decide(const struct ku_muster_view *view);

/* How many have come and gone, by the stat of the barrier's node. */
struct ku_muster_traffic {
	int32_t children, cversion;
	int32_t members; /* how many of those children are members */
};

/* A "ready" was made after "then", when it was not there, and is not there
   "now".  May all have been there when it was made?  If not, it was late, and
   of a round before. */
bool ku_muster_may_have_met(int count, struct ku_muster_traffic then,
	struct ku_muster_traffic now);

/* The text that our members write into "ready": the last transaction that the
   writer knew of when it counted.  A write may be late, and then others have
   come since.  ku_muster_parse() returns what "ready" says.  If a peer wrote
   it, that is only when it was written. */
void ku_muster_print(char text[KU_MUSTER_TEXT_SIZE], int64_t round);
int64_t ku_muster_parse(const char *data, int len, int64_t mzxid);

/* May data of so many bytes be such a text? */
bool ku_muster_may_parse(int len);

/* Return the member whose end to wait for before going out; NULL: none.  Of the
   candidates, pass over the first "skip", which are of another round.
   Curator's and kazoo's members do the same: the lowest one stays until it is
   alone, and waits for the highest; the others delete their nodes at once, and
   wait for the lowest. */
const char *ku_muster_awaited(const struct kustos_names *names, const char *own,
	size_t skip);

/* Return whether our node is there, and the lowest. */
bool ku_muster_stays(const struct kustos_names *names, const char *own);

#endif
