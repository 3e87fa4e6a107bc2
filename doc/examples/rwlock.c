/* rwlock.c - a table of two rows that are changed together and read by many:
   "rwlock HOST PORT" replaces them, "rwlock" looks them up. */
#include <kustos/client.h>
#include <kustos/node.h>
#include <kustos/rwlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 2

static const char *const rows[ROWS] = { "/service/host", "/service/port" };

/* Look up under the read lock: without it a writer could change the rows
   between the two reads, and they would not belong together. */
static enum kustos_err look_up(struct kustos_client *client,
	struct kustos_rwlock *table)
{
	kustos_deadline end = kustos_after_ms(10000);
	enum kustos_err err, lost;
	char *found[ROWS] = { NULL, NULL };

	err = kustos_rwlock_lock(table, KUSTOS_READ, end, NULL);
	if (err != KUSTOS_OK)
		return err;
	for (int i = 0; i < ROWS && err == KUSTOS_OK; i++)
		err = kustos_get(client, rows[i], end, NULL, &found[i], NULL,
			NULL);
	lost = kustos_rwlock_unlock(table, KUSTOS_READ);
	if (err == KUSTOS_OK)
		err = lost; /* a writer may have changed the rows meanwhile */
	if (err == KUSTOS_OK)
		printf("%s:%s\n", found[0], found[1]);
	for (int i = 0; i < ROWS; i++)
		kustos_free(found[i]);
	return err;
}

/* Set both rows or none, and only if we still hold the lock: the server checks
   that in the same transaction. */
static enum kustos_err replace(struct kustos_rwlock *table, char **values)
{
	kustos_deadline end = kustos_after_ms(10000);
	struct kustos_op ops[ROWS];
	enum kustos_err err;

	for (int i = 0; i < ROWS; i++)
		ops[i] = (struct kustos_op){ .kind = KUSTOS_OP_SET,
			.path = rows[i],
			.data = values[i],
			.len = strlen(values[i]),
			.version = -1 };
	err = kustos_rwlock_lock(table, KUSTOS_WRITE, end, NULL);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_hold_multi(kustos_rwlock_hold(table, KUSTOS_WRITE), ops,
		ROWS, end, NULL, NULL);
	kustos_rwlock_unlock(table, KUSTOS_WRITE);
	return err;
}

/* Make the rows if they are not there. */
static enum kustos_err make(struct kustos_client *client)
{
	enum kustos_err err = KUSTOS_OK;

	for (int i = 0; i < ROWS && err == KUSTOS_OK; i++) {
		err = kustos_create(client, rows[i], "", 0,
			KUSTOS_CREATE_PARENTS, kustos_after_ms(10000), NULL,
			NULL, NULL);
		if (err == KUSTOS_EEXISTS)
			err = KUSTOS_OK;
	}
	return err;
}

int main(int argc, char **argv)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;
	struct kustos_rwlock *table = NULL;
	enum kustos_err err;

	if (argc != 1 && argc != 1 + ROWS) {
		fprintf(stderr, "usage: rwlock [HOST PORT]\n");
		return 2;
	}
	options.hosts = getenv("KUSTOS_HOSTS");
	if (options.hosts == NULL)
		options.hosts = "127.0.0.1:2181";
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_OK)
		err = kustos_rwlock_create(client, "/locks/service", NULL,
			&table);
	if (err == KUSTOS_OK)
		err = make(client);
	if (err == KUSTOS_OK)
		err = argc > 1 ? replace(table, argv + 1)
			       : look_up(client, table);
	kustos_rwlock_destroy(table);
	kustos_client_close(client, kustos_after_ms(2000), NULL);
	if (err != KUSTOS_OK)
		fprintf(stderr, "%s\n", kustos_strerror(err));
	return err == KUSTOS_OK ? 0 : 1;
}
