/* line_look.c - find out who stands before a place, with as few requests as
   possible. */

#include "line_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Look again after this time although all is watched, in case an event was
   missed; for the server's sake, later still if the line is long. */
#define SAFETY_MS 30000
#define SAFETY_MS_EACH 50
/* When to retry a request that failed although we are connected. */
#define PUT_OFF_MS 100

void ku_line_again(struct ku_line *line, int64_t ms)
{
	int64_t at_ns = ku_now(line->client) + ms * KU_NS_PER_MS;

	if (!ku_timer_is_set(&line->again) || at_ns < line->again.at_ns)
		ku_set_timer(line->client, &line->again, at_ns);
}

void ku_line_set_safety(struct ku_line *line)
{
	int64_t ms = SAFETY_MS + line->children * SAFETY_MS_EACH;

	if (!ku_timer_is_set(&line->again))
		ku_line_again(line, ku_watch_doubt_ms(line->client, ms));
}

void ku_place_forget(struct ku_place *place)
{
	for (int i = 0; i < KU_NEAR; i++) {
		free(place->near[i]);
		place->near[i] = NULL;
	}
	place->known = 0;
	ku_place_unwatch_ahead(place);
	ku_place_unwatch_own(place);
}

/* Note what a listing says of "place". */
static void learn(struct ku_place *place, const struct ku_standing *standing)
{
	bool kept = true;

	place->verdict = ku_rank_verdict(standing);
	/* That it has to wait is no news to a place that is granted; nor,
	   unless all children count, to one that rests behind another. */
	place->news = place->verdict != KU_RANK_WAIT ||
		(place->state != KU_PLACE_HELD &&
			(place->line->rule->counts ||
				place->state != KU_PLACE_BEHIND ||
				!ku_place_rests(place)));
	if (place->state == KU_PLACE_HELD)
		return;
	for (int i = 0; i < KU_NEAR; i++) {
		const char *name = standing->near.names[i];

		free(place->near[i]);
		place->near[i] = name != NULL ? strdup(name) : NULL;
		kept = kept && (name == NULL || place->near[i] != NULL);
	}
	place->gap = standing->near.count;
	if (place->proof != NULL)
		place->proof->decided = false;
	place->known = place->line->client->session.connection;
	if (kept)
		return;
	place->known = 0; /* memory is short */
	place->news = false;
	ku_line_again(place->line, PUT_OFF_MS);
}

/* Is nothing but a listing good enough?  A writer that goes may have left a
   reader in its place.  And a place with extra marks must not believe the
   grants of contenders that do not know those marks: that such a contender was
   granted does not say that nobody was before it. */
static bool must_list(const struct ku_place *place)
{
	const struct ku_rule *rule = place->line->rule;

	return (rule->downgrades || rule->extra != NULL) &&
		!place->kind->shares && place->gap > 0;
}

void ku_place_settle(struct ku_place *place)
{
	if (place->line->rule->counts) {
		ku_place_wait_for_room(place);
		return;
	}
	ku_line_set_safety(place->line);
	bool lists = must_list(place);
	place->state = lists || place->gap > KU_WATCHED ? KU_PLACE_FAR
							: KU_PLACE_NEXT;
	ku_place_watch_own(place);
	ku_place_watch_ahead(place, lists ? 1 : KU_WATCHED);
	ku_place_try(place);
}

/* Somebody stands before "place". */
static void decide_waiting(struct ku_place *place)
{
	/* The writer is granted, but the place of ours before it may still be
	   on its way out, and be listed. */
	if (place->beside != 0) {
		ku_place_grant(place); /* fails if its writer has gone */
		return;
	}
	if (place->once) {
		if (place->kind->company != KU_COMPANY_UNKNOWN)
			ku_place_fail(place, KUSTOS_EBUSY);
		return;
	}
	ku_place_tell_queued(place);
	if (ku_place_rests(place)) {
		place->state = KU_PLACE_BEHIND;
		ku_place_unwatch_ahead(place);
	} else if (place->known == 0) {
		/* A place of ours before it turned out to be gone. */
		ku_place_look(place);
	} else {
		ku_place_settle(place);
	}
}

