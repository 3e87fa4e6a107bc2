/*
 * crew.h - a few members of one double barrier, for its tests: the first has the
 * client behind the proxy, the others share the other one.
 */
#ifndef TEST_CREW_H
#define TEST_CREW_H

#include "barrier_fixture.h"

#define STEP "/barriers/step"
#define READY STEP "/ready"
#define CREW_MOST 4

extern struct kustos_double_barrier *ours[CREW_MOST];
extern struct end ends[CREW_MOST];

/* Open the clients; and close them: nothing of anybody is left then. */
void crew_set_up(void);
void crew_tear_down(void);

/* Make so many members; let all enter, and wait; leave; free them. */
void crew_make(int count);
void crew_enter(void);
void crew_leave(void);
void crew_free(void);

/* One member, which is asked and not waited for. */
struct kustos_double_barrier *member_new(struct kustos_client *owner,
	int count);
void member_enter(struct kustos_double_barrier *m, struct end *end);
void member_leave(struct kustos_double_barrier *m, struct end *end);

/* Wait until the barrier has so many children; or none, now. */
void step_await(int count);
void step_check_empty(void);

#endif
