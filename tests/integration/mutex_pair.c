/*
 * mutex_pair.c - two clients and a mutex of each on LINE.
 */
#include "mutex_pair.h"

#define OTHER_MS 20000 /* session timeout of "other" */

struct proxy *proxy;
struct kustos_client *client, *other;
struct kustos_mutex *mutex, *rivals;

void pair_open_with(const struct kustos_client_options *options, int handoffs)
{
	client = client_open_with(options);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	other = client_connected(fixture_address(), OTHER_MS);
	mutex = mutex_new(client, handoffs);
	rivals = mutex_new(other, handoffs);
}

void pair_open(int timeout_ms, int handoffs)
{
	struct kustos_client_options o = client_options(fixture_address(),
		timeout_ms);

	pair_open_with(&o, handoffs);
}

struct kustos_client_options pair_proxy(int timeout_ms)
{
	proxy = fixture_proxy();
	return client_options(proxy_address(proxy), timeout_ms);
}

void pair_open_behind_proxy(int timeout_ms, int handoffs)
{
	struct kustos_client_options o = pair_proxy(timeout_ms);

	pair_open_with(&o, handoffs);
}

void pair_close(void)
{
	if (proxy != NULL)
		proxy_set_mode(proxy, PROXY_PASS);
	kustos_mutex_destroy(mutex);
	kustos_mutex_destroy(rivals);
	client_close(client);
	client_close(other);
	proxy_free(proxy);
	proxy = NULL;
}

void pair_flush(void)
{
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
}

void pair_hear(struct kustos_client *owner)
{
	check_err(kustos_exists(owner, "/", SOON, NULL, NULL), KUSTOS_OK);
}

static void flush_both(void)
{
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

void pair_settle(void)
{
	flush_both();
	pair_hear(client);
	pair_hear(other);
	flush_both();
}
