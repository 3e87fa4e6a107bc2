/*
 * mutex_fixture.h - what tests of the mutex share: one line, asynchronous
 * acquires that record how they ended, and rivals that do not use the library.
 *
 * Whatever fails in here fails the test.
 */
#ifndef TEST_MUTEX_FIXTURE_H
#define TEST_MUTEX_FIXTURE_H

#include <kustos/hold.h>
#include <kustos/mutex.h>

#include "client_fixture.h"
#include "raw.h"

#include <stdatomic.h>

/* The line's path in all tests. */
#define LINE "/locks/a"

/* Check that "text" is "pattern" byte for byte, in which x stands for a
   lower-case hexadecimal digit and d for a decimal digit. */
void check_text(const char *text, const char *pattern);

/* Make a mutex on LINE with so many local hand-overs. */
struct kustos_mutex *mutex_new(struct kustos_client *client, int handoffs);

/* Acquire and release; either must succeed. */
struct kustos_hold *hold_take(struct kustos_mutex *mutex);
void hold_give(struct kustos_hold *hold);

/* Wait until the hold is in "state": "ms" as in test_eventually(). */
void hold_wait(struct kustos_hold *hold, enum kustos_hold_state state, int ms);

/* Check that the hold's node exists, has the hold's token as its czxid, and
   belongs to the session that "client" has now. */
void check_node(struct kustos_hold *hold, struct kustos_client *client);

/* Return how many children LINE has, 0 also if it does not exist. */
int line_count(void);

/* Wait until LINE has so many children. */
void line_wait(int count);

/* Return how many watches the server has, of all sessions. */
int watch_count(void);

/* One asynchronous acquire and its end. */
struct ask {
	atomic_int calls; /* of its callback */
	enum kustos_err err;
	struct kustos_hold *hold;
	int64_t token;
	int order;	    /* n-th of all that have ended */
	int64_t at_ms;	    /* when it ended */
	bool release;	    /* release at once, in the callback */
	atomic_int *inside; /* how many hold; counted if not NULL */
};

/* Acquire without waiting.  ask_try() returns the call's error; ask() requires
   KUSTOS_OK. */
enum kustos_err ask_try(struct ask *a, struct kustos_mutex *mutex,
	kustos_deadline deadline);
void ask(struct ask *a, struct kustos_mutex *mutex, kustos_deadline deadline);

/* The callback of both, for tests that acquire other locks; "arg" is the struct
   ask. */
void ask_ended(void *arg, enum kustos_err err, struct kustos_hold *hold);

/* Wait for the acquire to end and check that its callback came once.  Returns
   the acquire's error. */
enum kustos_err ask_wait(struct ask *a, int ms);

/* Wait for all of them to end and release what they got.  Returns KUSTOS_OK, or
   the last error of any, or KUSTOS_ETIMEDOUT.  It makes no checks that could
   fail the test. */
enum kustos_err asks_end(struct ask *asks, int count);

/* Return whether the acquire has not ended yet. */
bool ask_waits(const struct ask *a);

/* A contender in LINE that does not use the library. */
struct rival {
	struct raw *raw;
	char path[128];
};

/* rival_enter() takes a place behind all others, with a session of its own and
   a node named as by Curator.  rival_leave() deletes the node and closes the
   session; it is no error if the node is gone. */
void rival_enter(struct rival *rival);
void rival_leave(struct rival *rival);

/* As rival_enter(), with a node whose path begins with "prefix". */
void rival_enter_as(struct rival *rival, const char *prefix);

/* A callback of a hold; "arg" is an int that counts its calls. */
void count_call(void *arg, struct kustos_hold *hold);
int calls_of(const int *count);

#endif
