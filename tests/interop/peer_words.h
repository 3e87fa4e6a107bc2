/*
 * peer_words.h - what the files of the process that locks with Kustos share:
 * peer.c, peer_elect.c for elections, peer_semaphore.c, peer_barrier.c,
 * peer_queue.c, and peer_holds.c.
 */
#ifndef TEST_PEER_WORDS_H
#define TEST_PEER_WORDS_H

#include <kustos/base.h>
#include <kustos/participant.h>

#include <stdbool.h>
#include <stdint.h>

#define LINE 1024
#define PATIENCE kustos_after_ms(60000)

struct kustos_client;
struct kustos_hold;
struct chief;
struct leases;
struct store;

/* Everything at one path; a test uses only one of these. */
struct lock {
	char path[LINE];
	struct kustos_mutex *mutex;
	struct kustos_rwlock *rw;
	struct kustos_latch *latch; /* NULL: no candidate */
	struct chief *chief;	    /* the same */
	struct leases *leases;	    /* the same */
	struct store *store;	    /* the same */
	struct kustos_barrier *gate;
	struct kustos_double_barrier *step;
	struct kustos_simple *simple; /* NULL: not asked for yet */
	struct kustos_hold *hold;     /* of it, or of several together */
	int asked; /* requests to revoke it; -1: not revocable */
};

extern struct kustos_client *client;
extern enum kustos_dialect dialect;

/* Add to the answer. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Make the answer an error unless "err" is KUSTOS_OK.  Returns 0 or -1. */
int check(enum kustos_err err, const char *what);

/* Return the time of CLOCK_MONOTONIC. */
int64_t now_ns(void);

/* Return the struct for "path", created if it is new. */
struct lock *lock_of(const char *path, int revocable);

/* Called when somebody asks for a hold; "arg" is the struct lock. */
void note_request(void *arg, struct kustos_hold *hold);

/* Read the number in a node and write it back with 1 added, unprotected against
   other writers; or only read it.  Returns 0 or -1. */
int use(const char *counter, bool only_read);

/* The commands for elections, and the end of what they have begun. */
void elect(char **w);
void leads(char **w);
void term(char **w);
void resign(char **w);
void hand(char **w);
void yield(char **w);
void candidates(char **w);
void reign(char **w);
void election_end(struct lock *lock);

/* The same for semaphores. */
void lease(char **w);
void held_leases(char **w);
void give_leases(char **w);
void resize(char **w);
void holders(char **w);
void draw(char **w);
void leases_end(struct lock *lock);

/* And for barriers. */
void gate_close(char **w);
void gate_open(char **w);
void gate_pass(char **w);
void step_enter(char **w);
void step_leave(char **w);
void barriers_end(struct lock *lock);

/* And for queues. */
void supply(char **w);
void fetch(char **w);
void claim_one(char **w);
void claim_has(char **w);
void claim_end(char **w);
void store_end(struct lock *lock);

/* The semaphore's mutex at the path of "lock". */
enum kustos_err sole_take(struct lock *lock, long ms);
enum kustos_err sole_give(struct lock *lock);

/* The simple lock at that path; or the mutexes whose paths it names, with
   commas between. */
enum kustos_err bare_take(struct lock *lock, long ms);
enum kustos_err all_take(struct lock *lock, long ms);
enum kustos_err hold_give(struct lock *lock);
void holds_end(struct lock *lock);

#endif
