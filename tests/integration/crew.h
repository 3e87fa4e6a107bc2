/*
 * crew.h - a few members of one double barrier, for its tests.  The first
 * member belongs to the client behind the proxy, the others to the other
 * client.
 */
#ifndef TEST_CREW_H
#define TEST_CREW_H

#include "barrier_fixture.h"

#define STEP "/barriers/step"
#define READY STEP "/ready"
#define CREW_MOST 4

extern struct kustos_double_barrier *ours[CREW_MOST];
extern struct end ends[CREW_MOST];

/* Open the clients.  Close them and check that no member's node is left. */
void crew_set_up(void);
void crew_tear_down(void);

/* Create so many members.  Let all of them enter, or leave, and wait for that.
   Destroy them. */
void crew_make(int count);
void crew_enter(void);
void crew_leave(void);
void crew_free(void);

/* Create one member.  Ask it to enter or leave without waiting for that. */
struct kustos_double_barrier *member_new(struct kustos_client *owner,
	int count);
void member_enter(struct kustos_double_barrier *m, struct end *end);
void member_leave(struct kustos_double_barrier *m, struct end *end);

/* Wait until the barrier's node has so many children.  Check that it has none
   now. */
void step_await(int count);
void step_check_empty(void);

#endif
