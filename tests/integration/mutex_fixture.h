/*
 * mutex_fixture.h - what tests of the mutex share: one line, requests for it
 * that remember how they ended, and rivals that do not use the library.
 *
 * What cannot be done fails the test.
 */
#ifndef TEST_MUTEX_FIXTURE_H
#define TEST_MUTEX_FIXTURE_H

#include <kustos/hold.h>
#include <kustos/mutex.h>

#include "client_fixture.h"
#include "raw.h"

#include <stdatomic.h>

/* The line that all tests use. */
#define LINE "/locks/a"

/* Compare byte for byte, with x for a hexadecimal digit in lower case and d for
   a decimal one. */
void check_text(const char *text, const char *pattern);

/* Make a mutex on LINE with so many local hand-overs. */
struct kustos_mutex *mutex_new(struct kustos_client *client, int handoffs);

/* Acquire and release, which has to succeed. */
struct kustos_hold *hold_take(struct kustos_mutex *mutex);
void hold_give(struct kustos_hold *hold);

/* Wait until it is in "state": "ms" as in test_eventually(). */
void hold_wait(struct kustos_hold *hold, enum kustos_hold_state state, int ms);

/* The node of a hold exists, is what its token says, and is of the session
   that "client" has now. */
void check_node(struct kustos_hold *hold, struct kustos_client *client);

/* Return how many children LINE has, 0 also if it is not there. */
int line_count(void);

/* Wait until it has so many. */
void line_wait(int count);

/* Return how many watches the server knows of, of all sessions. */
int watch_count(void);

/* One acquire_async and its end. */
struct ask {
	atomic_int calls; /* of its callback */
	enum kustos_err err;
	struct kustos_hold *hold;
	int64_t token;
	int order;	    /* this was the n-th of all that ended */
	int64_t at_ms;	    /* when */
	bool release;	    /* at once, in the callback */
	atomic_int *inside; /* how many hold; counted if not NULL */
};

/* Ask, and do not wait.  Returns what the call returned; or it has to be
   KUSTOS_OK. */
enum kustos_err ask_try(struct ask *a, struct kustos_mutex *mutex,
	kustos_deadline deadline);
void ask(struct ask *a, struct kustos_mutex *mutex, kustos_deadline deadline);

/* Their callback, for asks of other recipes; "arg" is the struct ask. */
void ask_ended(void *arg, enum kustos_err err, struct kustos_hold *hold);

/* Wait for its end, and check that it came once.  Returns its error. */
enum kustos_err ask_wait(struct ask *a, int ms);

/* Wait for the ends of all, with patience, and give back what they got.  Returns
   KUSTOS_OK, or what one of them ended with, or KUSTOS_ETIMEDOUT.  Nothing is
   checked in it. */
enum kustos_err asks_end(struct ask *asks, int count);

/* It is still waiting. */
bool ask_waits(const struct ask *a);

/* A contender in LINE that is none of the library's. */
struct rival {
	struct raw *raw;
	char path[128];
};

/* Take a place behind all that are there, in a session of its own, with a name
   in Curator's manner; leave it, which is no error if it is gone. */
void rival_enter(struct rival *rival);
void rival_leave(struct rival *rival);

/* The first with a node whose path begins so. */
void rival_enter_as(struct rival *rival, const char *prefix);

/* A callback of a hold; "arg" is an int that counts its calls. */
void count_call(void *arg, struct kustos_hold *hold);
int calls_of(const int *count);

#endif
