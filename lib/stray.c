/* stray.c - nodes that a creation may make late: found and deleted. */

#include "client.h"

#include <stdlib.h>
#include <string.h>

/* Drop those that cannot come any more, unless one is being looked for. */
static void purge(struct ku_strays *strays, int64_t now)
{
	int kept = 0;

	for (int i = 0; i < strays->count; i++) {
		struct ku_stray *s = &strays->list[i];

		if (s->op == NULL && s->until_ns <= now)
			free(s->path);
		else
			strays->list[kept++] = *s;
	}
	strays->count = kept;
}

void ku_stray_add(const struct ku_op *op, const char *guid)
{
	struct kustos_client *client = op->client;
	struct ku_strays *strays = &client->strays;
	int64_t now = ku_now(client);
	int64_t until = ku_shun_until(&client->session.shun, now);

	purge(strays, now);
	if (until == 0 || strays->count == KU_STRAY_MAX)
		return;
	char *path = strdup(ku_program_path(client, op->path));
	if (path == NULL)
		return;
	struct ku_stray *s = &strays->list[strays->count++];
	*s = (struct ku_stray){ path, op->flags, "", until, NULL };
	strcpy(s->guid, guid);
}

/* The search has ended; or the deletion of what it has found. */
static void look_ended(struct ku_op *op)
{
	struct ku_strays *strays = &op->client->strays;

	if (op->kind == KU_ZK_CREATE && op->err == KUSTOS_OK) {
		ku_log(op->client, KUSTOS_LOG_INFO,
			"%s was made late, and is deleted", op->out_path);
		ku_op_undo(op);
		return;
	}
	if (op->kind == KU_ZK_DELETE)
		ku_op_tell_stuck(op);
	for (int i = 0; i < strays->count; i++)
		if (strays->list[i].op == op)
			strays->list[i].op = NULL;
	purge(strays, ku_now(op->client));
	ku_op_drop(op);
}

static void look(struct kustos_client *client, struct ku_stray *s)
{
	struct ku_op *op;

	if (ku_create_search(client, s->path, s->flags, s->guid, &op) !=
		KUSTOS_OK)
		return;
	s->op = op;
	/* If it starts it may end in here, and "s" be another by then. */
	if (ku_op_start(&op, look_ended, NULL) != KUSTOS_OK)
		s->op = NULL;
}

void ku_strays_look(struct kustos_client *client)
{
	struct ku_strays *strays = &client->strays;

	purge(strays, ku_now(client));
	for (int i = 0; i < strays->count; i++)
		/* A search that is under way begins anew by itself. */
		if (strays->list[i].op == NULL)
			look(client, &strays->list[i]);
}

void ku_strays_forget(struct kustos_client *client)
{
	for (int i = 0; i < client->strays.count; i++)
		client->strays.list[i].until_ns = 0;
	purge(&client->strays, ku_now(client));
}
