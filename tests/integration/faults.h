/*
 * faults.h - tests that must pass for every kind of lock, and their helpers:
 * any frame may fail, and the connection may break.  On top of mutex_pair.h.
 *
 * A test that uses this is linked with libinject.a.
 */
#ifndef TEST_FAULTS_H
#define TEST_FAULTS_H

#include "mutex_pair.h"

/* Open the pair with "client" behind the proxy and a short retry delay. */
void faults_open(int timeout_ms);

/* Disconnect "client" until inject_connect(0) is called, and wait until it has
   noticed. */
void faults_disconnect(void);

/* Let the rival that "client" watches leave without "client" being notified:
   either the event and then the connection are lost, or "client" is not
   connected when it happens. */
void faults_leave_unheard(struct rival *rival, bool on_its_way);

/* Release "hold", of "client", while it is disconnected.  The release is
   carried out once "client" is connected again; then the acquire "a" is
   granted. */
void faults_give_cut_off(struct kustos_hold *hold, struct ask *a);

/* The requests that acquire and release mostly send, including those that a new
   connection sends first. */
#define FAULT_CODES 6
extern const int fault_codes[FAULT_CODES];

/* A lock on LINE that "client" and "other" share. */
struct faults_lock {
	const int *codes; /* FAULT_CODES of them */
	int points;	  /* the first few frames of each code may fail */

	/* Acquire and release. */
	void (*cycle)(void);

	/* Let somebody else hold the lock, arm the fault, acquire the lock. */
	void (*wait)(void);

	/* "take" acquires the lock, "ask" does so without waiting; for
	   "client", or for "other" if that is true.  "take" is NULL for a lock
	   without these tests. */
	struct kustos_hold *(*take)(bool other);
	void (*ask)(struct ask *a, bool other);
	bool one_node; /* an acquire creates one node unless something fails */
};

/* Arm fault number "fault": a frame is not sent, or it is answered and the
   answer is lost.  fault_arm_own() arms the fault of the running "wait"
   test. */
#define FAULTS(points) (FAULT_CODES * (points)*2)
void fault_arm(const struct faults_lock *lock, int fault);
void fault_arm_own(void);

/* Add the tests that every lock must pass. */
void faults_add(TCase *t, const struct faults_lock *lock);

#endif
