/* session_handle.c - a session's handle: opened, kept away from some servers,
   closed. */

#include "client.h"
#include "resolve.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(KU_SHUN_TEXT == KU_ADDRESS_SIZE, "one address");

static void handle_free(struct ku_handle *handle)
{
	free(handle->addresses);
	free(handle);
}

static struct ku_handle *handle_new(struct kustos_client *client)
{
	struct ku_handle *handle = calloc(1, sizeof(*handle));

	if (handle == NULL)
		return NULL;
	handle->client = client;
	size_t room = ku_shun_room(client->addresses);
	handle->addresses = malloc(2 * room);
	if (handle->addresses == NULL) {
		free(handle);
		return NULL;
	}
	handle->joined = handle->addresses + room;
	ku_shun_begin(handle->addresses, client->addresses);
	return handle;
}

/* A handle tells something: the client is locked meanwhile. */
static void enter(void *arg)
{
	const struct ku_handle *handle = arg;

	ku_lock_to_wake(handle->client);
}

static void leave(void *arg)
{
	const struct ku_handle *handle = arg;

	ku_unlock_and_wake(handle->client);
}

bool ku_session_open_handle(struct kustos_client *client, ku_zk_event_fn *event)
{
	struct ku_session *session = &client->session;
	struct ku_handle *handle = handle_new(client);

	if (handle == NULL)
		return false;
	session->not_before_ns = ku_now(client);
	struct ku_zk_open params = {
		.addresses = client->addresses,
		.timeout_ms = client->config.timeout_ms,
		.enter = enter,
		.leave = leave,
		.event = event,
		.arg = handle,
		.resume = session->handles == 0 && client->config.resume.id != 0
			? &client->config.resume
			: NULL,
	};
	if (client->env.api->open(client->env.api_env, &params, &handle->zk) !=
		KUSTOS_OK) {
		handle_free(handle);
		return false;
	}
	session->handle = handle;
	session->handles++;
	return true;
}

void ku_session_stay_away(struct kustos_client *client)
{
	struct ku_session *session = &client->session;
	struct ku_handle *handle = session->handle;

	if (!ku_shun_narrow(&session->shun, ku_now(client), session->server,
		    handle->addresses))
		return;
	ku_log(client, KUSTOS_LOG_INFO, "from now on at one of %s",
		handle->addresses);
	ku_shun_join(handle->addresses, session->server, handle->joined);
	client->env.api->steer(handle->zk, handle->joined, false);
}

void ku_session_reap(struct kustos_client *client)
{
	ku_lock(client);
	while (client->reap != NULL) {
		struct ku_handle *handle = client->reap;

		client->reap = handle->next;
		ku_unlock(client);
		client->env.api->close(handle->zk);
		ku_lock(client);
		ku_wire_closed(handle);
		handle_free(handle);
	}
	ku_unlock(client);
}
