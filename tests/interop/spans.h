/*
 * spans.h - when was what held, by whom, and did any two overlap?
 */
#ifndef TEST_SPANS_H
#define TEST_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	int64_t from, to; /* nanoseconds of one clock; "to" is the last */
	int who;
	bool shared; /* may overlap with others that are */
	int leases;  /* so many were held */
};

struct spans {
	struct span *list;
	size_t count;
	size_t room;
};

/* Add one; or one that is shared.  Returns 0, or -1 if it ends before it begins
   or memory is short. */
int spans_add(struct spans *spans, int64_t from, int64_t to, int who);
int spans_add_shared(struct spans *spans, int64_t from, int64_t to, int who);

/* Add a file of lines "FROM TO"; "FROM TO r" for those that are shared; "FROM TO
   xN", for those of N leases, which are shared as well.
   Returns how many there were, or -1. */
int spans_read(struct spans *spans, const char *file, int who);

/* Sort them by their beginnings, and return how many began when one that had
   begun before was not over, unless both are shared. */
size_t spans_overlaps(struct spans *spans);

/* Of sorted ones, return how many shared ones began when another one was not
   over. */
size_t spans_together(const struct spans *spans);

/* Of sorted ones, return how many times one was followed by another's. */
size_t spans_changes(const struct spans *spans);

/* Return how many leases were held at once at most, looking at each moment from
   "from" to "to" when some were granted. */
int spans_most(const struct spans *spans, int64_t from, int64_t to);

/* Free what it has. */
void spans_free(struct spans *spans);

#endif
