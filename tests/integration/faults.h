/*
 * faults.h - what tests of faults share, on top of mutex_pair.h: a frame fails at
 * any point, a connection goes; and what must hold of a lock then, whichever it
 * is.
 *
 * What uses this is linked with libinject.a.
 */
#ifndef TEST_FAULTS_H
#define TEST_FAULTS_H

#include "mutex_pair.h"

/* Open the pair, "client" behind a proxy and quick to try again. */
void faults_open(int timeout_ms);

/* Cut "client" off until inject_connect(0), and see it notice that. */
void faults_disconnect(void);

/* The rival goes, and "client" watches it and is not told: either the event is lost on
   its way, and the connection after it; or there is none just then. */
void faults_leave_unheard(struct rival *rival, bool on_its_way);

/* Give back what "client" has while it is cut off, which is done as soon as it is not:
   then whoever asked as in "a" gets it. */
void faults_give_cut_off(struct kustos_hold *hold, struct ask *a);

/* What taking and giving back mostly sends, on this handle or on the way to it. */
#define FAULT_CODES 6
extern const int fault_codes[FAULT_CODES];

/* A lock on LINE, which "client" and "other" share. */
struct faults_lock {
	const int *codes; /* so many */
	int points;	  /* of each of these the first few frames may fail */

	/* Take it and give it back. */
	void (*cycle)(void);

	/* Let somebody have it, arm the fault, ask for it and get it. */
	void (*wait)(void);

	/* May be NULL: take it, or ask for it, for "client" or for the other. */
	struct kustos_hold *(*take)(bool other);
	void (*ask)(struct ask *a, bool other);
	bool one_node; /* is made for each, unless something fails */
};

/* Let fault number "fault" happen: a frame is not sent, or is answered and nobody
   hears it; or the one whose turn it is, in "wait". */
#define FAULTS(points) (FAULT_CODES * (points)*2)
void fault_arm(const struct faults_lock *lock, int fault);
void fault_arm_own(void);

/* Add the tests that are the same for every lock. */
void faults_add(TCase *t, const struct faults_lock *lock);

#endif
