/*
 * top.h - what the parts of kustos top share.
 */
#ifndef KU_TOP_H
#define KU_TOP_H

#include "layout.h"
#include "tool.h"

#include <kustos/node.h>

#include <stdio.h>

/* What kazoo's semaphore adds to its path, for the node where those who wait
   stand. */
#define TOP_LOCK_OF_LEASED "-__lock__"

struct top_row {
	char *path;
	enum layout layout;
	size_t holds;	/* or are in, or done */
	size_t waits;	/* or are not done; of a queue, its items */
	const char *is; /* a remark, or "" */
	char *who;	/* holds it, in words; NULL: not known */

	/* Of the node whose children are counted; the difference to the frame
	   before tells how many come and go. */
	struct kustos_stat stat;
	bool told;	/* by another row already */
	double in, out; /* a second; less than 0: not known */
};

struct top_frame {
	int64_t at_ns;
	struct top_row *rows; /* by path */
	size_t count;
	size_t hidden; /* nodes that may not be read */
	bool cut;      /* there is more than is looked at */
};

/* Look at all that is at "root" and below it, and compare that with the frame
   "before", if that is not NULL.  With "bare", take all empty nodes that never
   had children for barriers.  The servers have "patience_ms" for each answer,
   however many requests there are.  Returns KUSTOS_ENONODE if there is no
   root. */
enum kustos_err top_look(struct kustos_client *client, const char *root,
	int patience_ms, bool bare, const struct top_frame *before,
	struct top_frame *frame);
void top_free(struct top_frame *frame);

/* Find out who is there, and fill in "row", whose path and layout are set.
   "parts" is how many children have that layout.  Returns KUSTOS_ENONODE if the
   node is gone, or is no such recipe after all. */
enum kustos_err top_count(struct kustos_client *client, kustos_deadline end,
	const struct kustos_names *names, size_t parts, struct top_row *row);

/* Print the frame: for a terminal of that size, 0 for no limit; or as a JSON
   object. */
void top_print(FILE *out, const char *root, const struct top_frame *frame,
	int lines, int columns);
void top_print_json(FILE *out, const char *root, const struct top_frame *frame);

#endif
