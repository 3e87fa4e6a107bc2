/*
 * soak.h - processes of three kinds use one recipe of an ensemble while
 * servers, connections and the processes themselves fail, one after the other.
 *
 * The frame (soak.c) starts the processes, lets something fail again and again,
 * then lets nothing fail, and waits until each process has been served.  What
 * the processes do, and what is checked, is a scene.
 */
#ifndef TEST_SOAK_H
#define TEST_SOAK_H

#include "nemesis.h"
#include "peer.h"
#include "support/raw.h"

#define SOAK_SESSION_MS 4000
#define SOAK_COUNT 5 /* processes */

enum doing {
	STARTS,
	RESTS,
	WAITS, /* for what it has asked for */
	HOLDS, /* what it was granted */
	SAYS,  /* was asked about that */
	GIVES  /* ends it */
};

/* One process.  What it has is the scene's; "until_ms" is how long it shall
   hold it. */
struct contender {
	struct peer peer;
	int number;
	enum doing doing;
	bool stopped;
	bool served; /* the turn that ends is a turn in which it had something */
	int64_t until_ms;
	int turns;

	/* Of scenes with a line: it as it was seen before ours was asked, and
	   the czxid of its first node. */
	struct raw_names line;
	int64_t first;
	const char *side; /* of a read/write lock */
	int64_t term;	  /* as it was said last; 0: not yet */

	/* Of scenes with items: those that it puts; what it has claimed, and
	   when it had asked for it; how it ends that. */
	int from, to;
	int item;
	char node[64];
	int64_t asked;
	bool rivaled;
	const char *end;
	int empty; /* turns without an item, one after the other */
};

struct soak_scene {
	const char *name;
	enum peer_kind kinds[SOAK_COUNT];
	const char *line; /* the node whose children are shown on a failure */
	bool spares_servers; /* they are stopped and cut off, but not killed */

	/* Make the nodes that are needed, on this server. */
	void (*prepare)(const char *server);

	/* It rests: have it ask for something, and set "doing".  If nothing is
	   asked for it stays at rest. */
	void (*ask)(struct contender *c);

	/* It has answered ("peer.reply") while it WAITS, SAYS or GIVES: judge
	   that, and set "doing". */
	void (*answer)(struct contender *c);

	/* It holds something, and not for too long yet: look at it.  May do
	   nothing.  NULL: nobody ever holds anything. */
	void (*look)(struct contender *c);

	/* Have it give back what it holds, and set "doing".  NULL with
	   "look". */
	void (*give)(struct contender *c);

	/* May it be killed?  NULL: yes. */
	bool (*may_be_killed)(const struct contender *c);

	/* It was killed.  NULL: nothing to note. */
	void (*killed)(const struct contender *c);

	/* Nothing fails any more, and soak.closing is set: is all that was
	   begun at an end?  NULL: when all of them rest. */
	bool (*over)(const char *server);

	/* All processes have ended: is what they left right? */
	void (*verdict)(const char *server);
};

extern const struct soak_scene soak_mutex, soak_rwlock, soak_semaphore,
	soak_latch, soak_selector, soak_queue, soak_claims;

/* What goes on now. */
struct soak {
	const struct soak_scene *scene;
	struct nemesis *nemesis;
	struct contender contenders[SOAK_COUNT];
	bool closing; /* nobody shall begin anything */
	int looks, losses, replaced, killed_ours, strikes;
};

extern struct soak soak;

/* Return the value of this variable of the environment, or "usual". */
int soak_setting(const char *name, int usual);

/* Return a random number from 0 to n - 1. */
int soak_below(int n);

/* Return how long one may wait: mostly very long, and sometimes not. */
int soak_patience_ms(void);

bool soak_is_ours(const struct contender *c);

/* Does its last answer begin with this word? */
bool soak_said(const struct contender *c, const char *word);

/* It has what it had asked for.  Now and then it holds that for long, so that a
   fault comes meanwhile. */
void soak_hold(struct contender *c);

/* It rests after a turn, in which it had something or not. */
void soak_rest(struct contender *c, bool served);

bool soak_all_rest(void);

/* Does this node certainly have no children, if it is there at all? */
bool soak_empty(const char *server, const char *path);

/* Play the scene for so long, with "seed". */
void soak_play(const struct soak_scene *scene, unsigned seed, int ms);

#endif
