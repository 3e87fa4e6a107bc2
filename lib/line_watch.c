/* line_watch.c - the nodes that are watched for a place: its own, and the
   nearest before it. */

#include "line_impl.h"

#include <stdlib.h>
#include <string.h>

/* When to look again if a node cannot be watched. */
#define NO_WATCH_MS 1000
#define NO_READ_MS 30000
/* And if the server refuses the read for now. */
#define PUT_OFF_MS 100

/* What Curator's clients write into a node to ask for its release. */
static const char revoke_request[] = "__REVOKE__";

static void lookout_free(struct ku_lookout *lookout)
{
	free(lookout->path);
	free(lookout);
}

static void lookout_drop(struct ku_lookout **lookout)
{
	struct ku_lookout *l = *lookout;

	if (l == NULL)
		return;
	*lookout = NULL;
	struct kustos_client *client = l->place->line->client;
	l->deleted = lookout == &l->place->own;
	l->place = NULL;
	if (l->deleted)
		ku_watch_forget(&l->watch);
	else if (l->request.slot == NULL)
		ku_watch_remove(client, &l->watch);
	bool unsent = ku_wire_withdraw(client, &l->request);
	if (unsent && l->deleted) /* never set: no event clears it */
		ku_watch_unset(client, KU_ZK_WATCH_DATA, l->path);
	if (unsent || !ku_request_busy(&l->request)) {
		ku_watch_failed(client, &l->watch);
		lookout_free(l);
	}
}

bool ku_lookout_sees(const struct ku_lookout *lookout)
{
	return lookout != NULL && !lookout->gone &&
		lookout->watch.entry != NULL &&
		lookout->connection ==
		lookout->place->line->client->session.connection;
}

/* Tell the place that the node is gone.  "seen": by an answer; else by an
   event. */
static void tell_gone(struct ku_lookout *lookout, bool seen)
{
	struct ku_place *place = lookout->place;

	lookout->gone = true;
	if (lookout == place->own)
		ku_place_gone(place);
	else if (place->line->rule->seat)
		ku_seat_freed(place, seen);
	else
		ku_place_advance(place);
}

/* Is the data of the node what we wrote there? */
static bool is_ours(const struct ku_place *place,
	const struct ku_zk_reply *reply)
{
	return reply->stat->version == place->version ||
		ku_place_wrote(place, reply->data, reply->len,
			reply->stat->version);
}

/* Does the data of the node ask for its release?  Not if it says so
   itself. */
static bool is_asked(const struct ku_place *place,
	const struct ku_zk_reply *reply)
{
	return (place->kind->revocable || place->kind->jealous) &&
		reply->len == (int)sizeof(revoke_request) - 1 &&
		memcmp(reply->data, revoke_request, (size_t)reply->len) == 0 &&
		!is_ours(place, reply);
}

void ku_place_note_request(struct ku_place *place,
	const struct ku_zk_reply *reply)
{
	place->revoked = is_asked(place, reply);
	if (place->revoked)
		place->asked_mzxid = reply->stat->mzxid;
}

/* Its own node was read: has somebody asked for its release? */
static void read_own(struct ku_place *place, const struct ku_zk_reply *reply)
{
	bool held = place->state == KU_PLACE_HELD;
	bool asked = is_asked(place, reply);

	if (place->kind->jealous && !is_ours(place, reply) &&
		!(held && asked)) {
		ku_place_gone(place); /* a waiting place starts over */
	} else if (!held) {
		ku_place_note_request(place, reply);
		ku_place_try(place);
	} else if (asked && reply->stat->mzxid != place->asked_mzxid) {
		place->asked_mzxid = reply->stat->mzxid;
		place->kind->events->revoked(place);
	}
}

/* The read of a lookout that is no longer wanted has ended. */
static void end_unwanted(struct kustos_client *client,
	struct ku_lookout *lookout, int rc)
{
	if (rc != KU_ZK_OK) {
		ku_watch_failed(client, &lookout->watch);
		ku_watch_unset(client, KU_ZK_WATCH_DATA, lookout->path);
	} else if (!lookout->deleted) {
		ku_watch_take_back(client, &lookout->watch,
			&lookout->request.what);
	}
	lookout_free(lookout);
}

/* The server does not let us read the node, so we can only look now and
   then. */
static void cannot_read(struct ku_lookout *lookout, enum kustos_err err)
{
	struct ku_place *place = lookout->place;
	struct ku_line *line = place->line;

	if (!line->unreadable)
		ku_log(line->client, KUSTOS_LOG_WARNING,
			"%s cannot be watched: %s", lookout->path,
			kustos_strerror(err));
	line->unreadable = true;
	ku_line_again(line,
		place->state == KU_PLACE_HELD ? NO_READ_MS : NO_WATCH_MS);
}

