/*
 * spans.h - spans of time in which peers held a lock: whether any two overlap.
 */
#ifndef TEST_SPANS_H
#define TEST_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	int64_t from, to; /* nanoseconds of one clock; "to" is included */
	int who;
	bool shared; /* may overlap with other shared spans */
	int leases;  /* how many were held */
};

struct spans {
	struct span *list;
	size_t count;
	size_t room;
};

/* Add a span, or a shared one.  Returns 0, or -1 if it ends before it begins or
   memory is short. */
int spans_add(struct spans *spans, int64_t from, int64_t to, int who);
int spans_add_shared(struct spans *spans, int64_t from, int64_t to, int who);

/* Add the spans in a file.  Its lines are "FROM TO"; "FROM TO r" for a shared
   span; and "FROM TO xN" for N leases, which is shared as well.  Returns how
   many spans there were, or -1. */
int spans_read(struct spans *spans, const char *file, int who);

/* Sort the spans by their beginnings.  Return how many of them began before an
   earlier one was over, unless both are shared. */
size_t spans_overlaps(struct spans *spans);

/* After sorting, return how many shared spans began before another shared one
   was over. */
size_t spans_together(const struct spans *spans);

/* After sorting, return how often a span is followed by another peer's. */
size_t spans_changes(const struct spans *spans);

/* Return the greatest number of leases held at once, between "from" and "to",
   at the moments when leases were granted. */
int spans_most(const struct spans *spans, int64_t from, int64_t to);

/* Free the memory of "spans". */
void spans_free(struct spans *spans);

#endif
