/*
 * session.c - what the drivers of Kustos have in common.
 */
#include "session.h"

#define SESSION_MS 30000
#define PATIENCE_MS 30000

kustos_deadline session_soon(void)
{
	return kustos_after_ms(PATIENCE_MS);
}

enum kustos_err session_open(const struct driver_run *run,
	struct kustos_client **out)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;
	enum kustos_err err;

	o.hosts = run->hosts;
	o.session_timeout_ms = SESSION_MS;
	*out = NULL;
	err = kustos_client_open(&o, out);
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(*out, session_soon(), NULL);
	return err;
}

bool session_ok(struct driver_result *result, enum kustos_err err)
{
	const char *none = NULL;

	if (err != KUSTOS_OK)
		atomic_compare_exchange_strong(&result->error, &none,
			kustos_strerror(err));
	return err == KUSTOS_OK;
}

void session_close(struct kustos_client *client)
{
	(void)kustos_client_close(client, session_soon(), NULL);
}
