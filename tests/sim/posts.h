/*
 * posts.h - the nodes of an election's leaders and candidates, as the
 * ensemble's leader has them, in the order of their creation.
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
	bool kept; /* a server refused a request about it: too many requests */
	bool outside;	  /* it or its session was ended from outside */
	bool touched;	  /* somebody else has, or may have, written into it */
	bool seized;	  /* somebody else has, while it led */
	int64_t led_zxid; /* since when it leads; 0: it does not */
	char heir[16];	  /* data of the first node when this one went */
};

struct posts {
	struct post **list;
	int count, room;
};

/* Return the index of the line that this node is in, or -1. */
int posts_line(const char *const *lines, const char *path);

void posts_add(struct posts *posts, const char *path, int line, int64_t zxid,
	int64_t owner);

/* A node goes.  Returns its post, and sets why it goes; or NULL. */
struct post *posts_remove(struct posts *posts, const struct ledger *ledger,
	const char *path, enum fate *fate);

/* For the scenario's "note". */
void posts_note(struct posts *posts, enum model_note what, const char *path,
	int64_t value);

/* "post" has gone: note the data of the node that is first now.  Skip an older
   node of the same session that it could not delete yet. */
void posts_note_heir(struct sim *sim, const struct posts *posts,
	struct post *post);

/* A hand-over has succeeded: check that "post" has gone, and that "id" followed
   it, unless that is "". */
void posts_check_heir(struct sim *sim, const struct post *post, const char *id);

/* Return the node of a term, or NULL. */
struct post *posts_of(const struct posts *posts, int64_t term);

/* Return the first node in a line that is not of session "but", or NULL. */
struct post *posts_first(const struct posts *posts, int line, int64_t but);

void posts_free(struct posts *posts);

#endif
