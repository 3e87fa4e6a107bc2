/*
 * queue_faults.h - what tests of lost queue requests share, on top of
 * queue_fixture.h.
 *
 * A test that uses this is linked with libinject.a.
 */
#ifndef TEST_QUEUE_FAULTS_H
#define TEST_QUEUE_FAULTS_H

#include "queue_fixture.h"

#include <stdbool.h>

/* Begin to put "b"; "put" records the end.  The put is done and its answer
   lost, or else its request is not sent. */
void queue_put_unheard(struct kustos_queue *q, bool is_done, struct taken *put);

#endif
