/* drive.c - how a thread that waits for an answer reads it itself. */

#include "client.h"

static const struct ku_zk_driving *driving_of(
	const struct kustos_client *client)
{
	return client->session.handle != NULL ? client->env.api->driving : NULL;
}

bool ku_drive(struct ku_wait *wait, kustos_deadline until)
{
	struct kustos_client *client = wait->client;
	const struct ku_zk_driving *driving = driving_of(client);
	bool drove;

	if (driving == NULL || client->callers > 1)
		return false;
	wait->waker->drives = client->session.handle->zk;
	drove = driving->drive(wait->waker->drives, until, &wait->over);
	wait->waker->drives = NULL;
	if (drove)
		ku_wakers_settle(client, wait->waker);
	return drove;
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

	if (driving != NULL && client->callers > 0)
		driving->decline(client->session.handle->zk);
}
