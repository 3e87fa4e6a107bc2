/* custody_guard.c - watch the marker of an item that is held: if somebody
   deletes it, another may have the item. */

#include "custody_impl.h"
#include "mirror.h"

#include <stdlib.h>
#include <string.h>

/* When to try again if memory is short. */
#define SHORT_MS 1000

/* It outlives its custody if it ends while a read is under way. */
struct ku_mark_watch {
	struct ku_mirror mirror;
	struct ku_custody *custody; /* NULL: it is over */
	char path[];
};

/* The marker was read. */
static void saw(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	if (reply->rc == KU_ZK_OK && reply->stat->czxid == c->token) {
		c->stale = false;
	} else if (reply->rc == KU_ZK_OK || reply->rc == KU_ZK_NONODE) {
		c->marked = false;
		/* Not in here, where the mirror must stay. */
		ku_custody_after(c, 0, ku_custody_lose);
	}
}

static void shows(struct ku_mirror *mirror, const struct ku_zk_reply *reply)
{
	const struct ku_mark_watch *watch = mirror->owner;

	if (watch->custody == NULL)
		return;
	if (reply != NULL)
		saw(watch->custody, reply);
	else
		watch->custody->stale = true; /* it may be gone */
}

static void over(struct ku_mirror *mirror)
{
	free(mirror->owner);
}

static const struct ku_mirror_calls calls = {
	.shows = shows,
	.over = over,
};

/* Make a guard.  Returns NULL if memory is short. */
static struct ku_mark_watch *watch_new(struct ku_custody *c)
{
	struct kustos_client *client = c->depot->client;
	struct ku_mark_watch *watch = calloc(1,
		sizeof(*watch) + strlen(c->mark_path) + 1);

	if (watch == NULL)
		return NULL;
	strcpy(watch->path, c->mark_path);
	watch->custody = c;
	ku_mirror_init(&watch->mirror, client, &calls, watch->path);
	watch->mirror.brief = true;
	watch->mirror.owner = watch;
	return watch;
}

static void watch_marker(struct ku_custody *c)
{
	c->watch = watch_new(c);
	if (c->watch != NULL)
		ku_mirror_want(&c->watch->mirror);
	else
		ku_custody_after(c, SHORT_MS, watch_marker);
}

void ku_custody_guard(struct ku_custody *c)
{
	ku_custody_after(c, KU_HELD_WATCH_MS, watch_marker);
}

void ku_custody_unguard(struct ku_custody *c)
{
	struct ku_mark_watch *watch = c->watch;

	ku_timer_unset(&c->depot->client->timers, &c->pause);
	c->paused = NULL;
	c->watch = NULL;
	if (watch == NULL)
		return;
	watch->custody = NULL;
	if (c->marked)
		ku_mirror_forget(&watch->mirror);
	else
		ku_mirror_end(&watch->mirror); /* it is another's */
}
