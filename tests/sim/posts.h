/*
 * posts.h - the nodes of those who lead and wait, as the leader has them, in the
 * order in which they were made.
 */
#ifndef SIM_POSTS_H
#define SIM_POSTS_H

#include "ledger.h"

#define POST_LINES 2

struct post {
	char path[128];
	int line;
	int64_t term, owner;
	bool there;
	bool kept; /* a server had too many requests to do what concerned it */
	bool outside;	  /* it or its session was ended from outside */
	bool touched;	  /* somebody else has, or may have, written into it */
	bool seized;	  /* and has while it led */
	int64_t led_zxid; /* since when it leads; 0: it does not */
	char heir[16];	  /* what the first said when it went */
};

struct posts {
	struct post **list;
	int count, room;
};

/* Return the line in which such a node is, of POST_LINES, or -1. */
int posts_line(const char *const *lines, const char *path);

void posts_add(struct posts *posts, const char *path, int line, int64_t zxid,
	int64_t owner);

/* It goes.  Returns it, and why; or NULL. */
struct post *posts_remove(struct posts *posts, const struct ledger *ledger,
	const char *path, enum fate *fate);

/* What the model tells. */
void posts_note(struct posts *posts, enum model_note what, const char *path,
	int64_t value);

/* "post" has gone: note what the first says now, but for one that the same session has
   left before, and could not delete yet. */
void posts_note_heir(struct sim *sim, const struct posts *posts,
	struct post *post);

/* It was handed over: it has gone, and to "id", if that is not "". */
void posts_check_heir(struct sim *sim, const struct post *post, const char *id);

/* Return the node of a term, or NULL. */
struct post *posts_of(const struct posts *posts, int64_t term);

/* Return the first that is in a line, and not of session "but", or NULL. */
struct post *posts_first(const struct posts *posts, int line, int64_t but);

void posts_free(struct posts *posts);

#endif
