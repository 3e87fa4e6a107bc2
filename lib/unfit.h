/*
 * unfit.h - items of a queue that nobody can take, and that were left where
 * they are: they are passed over, and the program is told once.
 */
#ifndef KU_UNFIT_H
#define KU_UNFIT_H

#include <kustos/base.h>

#include <stdbool.h>
#include <stddef.h>

/* After this time an unfit item is looked at again: it may have been mended, or
   the queue made anew, so that the name is another item's. */
#define KU_UNFIT_AGAIN_MS 60000

struct ku_unfit_item {
	char *name;
	int64_t czxid;
	int version;
	int64_t again_ns; /* when it is looked at again */
	bool listed;
};

struct ku_unfits {		    /* zero before its use */
	struct ku_unfit_item *list; /* sorted by name */
	size_t count, size;	    /* used, and allocated */
};

enum ku_unfit_news {
	KU_UNFIT_SHORT, /* memory is short: it was not kept */
	KU_UNFIT_KNOWN, /* the program was told before */
	KU_UNFIT_NEW
};

/* Is an item of this name, which is in a listing, to be passed over? */
bool ku_unfits_have(struct ku_unfits *unfits, const char *name, int64_t now_ns);

/* Is any to be looked at again? */
bool ku_unfits_due(const struct ku_unfits *unfits, int64_t now_ns);

/* When is the next one to be looked at?  One that is due is being looked at,
   and counts as due again after KU_UNFIT_AGAIN_MS.  Not called if there are
   none. */
int64_t ku_unfits_next(const struct ku_unfits *unfits, int64_t now_ns);

/* Pass this item over from now on. */
enum ku_unfit_news ku_unfits_keep(struct ku_unfits *unfits, const char *name,
	const struct kustos_stat *stat, int64_t now_ns);

/* Forget the items that the last listing did not have; or all. */
void ku_unfits_forget_unlisted(struct ku_unfits *unfits);
void ku_unfits_forget_all(struct ku_unfits *unfits);

#endif
