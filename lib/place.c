/* place.c - a place's way from its node to its grant, and out again. */

#include "line_impl.h"

#include <stdlib.h>
#include <string.h>

/* From here on an empty line is removed, so that its numbers start over. */
#define RENEW_NUMBER (INT32_C(1) << 30)
/* How long after its grant a node that was not watched while it waited is
   watched: most holds are shorter, and are spared the request. */
#define GUARD_MS 10

/* The last of a line whose numbers are running out: let them start over. */
static void renew(struct ku_line *line)
{
	struct kustos_client *client = line->client;
	size_t prefix = strlen(client->config.prefix);
	struct ku_op *op = NULL;

	if (ku_op_new(client, KU_ZK_DELETE, line->path + prefix, 0, &op) ==
		KUSTOS_OK)
		(void)ku_op_detached(op); /* refused if it has children */
	else if (op != NULL)
		ku_op_drop(op);
}

/* The server has nothing of "place" any more. */
static void over(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct kustos_client *client = line->client;

	if (place->path != NULL && place->number > RENEW_NUMBER &&
		line->first == NULL && line->waiting == 0 &&
		ku_session_ready(client))
		renew(line);
	place->over = true;
	if (client->ops.flushing > 0)
		pthread_cond_broadcast(&client->ops.ended);
	ku_place_free(place);
}

static void said_farewell(struct kustos_client *client,
	struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_place *place = request->owner;

	(void)client;
	if (reply->rc == KU_ZK_OK)
		over(place);
	else
		ku_op_undo(place->op);
}

/* Delete the node, and leave its name as the proof that it was granted. */
static void say_farewell(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct ku_proof *proof = place->proof;
	const char *name = ku_path_leaf(place->path);

	proof->ops[0] = (struct ku_zk_request){
		.kind = KU_ZK_SET,
		.path = line->path,
		.data = name,
		.len = (int)strlen(name),
		.version = proof->version,
	};
	proof->ops[1] = (struct ku_zk_request){
		.kind = KU_ZK_DELETE,
		.path = place->path,
		.version = -1,
	};
	proof->request.what = (struct ku_zk_request){
		.kind = KU_ZK_MULTI,
		.version = -1,
		.ops = proof->ops,
		.op_count = 2,
	};
	proof->request.done = said_farewell;
	ku_wire_send(line->client, &proof->request);
}

void ku_place_go(struct ku_place *place)
{
	struct ku_proof *proof = place->proof;

	if (proof != NULL && ku_request_busy(&proof->request) && !place->lost)
		return; /* comes back here when it is known */
	if (proof != NULL && proof->allowed && !place->lost &&
		ku_session_ready(place->line->client))
		say_farewell(place);
	else
		ku_op_undo(place->op);
}

/* What stood behind "gone" has one less before it. */
static void move_up(struct ku_place *behind, bool granted)
{
	if (behind == NULL || !ku_place_waits(behind))
		return;
	if (!granted)
		behind->known = 0; /* its gap is the sum of both */
	if (behind->prev != NULL && ku_place_waits(behind->prev))
		return;
	if (!granted)
		ku_place_look(behind);
	else if (behind->state == KU_PLACE_BEHIND)
		ku_place_activate(behind);
	else
		ku_place_try(behind);
}

/* End the part of "place" in its line, and see that its node goes. */
static void withdraw(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct kustos_client *client = line->client;
	struct ku_place *behind = place->next;
	bool held = place->state == KU_PLACE_HELD;
	bool granted = held && !place->lost;

	if (!held)
		line->waiting--;
	if (place->proof != NULL)
		(void)ku_wire_withdraw(client, &place->proof->request);
	ku_place_forget(place);
	ku_lookout_drop(&place->own, true);
	ku_lines_leave(place);
	if (place->path == NULL) {
		/* Still to be made, or gone with its session. */
		if (place->op != NULL && !place->op->done)
			ku_op_unwant(place->op);
		else
			over(place);
		return;
	}
	ku_line_remove(line, place);
	if (place->session_id != client->session.id)
		over(place);
	else if (held)
		ku_place_go(place);
	else
		ku_op_undo(place->op);
	move_up(behind, granted);
}

