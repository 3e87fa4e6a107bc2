/* drive.c - how a thread that waits for an answer reads it itself. */

#include "client.h"

static const struct ku_zk_driving *driving_of(
	const struct kustos_client *client)
{
	return client->session.handle != NULL ? client->env.api->driving : NULL;
}

static void enter(void *arg)
{
	ku_lock_to_wake(arg);
}

static void leave(void *arg)
{
	ku_unlock_and_wake(arg);
}

bool ku_drive(struct ku_wait *wait, kustos_deadline until)
{
	struct kustos_client *client = wait->client;
	const struct ku_zk_driving *driving = driving_of(client);
	struct ku_zk_drive who = { enter, leave, client, until, &wait->over,
		&client->fork };

	if (driving == NULL || client->callers > 1)
		return false;
	wait->waker->drives = client->session.handle->zk;
	bool drove = driving->drive(wait->waker->drives, &who);
	wait->waker->drives = NULL;
	if (!drove)
		return false;
	ku_wakers_settle(client, wait->waker);
	if (client->callers > 1)
		ku_drive_decline(client);
	return true;
}

void ku_drive_offer(struct kustos_client *client)
{
	const struct ku_zk_driving *driving = driving_of(client);

	if (driving != NULL && client->callers == 1)
		driving->offer(client->session.handle->zk);
}

void ku_drive_decline(struct kustos_client *client)
{
	const struct ku_zk_driving *driving = driving_of(client);

	if (driving != NULL)
		driving->decline(client->session.handle->zk);
}