/* Act on what the listing said of "place". */
static void decide(struct ku_place *place)
{
	bool held = place->state == KU_PLACE_HELD;

	place->news = false;
	switch (place->verdict) {
	case KU_RANK_GONE:
		ku_place_gone(place);
		break;
	case KU_RANK_SATURATED:
		if (!held)
			ku_place_fail(place, KUSTOS_ESATURATED);
		break;
	case KU_RANK_OWNER:
		if (!held)
			ku_place_grant(place);
		break;
	case KU_RANK_WAIT:
		if (!held)
			decide_waiting(place);
		break;
	}
}

/* Log, once, that some contenders in the line do not wait for us. */
static void report_mixed(struct ku_line *line, int blind)
{
	if (blind > 0 && !line->mixed)
		ku_log(line->client, KUSTOS_LOG_WARNING,
			"%s: mixed dialects: %d of those in this line do not "
			"see our names and will not wait for us",
			line->path, blind);
	line->mixed = blind > 0;
}

/* Choose the places of ours that can be in a listing of a line's node made at
   "czxid", in their order.  The others were below an older node, whose numbers
   have started over since: they are gone. */
static size_t choose(struct ku_line *line, int64_t czxid,
	struct ku_place **chosen)
{
	size_t count = 0;

	for (struct ku_place *p = line->first; p != NULL; p = p->next) {
		if (p->czxid > czxid) {
			chosen[count++] = p;
			continue;
		}
		p->verdict = KU_RANK_GONE;
		p->news = true;
	}
	return count;
}

/* Compare all places of ours with a listing.  Returns false if memory is
   short. */
static bool compare(struct ku_line *line, int64_t czxid,
	const char *const *names, int name_count)
{
	size_t room = 1;

	for (struct ku_place *p = line->first; p != NULL; p = p->next)
		room++;
	struct ku_place **ours = calloc(room, sizeof(*ours));
	struct ku_standing *standings = calloc(room, sizeof(*standings));
	if (ours == NULL || standings == NULL) {
		free(ours);
		free(standings);
		return false;
	}
	size_t count = choose(line, czxid, ours);
	for (size_t i = 0; i < count; i++) {
		standings[i].name = ku_path_leaf(ours[i]->path);
		standings[i].number = ours[i]->number;
		standings[i].shares = ours[i]->kind->shares;
		standings[i].company = ours[i]->kind->company;
	}
	bool ours_there = line->first != NULL; /* else they meet nobody */
	bool bare = ours_there && line->first->kind->bare;
	int blind = ku_rank(line->rule,
		bare ? KUSTOS_STYLE_KAZOO : KUSTOS_STYLE_CURATOR, names,
		name_count, standings, (int)count);
	for (size_t i = 0; i < count; i++)
		learn(ours[i], &standings[i]);
	free(ours);
	free(standings);
	line->children = name_count;
	if (ours_there)
		report_mixed(line, blind);
	return true;
}

/* Act on what a listing said of each place of ours. */
static void decide_all(struct ku_line *line)
{
	struct ku_cursor cursor;
	struct ku_place *place;

	line->deciding = true;
	ku_cursor_begin(&cursor, line, line->first);
	while ((place = ku_cursor_take(&cursor)) != NULL)
		if (place->news)
			decide(place);
	line->deciding = false;
	ku_cursor_end(&cursor, line);
}

/* The listing was refused, and waiting places cannot do without one. */
static void fail_waiting(struct ku_line *line, enum kustos_err err)
{
	struct ku_cursor cursor;
	struct ku_place *place;

	ku_cursor_begin(&cursor, line, line->first);
	while ((place = ku_cursor_take(&cursor)) != NULL)
		if (ku_place_waits(place))
			ku_place_fail(place, err);
	ku_cursor_end(&cursor, line);
}