static void seen(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_lookout *lookout = KU_OWNER(struct ku_lookout, request,
		request);
	struct kustos_client *client = request->owner;
	struct ku_place *place = lookout->place;

	if (place == NULL) {
		end_unwanted(client, lookout, reply->rc);
		return;
	}
	if (reply->rc == KU_ZK_OK) {
		if (ku_watch_keep(client, &lookout->watch, &request->what))
			lookout->connection = request->connection;
		else
			ku_line_again(place->line, NO_WATCH_MS);
		if (place->line->rule->seat && !ku_seat_seen(place, reply))
			return;
		if (lookout == place->own)
			read_own(place, reply);
		else
			ku_place_try(place);
		return;
	}
	ku_watch_failed(client, &lookout->watch);
	if (reply->rc == KU_ZK_NONODE)
		tell_gone(lookout, true);
	else if (ku_outcome(reply->rc) == KU_OUTCOME_REFUSED)
		cannot_read(lookout, ku_rc_err(reply->rc));
	else if (ku_session_ready(client))
		ku_line_again(place->line, PUT_OFF_MS);
}

static void send_get(struct ku_lookout *lookout, bool watch)
{
	struct kustos_client *client = lookout->place->line->client;

	lookout->request.owner = client;
	lookout->request.done = seen;
	ku_wire_read(client, &lookout->request, KU_ZK_GET, lookout->path,
		watch);
}

/* Must the node be read even if it cannot be watched?  It must if no listing
   tells of it: those serve only places that wait in line. */
static bool must_read(const struct ku_lookout *lookout)
{
	const struct ku_place *place = lookout->place;

	return place->state == KU_PLACE_HELD || place->line->rule->seat;
}

/* Watch the node, and read it.  Returns false if it cannot be watched. */
static bool watch_node(struct ku_lookout *lookout)
{
	struct kustos_client *client = lookout->place->line->client;

	if (!ku_session_ready(client) || ku_request_busy(&lookout->request))
		return true; /* connected, we look again */
	bool watch = lookout->watch.entry != NULL ||
		ku_watch_add(client, &lookout->watch, KU_ZK_WATCH_DATA,
			lookout->path) == KUSTOS_OK;
	if (watch || must_read(lookout))
		send_get(lookout, watch);
	return watch;
}

static void node_event(struct ku_watch *watch, enum ku_watch_event event)
{
	struct ku_lookout *lookout = KU_OWNER(struct ku_lookout, watch, watch);

	if (lookout->place == NULL)
		return;
	if (event == KU_WATCH_DELETED) {
		tell_gone(lookout, false);
		return;
	}
	lookout->connection = 0; /* not seen until it is read again */
	if (event != KU_WATCH_GONE && !watch_node(lookout))
		ku_line_again(lookout->place->line, NO_WATCH_MS);
}

/* Make a lookout for the node "name" in the place's line; "": the line's
   node. */
static struct ku_lookout *lookout_new(struct ku_place *place, const char *name)
{
	struct ku_lookout *lookout = calloc(1, sizeof(*lookout));
	const char *line = place->line->path;
	char *path = name[0] != '\0' ? ku_path_child(line, name) : strdup(line);

	if (lookout == NULL || path == NULL) {
		free(lookout);
		free(path);
		return NULL;
	}
	lookout->place = place;
	lookout->path = path;
	lookout->watch.fn = node_event;
	return lookout;
}

/* Have "*lookout" watch the node "name". */
static void look_out(struct ku_place *place, struct ku_lookout **lookout,
	const char *name)
{
	if (*lookout == NULL)
		*lookout = lookout_new(place, name);
	if (*lookout == NULL || !watch_node(*lookout))
		ku_line_again(place->line, NO_WATCH_MS);
}

void ku_place_watch_own(struct ku_place *place)
{
	if (!ku_lookout_sees(place->own))
		look_out(place, &place->own,
			place->line->rule->seat ? ""
						: ku_path_leaf(place->path));
}

void ku_place_watch_seat(struct ku_place *place)
{
	if (place->ahead[0] != NULL && place->ahead[0]->gone)
		lookout_drop(&place->ahead[0]);
	look_out(place, &place->ahead[0], "");
}

/* Take the lookout for "name" out of "from". */
static struct ku_lookout *pick(struct ku_lookout **from, const char *name)
{
	for (int i = 0; i < KU_WATCHED; i++) {
		struct ku_lookout *lookout = from[i];

		if (lookout == NULL ||
			strcmp(ku_path_leaf(lookout->path), name) != 0)
			continue;
		from[i] = NULL;
		return lookout;
	}
	return NULL;
}

void ku_place_watch_ahead(struct ku_place *place, int count)
{
	struct ku_lookout *old[KU_WATCHED];

	if (count > place->gap)
		count = place->gap;
	for (int i = 0; i < KU_WATCHED; i++) {
		old[i] = place->ahead[i];
		place->ahead[i] = NULL;
	}
	for (int i = 0; i < count; i++)
		if (place->near[i] != NULL) /* else memory is short */
			place->ahead[i] = pick(old, place->near[i]);
	for (int i = 0; i < KU_WATCHED; i++)
		lookout_drop(&old[i]);
	for (int i = 0; i < count; i++) {
		struct ku_lookout *ahead = place->ahead[i];

		if (place->near[i] != NULL &&
			(ahead == NULL ||
				(!ahead->gone && !ku_lookout_sees(ahead))))
			look_out(place, &place->ahead[i], place->near[i]);
	}
}

void ku_place_unwatch_ahead(struct ku_place *place)
{
	for (int i = 0; i < KU_WATCHED; i++)
		lookout_drop(&place->ahead[i]);
}

void ku_place_unwatch_own(struct ku_place *place)
{
	lookout_drop(&place->own);
}
