/*
 * countdown_impl.h - what the files of the count-down latch share.
 */
#ifndef KU_COUNTDOWN_IMPL_H
#define KU_COUNTDOWN_IMPL_H

#include <kustos/countdown.h>

#include "recipe.h"

#include <kustos/node.h>
#include <pthread.h>

struct life; /* a node that says that a participant is alive */

struct kustos_countdown {
	/* Constant. */
	struct kustos_client *client;
	struct ku_vigil *vigil;
	char *path;
	int count;
	char *data; /* NULL: the client's */
	size_t len;

	pthread_mutex_t mutex; /* guards the rest; no lock is taken under it */
	int refs;	       /* of its owner, and of each call under way */
	bool over;	       /* its owner has destroyed it */
	struct life *lives;
	uint64_t serial; /* of the newest */
};

struct errand { /* a call with a callback */
	struct kustos_countdown *c;
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
	kustos_end_fn *done;
	void *arg;
	uint64_t serial; /* of its life */
	char id[];
};

enum kustos_err ku_countdown_check(const struct kustos_countdown *c);

/* Return the path of a child, malloc'ed. */
char *ku_countdown_child(const struct kustos_countdown *c, const char *name);

/* Create the child "name", unless it is there. */
enum kustos_err ku_countdown_ensure(struct kustos_countdown *c,
	const char *name, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* An errand keeps a reference to its latch, which may be destroyed before the
   errand ends. */
struct errand *ku_countdown_errand(struct kustos_countdown *c, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);
void ku_countdown_errand_free(struct errand *e);

/* Free the errand, and tell the program. */
void ku_countdown_errand_end(struct errand *e, enum kustos_err err);

/* Create the child "name" for an errand, unless it is there. */
enum kustos_err ku_countdown_errand_ensure(struct errand *e, const char *name,
	kustos_end_fn *ensured);

/* A call keeps a reference to the latch until the call ends: the latch may be
   destroyed meanwhile. */
void ku_countdown_get(struct kustos_countdown *c);
void ku_countdown_put(struct kustos_countdown *c);

/* Delete the nodes which say that "id" (NULL: anybody) is alive, and which are
   older than "serial". */
void ku_countdown_end_lives(struct kustos_countdown *c, const char *id,
	uint64_t serial);

#endif
