/*
 * queue_faults.h - what tests of what happens to a queue's requests share, on top of
 * queue_fixture.h.
 *
 * What uses this is linked with libinject.a.
 */
#ifndef TEST_QUEUE_FAULTS_H
#define TEST_QUEUE_FAULTS_H

#include "queue_fixture.h"

#include <stdbool.h>

/* Begin to put "b", of whose end "put" is told.  It is done, and the answer lost; or its
   request is not sent. */
void queue_put_unheard(struct kustos_queue *q, bool is_done, struct taken *put);

#endif
