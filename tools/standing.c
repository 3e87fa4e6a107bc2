/*
 * standing.c - who stands at a path: in a line, or at a semaphore.
 */
#include "standing.h"
#include "tool.h"

#include <kustos/node.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum kustos_err get_line(struct kustos_client *client, const char *path,
	const char *name, kustos_deadline end, struct kustos_participants **out)
{
	const char *parent = strcmp(path, "/") == 0 ? "" : path;
	char *full = malloc(strlen(parent) + strlen(name) + 1);

	if (full == NULL)
		return KUSTOS_ENOMEM;
	sprintf(full, "%s%s", parent, name);
	enum kustos_err err = kustos_participants(client, full, end, NULL, out);
	free(full);
	return err;
}

static enum kustos_err get_lines(struct kustos_client *client, const char *path,
	kustos_deadline end, struct standing *l)
{
	char *number = NULL;
	enum kustos_err err = get_line(client, path, "/leases", end,
		&l->leases);

	if (err != KUSTOS_OK)
		return err;
	err = get_line(client, path, "/locks", end, &l->locks);
	if (err == KUSTOS_ENONODE) /* nobody has waited yet */
		err = KUSTOS_OK;
	if (err == KUSTOS_OK)
		err = kustos_get(client, path, end, NULL, &number, NULL, NULL);
	if (err == KUSTOS_OK && number != NULL)
		(void)tool_number(number, 1, &l->max);
	kustos_free(number);
	return err;
}

/* Does lease "i" only wait?  The first in "locks" has made the nodes of its
   leases already, after its node there.  Those that wait are the ones that are
   more than there may be; if that number is not known, the last one of its
   session.  A lease of another session is held even if it is one too many: its
   owner uses another number. */
static bool only_waits(const struct standing *l, size_t i)
{
	const struct kustos_participant *one = l->leases->list[i];
	const struct kustos_participant *first = l->locks != NULL &&
			l->locks->count > 0
		? l->locks->list[0]
		: NULL;

	if (first == NULL || first->stat.czxid == 0 ||
		one->stat.ephemeral_owner != first->stat.ephemeral_owner ||
		one->stat.czxid < first->stat.czxid)
		return false;
	if (l->max > 0)
		return i >= (size_t)l->max;
	for (size_t k = i + 1; k < l->leases->count; k++)
		if (l->leases->list[k]->stat.ephemeral_owner ==
			one->stat.ephemeral_owner)
			return false;
	return true;
}

/* Make one list of both: the leases that are held, and all who wait.  The
   participants stay those of "leases" and "locks". */
static enum kustos_err join(struct standing *l)
{
	struct kustos_participants *all = &l->joined;
	size_t waiting = l->locks != NULL ? l->locks->count : 0;

	all->list = calloc(l->leases->count + waiting + 1, sizeof(*all->list));
	if (all->list == NULL)
		return KUSTOS_ENOMEM;
	for (size_t i = 0; i < l->leases->count; i++)
		if (!only_waits(l, i))
			all->list[all->count++] = l->leases->list[i];
	for (size_t i = 0; i < waiting; i++) {
		l->locks->list[i]->holds = 0; /* of the lock, not a lease */
		all->list[all->count++] = l->locks->list[i];
	}
	all->foreign = l->leases->foreign +
		(l->locks != NULL ? l->locks->foreign : 0);
	return KUSTOS_OK;
}

static enum kustos_err get_semaphore(struct kustos_client *client,
	const char *path, kustos_deadline end, struct standing *out)
{
	enum kustos_err err = get_lines(client, path, end, out);

	if (err == KUSTOS_OK)
		err = join(out);
	if (err == KUSTOS_OK)
		out->list = &out->joined;
	return err;
}

enum kustos_err standing_get(struct kustos_client *client, const char *path,
	const char *extra_marks, kustos_deadline end, struct standing *out)
{
	enum kustos_err err;

	memset(out, 0, sizeof(*out));
	err = kustos_participants_marked(client, path, extra_marks, end, NULL,
		&out->line);
	out->list = out->line;
	if (err != KUSTOS_OK || out->line->count > 0 || out->line->foreign == 0)
		return err;
	err = get_semaphore(client, path, end, out);
	return err == KUSTOS_ENONODE ? KUSTOS_OK : err; /* no semaphore */
}

void standing_free(struct standing *s)
{
	kustos_participants_free(s->line);
	kustos_participants_free(s->leases);
	kustos_participants_free(s->locks);
	free(s->joined.list);
}
