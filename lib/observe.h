/*
 * observe.h - what the client reports to observers of lines.  Called with the
 * client locked.
 */
#ifndef KU_OBSERVE_H
#define KU_OBSERVE_H

#include <kustos/base.h>

struct kustos_client;

void ku_observers_connected(struct kustos_client *client);

/* The credentials were refused: nothing will be seen any more. */
void ku_observers_refused(struct kustos_client *client);

void ku_observers_free(struct kustos_client *client);

#endif
