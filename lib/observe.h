/*
 * observe.h - what the client tells those who observe lines, with itself
 * locked.
 */
#ifndef KU_OBSERVE_H
#define KU_OBSERVE_H

#include <kustos/base.h>

struct kustos_client;

void ku_observers_connected(struct kustos_client *client);

/* Nothing will be seen any more. */
void ku_observers_fail(struct kustos_client *client, enum kustos_err why);

void ku_observers_free(struct kustos_client *client);

#endif
