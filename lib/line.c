/* line.c - the lines of a client, and the places that stand in them. */

#include "line_impl.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_path_and_rule(const void *a, const void *b)
{
	const struct ku_line *x = a;
	const struct ku_line *y = b;

	int order = strcmp(x->path, y->path);

	/* Other rules see other contenders: they make another line. */
	return order != 0 ? order : ku_rule_compare(x->rule, y->rule);
}

static struct ku_line *line_new(struct kustos_client *client, char *path,
	const struct ku_rule *rule)
{
	struct ku_line *line = calloc(1, sizeof(*line));

	if (line == NULL)
		return NULL;
	line->client = client;
	line->path = path;
	line->rule = ku_rule_keep(rule);
	ku_line_init_timers(line);
	if (line->rule != NULL &&
		tsearch(line, &client->lines.tree, by_path_and_rule) != NULL)
		return line;
	if (line->rule != NULL)
		ku_rule_free(line->rule);
	free(line);
	return NULL;
}

enum kustos_err ku_line_get(struct kustos_client *client, const char *path,
	const struct ku_rule *rule, struct ku_line **out)
{
	struct ku_line key = { .client = client, .rule = rule };

	if (!ku_path_valid(path, false) || strcmp(path, "/") == 0)
		return KUSTOS_EINVAL;
	key.path = ku_path_join(client->config.prefix, path);
	if (key.path == NULL)
		return KUSTOS_ENOMEM;
	struct ku_line **known = tfind(&key, &client->lines.tree,
		by_path_and_rule);
	struct ku_line *line = known != NULL ? *known
					     : line_new(client, key.path, rule);
	if (line == NULL || line->path != key.path)
		free(key.path);
	if (line == NULL)
		return KUSTOS_ENOMEM;
	line->refs++;
	*out = line;
	return KUSTOS_OK;
}

void ku_line_put(struct ku_line *line)
{
	struct kustos_client *client = line->client;

	if (--line->refs > 0)
		return;
	tdelete(line, &client->lines.tree, by_path_and_rule);
	ku_timer_unset(&client->timers, &line->again);
	ku_timer_unset(&client->timers, &line->guard);
	ku_watch_remove(client, &line->watch);
	ku_rule_free(line->rule);
	free(line->path);
	free(line);
}

/* Is the node at "path" the node of "place", one that is being made for it, or
   one that was made too late and is being deleted? */
static bool has(const struct ku_place *place, const char *path)
{
	const struct ku_op *op = place->op;

	if (place->path != NULL)
		return strcmp(ku_place_path(place), path) == 0;
	if (op != NULL && op->kind == KU_ZK_DELETE)
		return strcmp(ku_program_path(op->client, op->path), path) == 0;
	return op != NULL && ku_create_makes(op, ku_path_leaf(path));
}

static bool is_in(const struct ku_ring *head, const char *path)
{
	for (struct ku_ring *r = head->next; r != head; r = r->next) {
		const struct ku_place *place = ku_ring_place(r);

		if (!place->over && has(place, path))
			return true;
	}
	return false;
}

bool ku_lines_have(const struct kustos_client *client, const char *path)
{
	return is_in(&client->lines.here, path) ||
		is_in(&client->lines.away, path);
}

const char *ku_line_path(const struct ku_line *line)
{
	return ku_program_path(line->client, line->path);
}

int ku_line_places(const struct ku_line *line)
{
	return line->places;
}

bool ku_line_mixed(const struct ku_line *line)
{
	return line->mixed;
}

/* "writer" is now the nearest exclusive place before "place", and before those
   behind it up to and including the next exclusive one. */
static void set_writer(struct ku_place *place, struct ku_place *writer)
{
	for (; place != NULL; place = place->next) {
		place->writer = writer;
		if (!place->kind->shares)
			return;
	}
}