void ku_place_leave(struct ku_place *place)
{
	place->owned = false;
	if (place->state == KU_PLACE_LEAVING)
		ku_place_free(place);
	else
		withdraw(place);
}

void ku_place_fail(struct ku_place *place, enum kustos_err err)
{
	place->err = err;
	withdraw(place);
	if (!place->starting)
		place->kind->events->failed(place, err);
}

void ku_place_lose(struct ku_place *place)
{
	place->lost = true;
	withdraw(place);
	place->kind->events->lost(place);
}

void ku_place_gone(struct ku_place *place)
{
	if (place->state == KU_PLACE_HELD)
		ku_place_lose(place);
	else
		ku_place_restart(place);
}

void ku_place_grant(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct kustos_client *client = line->client;
	enum kustos_state state = ku_session_state(client);

	/* A look that came too late for the lease; the next connection asks
	   again. */
	if (state != KUSTOS_CONNECTED ||
		place->session_id != client->session.id)
		return;
	place->state = KU_PLACE_HELD;
	place->granted = true;
	line->waiting--;
	ku_place_unwatch_ahead(place);
	if (place->kind->revocable)
		ku_place_watch_own(place);
	if (place->proof != NULL)
		place->proof->allowed = false;
	if (line->children > KU_LINE_LONG)
		(void)ku_place_read_proof(place); /* may we leave ours? */
	if (!ku_lookout_sees(place->own) && !ku_timer_is_set(&line->guard))
		ku_set_timer(client, &line->guard,
			ku_now(client) + GUARD_MS * KU_NS_PER_MS);
	if (place->next != NULL && place->next->state == KU_PLACE_BEHIND)
		ku_place_activate(place->next);
	bool revoked = place->revoked;
	place->kind->events->granted(place);
	if (revoked && place->state == KU_PLACE_HELD)
		place->kind->events->revoked(place);
}

void ku_place_try(struct ku_place *place)
{
	const struct kustos_client *client = place->line->client;

	if (place->state != KU_PLACE_NEXT || place->prev != NULL ||
		place->known != client->session.connection ||
		!ku_lookout_sees(place->own))
		return;
	for (int i = 0; i < place->gap; i++)
		if (place->ahead[i] == NULL || !place->ahead[i]->gone)
			return;
	ku_place_grant(place);
}

/* The creation has ended: the node is there, or it cannot be had. */
static void created(struct ku_op *op)
{
	struct ku_place *place = op->owner;
	struct ku_line *line = place->line;

	if (place->state == KU_PLACE_LEAVING) {
		if (op->err == KUSTOS_OK && op->kind == KU_ZK_CREATE)
			ku_op_undo(op);
		else
			over(place);
		return;
	}
	if (op->err != KUSTOS_OK) {
		ku_place_fail(place, op->err);
		return;
	}
	ku_op_slim(op);
	place->path = op->out_path;
	place->czxid = op->out_stat.czxid;
	place->session_id = line->client->session.id;
	place->state = KU_PLACE_BEHIND;
	bool numbered = ku_name_sequence(place->path, &place->number);
	ku_line_insert(line, place);
	if (!numbered || !ku_number_sound(place->number))
		ku_place_fail(place, KUSTOS_ESATURATED);
	else if (place->prev == NULL || !ku_place_waits(place->prev))
		ku_place_activate(place);
	else if (place->once)
		ku_place_fail(place, KUSTOS_EBUSY);
}

static enum kustos_err make_op(struct ku_place *place, struct ku_op **op)
{
	struct ku_line *line = place->line;
	const struct ku_place_kind *kind = place->kind;
	const char *path = line->path + strlen(line->client->config.prefix);
	int flags = KUSTOS_EPHEMERAL | KUSTOS_SEQUENTIAL | KUSTOS_PROTECTED |
		KUSTOS_PARENTS;
	char *prefix = malloc(strlen(path) + strlen(kind->leaf) + 2);

	if (prefix == NULL)
		return KUSTOS_ENOMEM;
	stpcpy(stpcpy(stpcpy(prefix, path), "/"), kind->leaf);
	enum kustos_err err = ku_op_new(line->client, KU_ZK_CREATE, prefix,
		flags, op);
	free(prefix);
	if (err == KUSTOS_OK)
		err = ku_op_data(*op, place->data, place->len);
	if (err == KUSTOS_OK)
		err = ku_create_init(*op);
	if (err != KUSTOS_OK)
		return err;
	(*op)->bare = (*op)->plain = kind->bare;
	(*op)->ended = created;
	(*op)->owner = place;
	return KUSTOS_OK;
}