static void listed(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_line *line = request->owner;
	bool there = reply->rc == KU_ZK_OK;
	bool missing = reply->rc == KU_ZK_NONODE; /* and so are all our nodes */
	bool done = false;

	if (there)
		(void)ku_watch_keep(line->client, &line->watch, &request->what);
	else if (request->what.watch)
		ku_watch_failed(line->client, &line->watch);
	if (there)
		done = compare(line, reply->stat->czxid, reply->names,
			reply->name_count);
	else if (missing)
		done = compare(line, INT64_MAX, NULL, 0);
	if (done)
		decide_all(line);
	if (!there && !missing && ku_outcome(reply->rc) == KU_OUTCOME_REFUSED)
		fail_waiting(line, ku_rc_err(reply->rc));
	else if (!done && ku_session_ready(line->client))
		ku_line_again(line, PUT_OFF_MS);
	ku_line_put(line);
}

static void send_listing(struct ku_line *line, struct ku_request *listing)
{
	listing->owner = line;
	listing->done = listed;
	bool watch = line->rule->counts && line->lasting > 0 &&
		ku_line_watch_children(line);
	line->refs++;
	ku_wire_read(line->client, listing, KU_ZK_CHILDREN, line->path, watch);
}

void ku_line_list(struct ku_line *line)
{
	if (!ku_request_busy(&line->listings[0]) &&
		!ku_request_busy(&line->listings[1]))
		send_listing(line, &line->listings[0]);
}

void ku_line_list_behind(struct ku_line *line)
{
	for (int i = 0; i < 2; i++) {
		if (ku_request_busy(&line->listings[i]))
			continue;
		send_listing(line, &line->listings[i]);
		return;
	}
}

void ku_line_unlist(struct ku_line *line)
{
	for (int i = 0; i < 2; i++)
		(void)ku_wire_withdraw(line->client, &line->listings[i]);
	(void)ku_wire_withdraw(line->client, &line->renewal);
}

void ku_place_look(struct ku_place *place)
{
	struct ku_line *line = place->line;

	place->state = KU_PLACE_LOOKING;
	if (!ku_session_ready(line->client))
		return; /* once connected */
	if (place->kind->company == KU_COMPANY_UNKNOWN)
		place->kind->events->wonders(place);
	ku_line_list(line);
}

void ku_place_activate(struct ku_place *place)
{
	if (place->known == place->line->client->session.connection &&
		place->known != 0)
		ku_place_settle(place);
	else
		ku_place_look(place);
}

void ku_place_advance(struct ku_place *place)
{
	if (place->state == KU_PLACE_NEXT) {
		ku_place_try(place);
		return;
	}
	if (place->state != KU_PLACE_FAR)
		return;
	place->state = KU_PLACE_LOOKING;
	if (place->line->children <= KU_LINE_LONG || must_list(place)) {
		/* By the time the listing is answered the nearest has often
		   gone, too, and it says that we are first. */
		ku_place_look(place);
		return;
	}
	if (!ku_place_read_proof(place))
		ku_place_look(place);
}

static void look_again(struct ku_timer *timer)
{
	struct ku_line *line = KU_OWNER(struct ku_line, again, timer);
	struct ku_place *next;

	if (!ku_session_ready(line->client))
		return; /* once connected */
	if (line->rule->seat) {
		ku_seat_look_again(line);
		return;
	}
	for (struct ku_place *p = line->first; p != NULL; p = next) {
		next = p->next;
		if (p->state == KU_PLACE_HELD)
			ku_place_watch_own(p);
		else if (p->state != KU_PLACE_BEHIND || !ku_place_rests(p))
			ku_place_look(p);
	}
}

/* Watch the nodes of places that have held for a while. */
static void guard(struct ku_timer *timer)
{
	struct ku_line *line = KU_OWNER(struct ku_line, guard, timer);

	for (struct ku_place *p = line->first; p != NULL; p = p->next)
		if (p->state == KU_PLACE_HELD)
			ku_place_watch_own(p);
}

void ku_line_init_timers(struct ku_line *line)
{
	line->again.fn = look_again;
	line->guard.fn = guard;
}
