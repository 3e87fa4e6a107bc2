/*
 * raw_line.c - clients that take turns, on bare sockets.  Each knows already which
 * place stands before its own, and waits for the end of that.
 *
 *	line	A turn takes the deletion of one node and the creation of the next,
 *		in one flight, and one event.
 *	careful	The same with all requests that Kustos takes for a turn: a client that
 *		comes lists the line and watches its own node and the two before it.
 *		It lists again when the farther of these two is gone.  This tells what
 *		so many requests cost, whoever sends them.
 *	leases	The line with room for five: each waits for the place that is five
 *		before its own, so these are five lines in one, side by side.  This
 *		leaves out the line of those who wait that Curator's layout has beside
 *		the leases, which takes two more writes for each grant.  It also leaves
 *		out that free room may have to be found behind a client that holds for
 *		long, which no client does here.
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

	/* Of "careful": */
	int looks;   /* that are answered */
	bool listed; /* once */
	bool alone; /* the nearest is all that is before it, as a listing said */
	bool gone;  /* and that is gone */
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
	bool careful;
	const char *path;
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
	if (l->careful)
		link_put_list(c->link, l->path);
	c->looks = 0;
	c->listed = c->alone = c->gone = false;
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

/* Watch the place that is "far" places before that of "c". */
static int put_look(struct line *l, struct client *c, int far)
{
	struct place *before = place(l, c->place - far);

	/* That node is not known yet if answers on different sockets cross. */
	while (*before->node == '\0')
		if (take(l, before->client) < 0)
			return -1;
	link_put_look(c->link, before->node, true);
	return 0;
}

/* Watch the place that "c" waits for. */
static int look(struct line *l, struct client *c)
{
	if (put_look(l, c, l->room) < 0)
		return -1;
	return link_flight(c->link);
}

/* --- The careful --------------------------------------------------------- */

static int look_around(struct line *l, struct client *c)
{
	for (int far = 0; far <= 2 && far <= c->place; far++)
		if (put_look(l, c, far) < 0)
			return -1;
	return link_flight(c->link);
}

static int list_again(struct line *l, struct client *c)
{
	link_put_list(c->link, l->path);
	return link_flight(c->link);
}

/* The place that is "far" places before that of "c" is gone. */
static int miss(struct line *l, struct client *c, int far)
{
	if (far == 2)
		return list_again(l, c);
	c->gone |= far == 1;
	c->turn = c->gone && c->alone;
	return 0;
}

static int take_listing(struct line *l, struct client *c)
{
	if (!c->listed) {
		c->listed = true;
		return look_around(l, c);
	}
	c->alone = true;
	c->turn = c->gone;
	return 0;
}

/* There is also an event for the end of a client's own last node, when it has a
   new one: that is ignored. */
static int take_event(struct line *l, struct client *c, const char *path)
{
	for (int far = 1; far <= 2 && far <= c->place; far++)
		if (strcmp(path, place(l, c->place - far)->node) == 0)
			return miss(l, c, far);
	return 0;
}

static int take_with_care(struct line *l, struct client *c,
	const struct link_answer *answer)
{
	int far;

	switch (answer->kind) {
	case LINK_LIST:
		return take_listing(l, c);
	case LINK_LOOK:
		far = c->looks++;
		return answer->there ? 0 : miss(l, c, far);
	case LINK_EVENT:
		return take_event(l, c, answer->path);
	default:
		return 0;
	}
}

/* --- Everyone ------------------------------------------------------------ */

/* Read one answer or event. */
static int take(struct line *l, struct client *c)
{
	struct place *own = place(l, c->place);
	struct link_answer answer;

	if (link_hear(c->link, &answer) < 0)
		return -1;
	if (answer.kind == LINK_NEW)
		memcpy(own->node, answer.path, sizeof(own->node));
	if (l->careful)
		return take_with_care(l, c, &answer);
	switch (answer.kind) {
	case LINK_NEW:
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

/* Line up while no other client has a request under way. */
static int join(struct line *l, struct client *c)
{
	struct link_answer answers[2];

	put_place(l, c);
	if (link_trip(c->link, answers) < 0)
		return -1;
	memcpy(place(l, c->place)->node, answers[0].path,
		sizeof(answers[0].path));
	return 0;
}

/* The first have their turn, and everyone else waits for it. */
static int line_up(struct line *l)
{
	for (int i = 0; i < l->count; i++) {
		struct client *c = &l->clients[i];
		int err = join(l, c);

		c->turn = i < l->room;
		c->listed = true;
		c->alone = i < 2;
		if (err == 0 && l->careful)
			err = look_around(l, c);
		else if (err == 0 && !c->turn)
			err = look(l, c);
		if (err < 0 || link_trip(c->link, NULL) < 0)
			return -1;
	}
	return 0;
}

/* Serve the line for "ms" milliseconds, and count the turns of that time. */
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

static int measure(struct floor *f, int room, bool careful)
{
	struct line *l = calloc(1, sizeof(*l));
	int err = -1;

	if (l == NULL)
		return -1;
	l->count = f->run->sessions;
	l->room = room;
	l->careful = careful;
	l->path = f->run->path;
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
	return measure(f, 1, false);
}

int floor_careful(struct floor *f)
{
	return measure(f, 1, true);
}

int floor_leases(struct floor *f)
{
	return measure(f, LOCK_LEASES, false);
}
