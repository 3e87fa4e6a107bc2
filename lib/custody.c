/* custody.c - one item of a queue in our hands: begun, asked about, lost,
   left. */

#include "custody_impl.h"
#include "item.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The average pause.  It is drawn at random: if two requests were lost
   together, one of them may be the cause. */
#define PAUSE_MS 200

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_custody *c = request->owner;

	c->depot->client->footprint.asked_bytes -= c->asked;
	c->asked = 0;
	c->then(c, reply);
}

void ku_custody_look(struct ku_custody *c, enum ku_zk_kind kind,
	const char *path, ku_custody_answer_fn *then)
{
	c->then = then;
	ku_wire_read(c->depot->client, &c->request, kind, path, false);
}

void ku_custody_do(struct ku_custody *c, int count, ku_custody_answer_fn *then)
{
	c->then = then;
	ku_wire_multi(c->depot->client, &c->request, c->ops, count);
}

static void pause_over(struct ku_timer *timer)
{
	struct ku_custody *c = KU_OWNER(struct ku_custody, pause, timer);
	void (*next)(struct ku_custody * custody) = c->paused;

	c->paused = NULL;
	next(c);
}

void ku_custody_after(struct ku_custody *c, int64_t ms,
	void (*next)(struct ku_custody *custody))
{
	c->paused = next;
	ku_set_timer_ms(c->depot->client, &c->pause, ms);
}

void ku_custody_pause(struct ku_custody *c,
	void (*next)(struct ku_custody *custody))
{
	struct kustos_client *client = c->depot->client;
	int64_t ms = PAUSE_MS / 2 +
		(int64_t)ku_random_below(&client->random, PAUSE_MS + 1);

	ku_custody_after(c, ms, next);
	if (c->state < KU_CUSTODY_HELD && !c->left)
		c->calls->paused(c);
}

struct ku_zk_request ku_custody_make(const struct ku_custody *c,
	const char *path, enum ku_zk_mode mode)
{
	bool mark = mode == KU_ZK_EPHEMERAL;

	return ku_create_request(c->depot->client, path, mark ? c->id : c->data,
		mark ? (int)strlen(c->id) : c->len, mode);
}

struct ku_zk_request ku_custody_delete(const char *path, int version)
{
	return (struct ku_zk_request){
		.kind = KU_ZK_DELETE,
		.path = path,
		.version = version,
	};
}

/* Have the marker deleted, if it is ours. */
static void unmark(struct ku_custody *c)
{
	struct ku_op *undo = c->undo;

	if (!c->marked)
		return;
	c->marked = false;
	if (c->session_id != c->depot->client->session.id)
		return; /* it went with its session */
	c->undo = NULL;
	if (c->stale)
		undo->doubtful = true; /* do not delete another's */
	undo->czxid = c->token;
	undo->session_id = c->session_id;
	/* Refused at a close, which deletes the node too. */
	(void)ku_op_start_unowned(undo);
}

void ku_depot_put(struct ku_depot *depot)
{
	if (--depot->refs > 0)
		return;
	free(depot->items);
	free(depot->marks);
	free(depot->dead);
	free(depot->corrupt);
	free(depot);
}

static void destroy(struct ku_custody *c)
{
	struct kustos_client *client = c->depot->client;

	ku_witness_remove(client, &c->witness);
	ku_timer_unset(&client->timers, &c->pause);
	if (c->undo != NULL)
		ku_op_drop(c->undo);
	ku_depot_put(c->depot);
	free(c->item_path);
	free(c->mark_path);
	free(c->new_path);
	free(c->data);
	free(c);
}

void ku_custody_missed(struct ku_custody *c, enum ku_missed how,
	enum kustos_err err)
{
	unmark(c);
	c->state = KU_CUSTODY_OVER;
	if (c->left)
		destroy(c);
	else
		c->calls->missed(c, how, err);
}

void ku_custody_ended(struct ku_custody *c, enum kustos_err err)
{
	unmark(c);
	c->state = KU_CUSTODY_OVER;
	if (c->left)
		destroy(c);
	else
		c->calls->ended(c, err);
}

/* Take back a request that was not sent, or a pause.  Returns false if there is
   neither. */
static bool withdraw(struct ku_custody *c)
{
	struct kustos_client *client = c->depot->client;

	if (c->paused != NULL) {
		ku_timer_unset(&client->timers, &c->pause);
		c->paused = NULL;
		return true;
	}
	if (!ku_wire_withdraw(client, &c->request))
		return false;
	client->footprint.asked_bytes -= c->asked;
	c->asked = 0;
	return true;
}

static struct ku_custody *custody_of(struct ku_witness *witness)
{
	return KU_OWNER(struct ku_custody, witness, witness);
}

void ku_custody_lose(struct ku_custody *c)
{
	ku_custody_unguard(c);
	unmark(c);
	c->state = KU_CUSTODY_OVER;
	c->calls->lost(c);
}

/* The connection was lost.  A claim that was not sent is taken back, and an
   item that was read is not claimed: claims that were sent before it and were
   lost have to be tried again first. */
