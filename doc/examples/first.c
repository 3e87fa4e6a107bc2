/* first.c - write a report under a lock, as README shows. */
#include <kustos/client.h>
#include <kustos/mutex.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct kustos_client_options how = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client;
	struct kustos_mutex *lock;

	how.hosts = getenv("KUSTOS_HOSTS"); /* zk1:2181,zk2:2181,zk3:2181 */
	if (kustos_client_open(&how, &client) ||
		kustos_mutex_create(client, "/locks/report", NULL, &lock) ||
		kustos_mutex_lock(lock, kustos_after_ms(10000), NULL))
		return 1;
	/* One report at a time, whichever machine writes it. */
	printf("writing, token %lld\n", (long long)kustos_mutex_token(lock));
	kustos_mutex_unlock(lock); /* does not wait for the network */
	kustos_mutex_destroy(lock);
	return kustos_client_close(client, kustos_after_ms(2000), NULL);
}
