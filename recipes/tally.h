/*
 * tally.h - what the names below a count-down latch say.  Pure.
 *
 *	count-8                       how many participants have to count
 *	done-worker-1                 worker-1 has counted
 *	must-worker-2                 worker-2 must count,
 *	_c_<uuid>-alive-worker-2      and has a session
 *
 * A listing has all of this, as it was at one time.  In an id, a "/", a "%", a
 * space, and all that is not printable ASCII are written as %XX.
 */
#ifndef KU_TALLY_H
#define KU_TALLY_H

#include <kustos/base.h>
#include <stdbool.h>

#define KU_TALLY_ID_SIZE 201 /* with a closing zero */
#define KU_TALLY_NAME_SIZE (3 * KU_TALLY_ID_SIZE + 16)

/* One id may have several of these, ORed. */
enum ku_tally_kind {
	KU_TALLY_DONE = 1,
	KU_TALLY_MUST = 2,
	KU_TALLY_ALIVE = 4,
	KU_TALLY_COUNT = 8, /* not an id but a number */
	KU_TALLY_OTHER = 16 /* not ours */
};

struct ku_tally_one {
	const char *id; /* as written in the names, and part of them */
	int kinds;
};

struct ku_tally {
	int count; /* 0: no name says it */
	bool disagree;
	size_t done, dead;
	size_t size;
	struct ku_tally_one *list; /* by id; malloc'ed */
};

/* Take the names apart.  Returns false if memory is short. */
bool ku_tally_read(const char *const *names, size_t size,
	struct ku_tally *tally);

/* Return what one name is, and its id or number. */
enum ku_tally_kind ku_tally_name(const char *name, const char **id);

/* May a caller that wants "count" (0: the count that is stored) go on?
   KUSTOS_EBUSY: not yet. */
enum kustos_err ku_tally_judge(const struct ku_tally *tally, int count);

/* Write the name of a node of this kind.  Returns false if "id" is not a valid
   id. */
bool ku_tally_write(enum ku_tally_kind kind, const char *id,
	char out[KU_TALLY_NAME_SIZE]);
void ku_tally_write_count(int count, char out[KU_TALLY_NAME_SIZE]);

/* Undo what ku_tally_write() did to an id; what it did not write stays as it
   is.  "out" has room for as many bytes as "id", and a closing zero. */
void ku_tally_plain(const char *id, char *out);

#endif