static void away(struct ku_witness *witness)
{
	struct ku_custody *c = custody_of(witness);

	c->stale = true;
	if (c->state < KU_CUSTODY_HELD && !c->ambiguous && withdraw(c))
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_EDISCONNECTED);
}

static void session_lost(struct ku_witness *witness)
{
	struct ku_custody *c = custody_of(witness);

	c->lost = true;
	if (c->state == KU_CUSTODY_HELD)
		ku_custody_lose(c);
	else if (c->state == KU_CUSTODY_ENDING && !c->ambiguous && withdraw(c))
		ku_custody_ended(c, KUSTOS_ELOST);
	else
		away(witness); /* it may not have been called before */
}

/* The client is being closed.  Without a connection, requests that wait for one
   would wait for ever, and an item that is held is lost with the session. */
static void closing(struct ku_witness *witness)
{
	struct ku_custody *c = custody_of(witness);

	if (ku_session_ready(c->depot->client))
		return;
	if (c->state == KU_CUSTODY_HELD) {
		if (c->depot->client->closing == KU_CLOSING)
			ku_custody_lose(c);
		return;
	}
	if (c->state == KU_CUSTODY_OVER || !withdraw(c))
		return;
	if (c->state == KU_CUSTODY_ENDING)
		ku_custody_ended(c, KUSTOS_ECLOSED);
	else
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ECLOSED);
}

static enum kustos_err init(struct ku_custody *c, const char *name)
{
	struct ku_depot *depot = c->depot;
	struct kustos_client *client = depot->client;

	c->item_path = ku_path_child(depot->items, name);
	c->mark_path = ku_path_child(depot->marks, name);
	if (c->item_path == NULL || c->mark_path == NULL)
		return KUSTOS_ENOMEM;
	if (!ku_item_parse(depot->kind, ku_path_leaf(c->item_path), &c->item))
		return KUSTOS_EINVAL;
	enum kustos_err err = ku_op_new(client, KU_ZK_DELETE,
		ku_program_path(client, c->mark_path), 0, &c->undo);
	if (err == KUSTOS_OK)
		c->undo->guaranteed = true;
	return err;
}

enum kustos_err ku_custody_take(struct ku_depot *depot, const char *name,
	const struct ku_custody_calls *calls, void *owner,
	struct ku_custody **out)
{
	struct kustos_client *client = depot->client;
	struct ku_custody *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return KUSTOS_ENOMEM;
	c->depot = depot;
	depot->refs++;
	c->calls = calls;
	c->owner = owner;
	c->doubted = depot->doubts;
	snprintf(c->id, sizeof(c->id), "%s-%u", depot->id, depot->serial++);
	c->request.owner = c;
	c->request.done = answered;
	c->pause.fn = pause_over;
	c->witness.away = away;
	c->witness.lost = session_lost;
	c->witness.closing = closing;
	ku_witness_add(client, &c->witness);
	enum kustos_err err = init(c, name);
	if (err != KUSTOS_OK) {
		destroy(c);
		return err;
	}
	*out = c;
	ku_custody_read(c);
	return KUSTOS_OK;
}

void *ku_custody_owner(const struct ku_custody *c)
{
	return c->owner;
}

const char *ku_custody_name(const struct ku_custody *c)
{
	return c->item.name;
}

bool ku_custody_is_unsure(const struct ku_custody *c)
{
	return c->state < KU_CUSTODY_HELD && c->ambiguous && !c->put_off &&
		c->paused == NULL;
}

bool ku_custody_is_put_off(const struct ku_custody *c)
{
	return c->put_off;
}

const struct kustos_stat *ku_custody_stat(const struct ku_custody *c)
{
	return &c->stat;
}

bool ku_custody_fits(const struct ku_custody *c, int count)
{
	const struct ku_zk_request whole = { .ops = c->ops, .op_count = count };

	return ku_request_size(&whole) <= KU_REQUEST_LIMIT;
}

struct kustos_item *ku_custody_open(const struct ku_custody *c)
{
	return ku_item_make(c->depot->kind, &c->item, c->data, c->len,
		c->stat.ctime_ms);
}

void ku_custody_view(const struct ku_custody *c, struct ku_custody_view *out)
{
	*out = (struct ku_custody_view){
		.deliveries = c->stat.version + !c->counted,
		.mark = ku_program_path(c->depot->client, c->mark_path),
		.token = c->token,
		.check = &c->check,
	};
}

void ku_custody_leave(struct ku_custody *c)
{
	c->left = true;
	if (c->state == KU_CUSTODY_HELD) {
		ku_custody_unguard(c);
		unmark(c);
	}
	if (c->state == KU_CUSTODY_HELD || c->state == KU_CUSTODY_OVER)
		destroy(c);
	else if (c->state != KU_CUSTODY_ENDING && !c->ambiguous && withdraw(c))
		ku_custody_missed(c, KU_MISSED_GONE, KUSTOS_OK);
}
