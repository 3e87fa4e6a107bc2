/* vigil.c - wait until the content or children of a node are as wanted. */

#include "vigil.h"
#include "client.h"
#include "mirror.h"

#include <stdlib.h>
#include <string.h>

struct watcher {	     /* a thread, or a callback, that waits */
	struct ku_wait wait; /* first: cast back from it */
	struct ku_vigil *vigil;
	uint64_t since; /* how many reads were asked for before it */
	ku_vigil_fn *done;
	void *arg;
	struct watcher *prev, *next;
};

struct ku_vigil {
	/* Constant. */
	struct kustos_client *client;
	ku_vigil_judge_fn *judge;
	const void *arg;

	/* Guarded by the client's lock. */
	struct ku_mirror mirror; /* lives as long as this */
	struct watcher *watchers;
};

static void end(struct watcher *w, enum kustos_err err)
{
	KU_LIST_REMOVE(w->vigil->watchers, w);
	ku_wait_end(&w->wait, err);
}

/* Notify the watchers of what "judge" said of a read.  A watcher that began to
   wait after the read was sent has the node read again, unless it waits on in
   any case. */
static void tell(struct ku_vigil *vigil, enum kustos_err verdict)
{
	struct watcher *next;
	bool again = false;

	for (struct watcher *w = vigil->watchers; w != NULL; w = next) {
		next = w->next;
		if (!w->wait.once && verdict == KUSTOS_EBUSY)
			continue;
		if (w->since < vigil->mirror.asked)
			end(w, verdict);
		else
			again = true;
	}
	if (again)
		ku_mirror_look(&vigil->mirror);
	else if (vigil->watchers == NULL)
		ku_mirror_rest(&vigil->mirror);
}

static void shows(struct ku_mirror *mirror, const struct ku_zk_reply *reply)
{
	struct ku_vigil *vigil = mirror->owner;

	if (reply == NULL)
		return; /* it is being read again */
	if (reply->rc == KU_ZK_OK || reply->rc == KU_ZK_NONODE)
		tell(vigil, vigil->judge(vigil->arg, reply));
	else
		tell(vigil, ku_rc_err(reply->rc));
}

static void failed(struct ku_mirror *mirror)
{
	struct ku_vigil *vigil = mirror->owner;
	struct watcher *next;

	for (struct watcher *w = vigil->watchers; w != NULL; w = next) {
		next = w->next;
		if (w->wait.once)
			end(w, KUSTOS_EDISCONNECTED);
	}
}

static void over(struct ku_mirror *mirror)
{
	free(mirror->path);
	free(mirror->owner);
}

static const struct ku_mirror_calls mirror_calls = {
	.shows = shows,
	.over = over,
	.failed = failed,
};

static enum kustos_err start(struct ku_wait *wait)
{
	struct watcher *w = (struct watcher *)wait;
	struct ku_vigil *vigil = w->vigil;

	w->since = vigil->mirror.asked;
	KU_LIST_PUSH(vigil->watchers, w);
	if (w->wait.once)
		ku_mirror_look(&vigil->mirror);
	else
		ku_mirror_want(&vigil->mirror);
	return KUSTOS_OK;
}

static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	struct watcher *w = (struct watcher *)wait;
	struct ku_vigil *vigil = w->vigil;

	end(w, why);
	if (vigil->watchers == NULL)
		ku_mirror_rest(&vigil->mirror);
}

static void tell_program(struct ku_wait *wait)
{
	struct watcher *w = (struct watcher *)wait;

	w->done(w->arg, wait->err);
	free(w);
}

static const struct ku_wait_calls wait_calls = {
	.start = start,
	.give_up = give_up,
	.tell = tell_program,
	.connected = true,
};

static void prepare(struct watcher *w, struct ku_vigil *vigil)
{
	w->vigil = vigil;
	w->wait.client = vigil->client;
	w->wait.calls = &wait_calls;
}

enum kustos_err ku_vigil_wait(struct ku_vigil *vigil, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct watcher w = { .vigil = vigil };

	prepare(&w, vigil);
	return ku_wait_block(&w.wait, deadline, cancel);
}

enum kustos_err ku_vigil_wait_async(struct ku_vigil *vigil,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_vigil_fn *done, void *arg)
{
	struct watcher *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return KUSTOS_ENOMEM;
	prepare(w, vigil);
	w->done = done;
	w->arg = arg;
	enum kustos_err err = ku_wait_async(&w->wait, deadline, cancel);
	if (err != KUSTOS_OK)
		free(w);
	return err;
}

enum kustos_err ku_vigil_create(struct kustos_client *client, const char *path,
	const struct ku_vigil_wish *wish, struct ku_vigil **out)
{
	if (!ku_path_valid(path, false))
		return KUSTOS_EINVAL;
	struct ku_vigil *vigil = calloc(1, sizeof(*vigil));
	char *full = ku_path_join(client->config.prefix, path);

	if (vigil == NULL || full == NULL) {
		free(full);
		free(vigil);
		return KUSTOS_ENOMEM;
	}
	vigil->client = client;
	vigil->judge = wish->judge;
	vigil->arg = wish->arg;
	ku_mirror_init(&vigil->mirror, client, &mirror_calls, full);
	vigil->mirror.kind = wish->kind;
	vigil->mirror.brief = wish->brief;
	vigil->mirror.frugal = true;
	vigil->mirror.owner = vigil;
	*out = vigil;
	return KUSTOS_OK;
}

void ku_vigil_destroy(struct ku_vigil *vigil)
{
	if (vigil == NULL)
		return;
	struct kustos_client *client = vigil->client;
	ku_lock(client);
	while (vigil->watchers != NULL)
		end(vigil->watchers, KUSTOS_ECLOSED);
	ku_mirror_end(&vigil->mirror);
	ku_unlock(client);
}
