/* waker.c - how a waiting thread is woken without running into the lock. */

#include "client.h"

#include <stdlib.h>
#include <string.h>

struct ku_waker *ku_waker_take(struct kustos_client *client)
{
	struct ku_waker *waker = client->wakers.spare;

	if (waker != NULL) {
		client->wakers.spare = waker->next;
		return waker;
	}
	waker = calloc(1, sizeof(*waker));
	if (waker == NULL || ku_cond_init(&waker->cond))
		return waker;
	free(waker);
	return NULL;
}

void ku_waker_put(struct kustos_client *client, struct ku_waker *waker)
{
	waker->next = client->wakers.spare;
	client->wakers.spare = waker;
}

static void wake(struct kustos_client *client, struct ku_waker *waker)
{
	if (waker->drives != NULL)
		client->env.api->driving->nudge(waker->drives);
	else
		pthread_cond_signal(&waker->cond);
}

void ku_waker_wake(struct kustos_client *client, struct ku_waker *waker)
{
	struct ku_wakers *wakers = &client->wakers;

	if (wakers->notes)
		ku_drive_offer(client);
	if (wakers->notes && wakers->count < KU_WAKERS_NOTED)
		wakers->noted[wakers->count++] = waker;
	else
		wake(client, waker);
}

void ku_wakers_settle(struct kustos_client *client, const struct ku_waker *own)
{
	struct ku_wakers *wakers = &client->wakers;

	for (int i = 0; i < wakers->count; i++)
		if (wakers->noted[i] != own)
			wake(client, wakers->noted[i]);
	wakers->count = 0;
	wakers->notes = false;
}

void ku_lock_to_wake(struct kustos_client *client)
{
	ku_lock(client);
	client->wakers.notes = true;
}

void ku_unlock_and_wake(struct kustos_client *client)
{
	struct ku_waker *noted[KU_WAKERS_NOTED];
	int count = client->wakers.count;

	memcpy(noted, client->wakers.noted, sizeof(noted));
	client->wakers.count = 0;
	client->wakers.notes = false;
	ku_unlock(client);
	for (int i = 0; i < count; i++)
		pthread_cond_signal(&noted[i]->cond);
}

void ku_wakers_free(struct ku_wakers *wakers)
{
	struct ku_waker *waker;

	while ((waker = wakers->spare) != NULL) {
		wakers->spare = waker->next;
		pthread_cond_destroy(&waker->cond);
		free(waker);
	}
}