/* Have a node made.  If nobody of ours waits before it, the listing that tells
   who does goes out behind it in the same flight.  On failure "place" has
   left. */
static enum kustos_err create(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct ku_op *op = NULL;

	place->starting = true;
	enum kustos_err err = make_op(place, &op);
	if (err == KUSTOS_OK) {
		place->op = op;
		err = ku_op_owned(op);
	}
	if (err != KUSTOS_OK && op != NULL) {
		place->op = NULL; /* it has not begun */
		ku_op_drop(op);
	}
	if (err != KUSTOS_OK && place->state != KU_PLACE_LEAVING)
		ku_place_fail(place, err);
	place->starting = false;
	if (place->state == KU_PLACE_LEAVING)
		return place->err;
	if (line->waiting == 1 && place->op->request.slot != NULL)
		ku_line_list(line);
	return KUSTOS_OK;
}

void ku_place_restart(struct ku_place *place)
{
	struct ku_place *behind = place->next;
	bool certain = place->own != NULL && place->own->gone;

	if (place->proof != NULL)
		(void)ku_wire_withdraw(place->line->client,
			&place->proof->request);
	ku_place_forget(place);
	ku_lookout_drop(&place->own, true);
	ku_line_remove(place->line, place);
	/* A listing may be wrong, a deletion that is not needed does no harm. */
	place->op->ended = NULL;
	if (place->session_id == place->line->client->session.id && !certain)
		ku_op_undo(place->op);
	else
		ku_op_drop(place->op);
	place->op = NULL;
	place->path = NULL;
	place->revoked = false;
	if (place->proof != NULL)
		place->proof->stale = place->proof->request.slot != NULL;
	place->state = KU_PLACE_CREATING;
	move_up(behind, false);
	if (create(place) != KUSTOS_OK)
		place->kind->events->failed(place, place->err);
}

/* Those of ours that have left, and stay only to see whether they may leave a
   proof, go now: whoever tries once must not find them there. */
static void hurry(struct ku_line *line)
{
	struct ku_ring *away = &line->client->lines.away;

	for (struct ku_ring *r = away->next; r != away; r = r->next) {
		struct ku_place *place = ku_ring_place(r);

		if (place->line == line && place->path != NULL &&
			!place->over && place->op->done &&
			place->session_id == line->client->session.id)
			ku_op_undo(place->op);
	}
}

/* Does a place of ours stand in the way for certain? */
static bool is_taken(const struct ku_line *line)
{
	const struct ku_place *first = line->first;

	return first != NULL && first->session_id == line->client->session.id &&
		first->state != KU_PLACE_CREATING;
}

enum kustos_err ku_place_take(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out)
{
	struct kustos_client *client = line->client;

	if (once && !ku_session_ready(client) && client->closing == KU_OPEN)
		return client->session.auth_failed ? KUSTOS_EAUTH
						   : KUSTOS_EDISCONNECTED;
	if (once && is_taken(line))
		return KUSTOS_EBUSY;
	if (once)
		hurry(line);
	struct ku_place *place = calloc(1, sizeof(*place));
	char *copy = malloc(len + 1);
	if (place == NULL || copy == NULL) {
		free(place);
		free(copy);
		return KUSTOS_ENOMEM;
	}
	memcpy(copy, len > 0 ? data : "", len);
	place->line = line;
	place->kind = kind;
	place->data = copy;
	place->len = len;
	place->once = once;
	place->owner = owner;
	place->owned = true;
	ku_lines_join(place);
	enum kustos_err err = create(place);
	if (err != KUSTOS_OK)
		ku_place_leave(place);
	else
		*out = place;
	return err;
}

void *ku_place_owner(const struct ku_place *place)
{
	return place->owner;
}

const char *ku_place_path(const struct ku_place *place)
{
	return place->path + strlen(place->line->client->config.prefix);
}

int64_t ku_place_token(const struct ku_place *place)
{
	return place->czxid;
}
