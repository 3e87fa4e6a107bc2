/*
 * raw_line.c - clients that take turns, on bare sockets.  Nobody lists: each knows
 * already which place stands before its own, and waits for the end of that alone.
 *
 *	line	A turn takes the deletion of one node and the creation of the next,
 *		in one flight, and one event.
 *	leases	The same with room for five: each waits for the place that is five
 *		before its own, so there are five lines through one, which go on beside
 *		each other.  This leaves out the line of those who wait that Curator's
 *		layout has beside the leases, two writes more for each grant; and that
 *		room which is free may have to be found behind one who holds for long,
 *		which nobody does here.
 */
#include "raw_floor.h"

#include "clocks.h"
#include "lock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 10000
#define MAX_PLACES (4 * FLOOR_LINKS) /* that are remembered */

struct client {
	struct link *link;
	char name[LINK_PATH_SIZE - 32]; /* of its nodes, but for the number */
	long place;			/* where it stands */
	bool turn;			/* it is granted */
};

/* Places are numbered in the order in which they were asked for. */
struct place {
	struct client *client;
	char node[LINK_PATH_SIZE]; /* empty until its creation is answered */
};

struct line {
	struct client clients[FLOOR_LINKS];
	int count;
	int room;
	long next; /* number of a place */
	struct place places[MAX_PLACES];
	long long turns;
};

static struct place *place(struct line *l, long number)
{
	return &l->places[number % MAX_PLACES];
}

static void put_place(struct line *l, struct client *c)
{
	struct place *p = place(l, l->next);

	p->client = c;
	*p->node = '\0';
	c->place = l->next++;
	link_put_new(c->link, c->name, NULL, LINK_EPHEMERAL | LINK_SEQUENTIAL);
}

/* Leave, and line up again. */
static int give(struct line *l, struct client *c)
{
	link_put_delete(c->link, place(l, c->place)->node);
	put_place(l, c);
	c->turn = false;
	l->turns++;
	return link_flight(c->link);
}

static int take(struct line *l, struct client *c);

/* Wait for the place that "c" comes after. */
static int look(struct line *l, struct client *c)
{
	struct place *before = place(l, c->place - l->room);

	/* Answers on different sockets may cross. */
	while (*before->node == '\0')
		if (take(l, before->client) < 0)
			return -1;
	link_put_look(c->link, before->node, true);
	return link_flight(c->link);
}

/* Read one answer or event. */
static int take(struct line *l, struct client *c)
{
	struct place *own = place(l, c->place);
	struct link_answer answer;

	if (link_hear(c->link, &answer) < 0)
		return -1;
	switch (answer.kind) {
	case LINK_NEW:
		memcpy(own->node, answer.path, sizeof(own->node));
		return look(l, c);
	case LINK_LOOK: /* it may have gone before we looked */
		c->turn = !answer.there;
		return 0;
	case LINK_EVENT:
		c->turn = true;
		return answer.event == LINK_DELETED &&
				strcmp(answer.path,
					place(l, c->place - l->room)->node) == 0
			? 0
			: -1;
	default:
		return 0;
	}
}

/* The first have their turn, and everyone else waits for it. */
static int line_up(struct line *l)
{
	struct link_answer answers[1];

	for (int i = 0; i < l->count; i++) {
		struct client *c = &l->clients[i];

		put_place(l, c);
		if (link_trip(c->link, answers) < 0)
			return -1;
		memcpy(place(l, c->place)->node, answers[0].path,
			sizeof(answers[0].path));
		c->turn = i < l->room;
		if (c->turn)
			continue;
		link_put_look(c->link, place(l, c->place - l->room)->node,
			true);
		if (link_trip(c->link, answers) < 0 || !answers[0].there)
			return -1;
	}
	return 0;
}

/* Serve the line for so long; the turns of that are counted. */
static int serve(struct line *l, int ms)
{
	int64_t end = clocks_now_ns() + ms * INT64_C(1000000);
	struct pollfd fds[FLOOR_LINKS];

	l->turns = 0;
	for (int i = 0; i < l->count; i++)
		fds[i] = (struct pollfd){ .fd = l->clients[i].link->fd,
			.events = POLLIN };
	while (clocks_now_ns() < end) {
		for (int i = 0; i < l->count; i++)
			if (l->clients[i].turn && give(l, &l->clients[i]) < 0)
				return -1;
		if (poll(fds, (nfds_t)l->count, PATIENCE_MS) <= 0)
			return -1;
		for (int i = 0; i < l->count; i++)
			if (fds[i].revents && take(l, &l->clients[i]) < 0)
				return -1;
	}
	return 0;
}

static int served(struct floor *f, struct line *l)
{
	int64_t start;
	int err;

	link_put_parent(f->links, f->run->path);
	if (link_trip(f->links, NULL) < 0 || line_up(l) < 0 ||
		serve(l, f->run->lead_ms) < 0)
		return -1;
	start = clocks_now_ns();
	err = serve(l, f->run->ms);
	f->result->ops = l->turns;
	f->result->ns = clocks_now_ns() - start;
	return err;
}

static int measure(struct floor *f, int room)
{
	struct line *l = calloc(1, sizeof(*l));
	int err = -1;

	if (l == NULL)
		return -1;
	l->count = f->run->sessions;
	l->room = room;
	for (int i = 0; i < l->count; i++) {
		struct client *c = &l->clients[i];

		c->link = &f->links[i];
		snprintf(c->name, sizeof(c->name),
			"%s/_c_7b5ec9a2-11f3-4a7d-9d0e-%012d-lock-",
			f->run->path, i);
	}
	if (l->count > room) /* else nobody waits */
		err = served(f, l);
	free(l);
	return err;
}

int floor_line(struct floor *f)
{
	return measure(f, 1);
}

int floor_leases(struct floor *f)
{
	return measure(f, LOCK_LEASES);
}
