/*
 * countdown_fixture.h - what tests of the count-down latch share: two latches
 * on one path, each of a client of its own, one of them connected through the
 * proxy.
 */
#ifndef TEST_COUNTDOWN_FIXTURE_H
#define TEST_COUNTDOWN_FIXTURE_H

#include "barrier_fixture.h"

#include "inject.h"

#include <kustos/cancel.h>
#include <kustos/countdown.h>

#define LATCH "/countdowns/l"

extern struct kustos_countdown *own, *others;

/* A request that is not sent, and one whose answer is lost. */
extern const enum inject_fault faults[2];

struct kustos_countdown *make(struct kustos_client *owner, int count);
void set_up(void);
void tear_down(void);

void set(struct kustos_countdown *c);
void count_down(struct kustos_countdown *c, const char *id);
void join(struct kustos_countdown *c, const char *id);
enum kustos_err look(struct kustos_countdown *c);
void await(struct kustos_countdown *c, struct end *end);

#endif