/* Search from the end: the newest come last. */
void ku_line_insert(struct ku_line *line, struct ku_place *place)
{
	struct ku_place *after = line->last;

	while (after != NULL && ku_number_before(place->number, after->number))
		after = after->prev;
	place->prev = after;
	place->next = after != NULL ? after->next : line->first;
	if (place->next != NULL)
		place->next->prev = place;
	else
		line->last = place;
	if (after != NULL)
		after->next = place;
	else
		line->first = place;
	place->writer = after != NULL && after->kind->shares ? after->writer
							     : after;
	if (!place->kind->shares)
		set_writer(place->next, place);
}

void ku_cursor_begin(struct ku_cursor *cursor, struct ku_line *line,
	struct ku_place *first)
{
	cursor->next = first;
	cursor->outer = line->cursors;
	line->cursors = cursor;
	line->refs++;
}

struct ku_place *ku_cursor_take(struct ku_cursor *cursor)
{
	struct ku_place *place = cursor->next;

	if (place != NULL)
		cursor->next = place->next;
	return place;
}

void ku_cursor_end(struct ku_cursor *cursor, struct ku_line *line)
{
	line->cursors = cursor->outer;
	ku_line_put(line);
}

void ku_line_remove(struct ku_line *line, struct ku_place *place)
{
	for (struct ku_cursor *c = line->cursors; c != NULL; c = c->outer)
		if (c->next == place)
			c->next = place->next;
	if (!place->kind->shares)
		set_writer(place->next, place->writer);
	KU_ROW_REMOVE(line->first, line->last, place);
	place->prev = place->next = NULL;
}

static void ring_remove(struct ku_ring *ring)
{
	ring->prev->next = ring->next;
	ring->next->prev = ring->prev;
}

static void ring_append(struct ku_ring *head, struct ku_ring *ring)
{
	ring->prev = head->prev;
	ring->next = head;
	ring->prev->next = ring->next->prev = ring;
}

void ku_lines_init(struct kustos_client *client)
{
	struct ku_lines *lines = &client->lines;

	lines->here.prev = lines->here.next = &lines->here;
	lines->away.prev = lines->away.next = &lines->away;
}

void ku_lines_join(struct ku_place *place)
{
	struct ku_line *line = place->line;

	ring_append(&line->client->lines.here, &place->ring);
	line->refs++;
	line->places++;
	ku_line_count(place, 1);
}

void ku_lines_leave(struct ku_place *place)
{
	struct ku_lines *lines = &place->line->client->lines;

	place->line->places--;
	ring_remove(&place->ring);
	ring_append(&lines->away, &place->ring);
	place->left = lines->left++;
	place->state = KU_PLACE_LEAVING;
}

void ku_place_free(struct ku_place *place)
{
	if (place->owned || !place->over ||
		(place->proof != NULL && place->proof->request.slot != NULL))
		return;
	if (place->op != NULL)
		ku_op_drop(place->op);
	ring_remove(&place->ring);
	ku_line_put(place->line);
	free(place->proof);
	free(place->data);
	free(place);
}

void ku_lines_each(struct kustos_client *client, void (*fn)(struct ku_place *))
{
	struct ku_ring *here = &client->lines.here;
	struct ku_ring rest;

	if (here->next == here)
		return;
	/* A loss that is noticed in the loop is declared after it, as it has to
	   reach the places that are in "rest" then, too. */
	client->session.rounds++;
	rest = *here;
	rest.prev->next = rest.next->prev = &rest;
	here->prev = here->next = here;
	while (rest.next != &rest) {
		struct ku_ring *first = rest.next;

		ring_remove(first);
		ring_append(here, first);
		fn(ku_ring_place(first));
	}
	client->session.rounds--;
	(void)ku_session_state(client);
}

uint64_t ku_lines_oldest_leaving(const struct ku_lines *lines)
{
	for (struct ku_ring *r = lines->away.next; r != &lines->away;
		r = r->next)
		if (!ku_ring_place(r)->over)
			return ku_ring_place(r)->left;
	return UINT64_MAX;
}
