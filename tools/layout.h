/*
 * layout.h - what a node is, by the names of its children, or by what it says
 * if it has none.  Pure.
 */
#ifndef KU_LAYOUT_H
#define KU_LAYOUT_H

#include <kustos/node.h>

#include <stdbool.h>

enum layout {
	LAYOUT_NONE,
	LAYOUT_LOCK,	  /* contenders of a mutex, or of a selector */
	LAYOUT_RWLOCK,	  /* some of which read or write */
	LAYOUT_ELECTION,  /* candidates of a leader latch */
	LAYOUT_LEASES,	  /* of a semaphore, seen without it */
	LAYOUT_SEMAPHORE, /* two lines below it */
	LAYOUT_BARRIER,	  /* members of a double barrier */
	LAYOUT_LATCH,	  /* what counts down */
	LAYOUT_QUEUE,	  /* items */
	LAYOUT_CLAIMS, /* the same, but ephemeral: markers of items in work */
	LAYOUT_OFFERS, /* candidates of ZooKeeper's LeaderElectionSupport */
	LAYOUT_PARTY,  /* members of kazoo's Party */

	/* Their members have names like those of a double barrier. */
	LAYOUT_LEASED,	/* kazoo's semaphore */
	LAYOUT_SERVICE, /* Curator's instances of one */

	/* These are not recognised by their children. */
	LAYOUT_SIMPLE,	  /* an ephemeral node that says who holds it */
	LAYOUT_EPHEMERAL, /* or does not: it may be something else */
	LAYOUT_GATE,	  /* a plain barrier */
	LAYOUTS
};

/* What the data of a node begins with that "kustos barrier set" has made. */
#define LAYOUT_GATE_SAYS "kustos barrier"

/* Return the word for it. */
const char *layout_name(enum layout layout);

/* Return what a node with that name is a part of; LAYOUT_NONE: it is no part,
   and may be anything itself. */
enum layout layout_part(const char *name);

/* Return whether a node with that name is a whole queue, of those that
   Curator's QueueSharder makes. */
bool layout_is_shard(const char *name);

/* Return what a node with these children is, and how many of them say so. */
enum layout layout_of(const struct kustos_names *names, size_t *parts);

/* Return whether a node that never had children is a plain barrier, by its
   data: ours, or the address that Curator stores by default. */
bool layout_says_gate(const char *data, size_t len);

#endif
