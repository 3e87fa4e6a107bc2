/*
 * drive.h - how a thread that waits for an answer reads it itself.
 *
 * A handle has a thread of its own that drives it (zk.h).  If that thread reads
 * an answer, the thread that waits for it is woken next, which takes as long as
 * all that Kustos does with the answer.  So a thread that is the only one to
 * wait drives the handle meanwhile.
 *
 * Everything here is called with the client locked.
 */
#ifndef KU_DRIVE_H
#define KU_DRIVE_H

#include <kustos/base.h>
#include <stdbool.h>

struct kustos_client;
struct ku_wait;

/* Drive the client's handle until the wait is over or "until" has passed, but
   not for long.  Unlocks meanwhile.  Returns false, and has done nothing, if
   that is for another thread to do. */
bool ku_drive(struct ku_wait *wait, kustos_deadline until);

/* The handle's own thread has ended a wait: if nobody else waits, the thread
   that did may soon wait again, and then drive. */
void ku_drive_offer(struct kustos_client *client);

/* Somebody waits for what is to be read, and does not drive. */
void ku_drive_decline(struct kustos_client *client);

#endif
