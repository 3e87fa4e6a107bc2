/*
 * raw_meet.c - clients that wait for each other, on bare sockets.
 *
 *	gate	Set, look, remove, pass: each is a call whose answer a program has to
 *		know before it goes on, so each is a round trip: a creation, a read, a
 *		deletion, a read.
 *	step	In: each makes its node, below one that it makes unless it is there,
 *		and lists; the newest of all makes "ready", which lets everyone go on.
 *		Out: each deletes its node and lists; the last deletes "ready", which
 *		lets everyone go on.  This leaves out what a recipe has to do for
 *		Curator's and kazoo's members, of whom one stays until all others have
 *		gone, and what it has to do for members that die on the way.
 *	count	Set, done eight times, wait, remove: each is a call as well, and a
 *		round trip.  Which nodes there are is known, so that removing them is
 *		one transaction.
 */
#include "raw_floor.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 10000
#define COUNT 8
#define MOST 4 /* requests of a flight */

/* --- A barrier ----------------------------------------------------------- */

/* Look whether the node is there.  Returns 0 if that is as "there" says, else
   -1. */
static int look(struct floor *f, bool there)
{
	struct link_answer answers[1];

	link_put_look(f->links, f->run->path, false);
	if (link_trip(f->links, answers) < 0)
		return -1;
	return answers[0].there == there ? 0 : -1;
}

static int set_and_remove(void *arg)
{
	struct floor *f = arg;

	link_put_new(f->links, f->run->path, NULL, LINK_PERSISTENT);
	if (link_trip(f->links, NULL) < 0 || look(f, true) < 0)
		return -1;
	link_put_delete(f->links, f->run->path);
	return link_trip(f->links, NULL) < 0 ? -1 : look(f, false);
}

int floor_gate(struct floor *f)
{
	return floor_repeat(f, set_and_remove, f);
}

/* --- A double barrier ---------------------------------------------------- */

struct member {
	struct link *link;
	char node[LINK_PATH_SIZE];
	int64_t wrote; /* the zxid of its node's creation, or deletion */
	bool goes_on;  /* it knows that all have come, or gone */
};

struct step {
	struct floor *floor;
	long long round;
	char path[LINK_PATH_SIZE - 64]; /* another one each round */
	char ready[LINK_PATH_SIZE];
	bool in; /* all are entering; else leaving */
	struct member members[FLOOR_LINKS];
};

static int start(struct step *s, struct member *m)
{
	m->goes_on = false;
	if (s->in) {
		link_put_parent(m->link, s->path);
		link_put_new(m->link, m->node, NULL, LINK_EPHEMERAL);
		link_put_wait(m->link, s->ready);
	} else {
		link_put_delete(m->link, m->node);
		link_put_look(m->link, s->ready, true);
	}
	link_put_list(m->link, s->path);
	return link_flight(m->link);
}

/* The member that has changed the children last, and finds that all are in, or
   out, tells the others.  When all are out "ready" is still there. */
static int tell(struct step *s, struct member *m,
	const struct link_answer *listed)
{
	int all = s->in ? s->floor->run->sessions : 1;

	if (listed->children != all || listed->changed != m->wrote)
		return 0;
	if (s->in)
		link_put_new(m->link, s->ready, NULL, LINK_PERSISTENT);
	else
		link_put_delete(m->link, s->ready);
	return link_flight(m->link);
}

/* Read one answer or event.  An event that comes twice, as there were two
   watches, does no harm. */
static int hear(struct step *s, struct member *m)
{
	struct link_answer answer;

	if (link_hear(m->link, &answer) < 0)
		return -1;
	switch (answer.kind) {
	case LINK_NEW:
		if (strcmp(answer.path, m->node) == 0)
			m->wrote = answer.zxid;
		return 0;
	case LINK_DELETE:
		if (m->wrote == 0)
			m->wrote = answer.zxid;
		return 0;
	case LINK_LOOK:
		m->goes_on |= answer.there == s->in;
		return 0;
	case LINK_EVENT:
		m->goes_on |= strcmp(answer.path, s->ready) == 0 &&
			answer.event == (s->in ? LINK_CREATED : LINK_DELETED);
		return 0;
	case LINK_LIST:
		return tell(s, m, &answer);
	default:
		return 0;
	}
}

/* Return how many members have something to hear, and put them into "fds".  A
   member that goes on, and has all its answers, has nothing to hear. */
static int waiting(struct step *s, struct pollfd *fds)
{
	int count = 0;

	for (int i = 0; i < s->floor->run->sessions; i++) {
		struct member *m = &s->members[i];
		bool waits = !m->goes_on || m->link->due > 0;

		fds[i] = (struct pollfd){ .fd = waits ? m->link->fd : -1,
			.events = POLLIN };
		count += waits;
	}
	return count;
}

static int cross(struct step *s, bool in)
{
	struct pollfd fds[FLOOR_LINKS];
	int n = s->floor->run->sessions;

	s->in = in;
	for (int i = 0; i < n; i++) {
		s->members[i].wrote = 0;
		if (start(s, &s->members[i]) < 0)
			return -1;
	}
	while (waiting(s, fds) > 0) {
		if (poll(fds, (nfds_t)n, PATIENCE_MS) <= 0)
			return -1;
		for (int i = 0; i < n; i++)
			if (fds[i].fd >= 0 && fds[i].revents &&
				hear(s, &s->members[i]) < 0)
				return -1;
	}
	return 0;
}

static int in_and_out(void *arg)
{
	struct step *s = arg;

	snprintf(s->path, sizeof(s->path), "%s/%lld", s->floor->run->path,
		s->round++);
	snprintf(s->ready, sizeof(s->ready), "%s/ready", s->path);
	for (int i = 0; i < s->floor->run->sessions; i++)
		snprintf(s->members[i].node, sizeof(s->members[i].node),
			"%s/7b5ec9a2-11f3-4a7d-9d0e-%012d", s->path, i);
	return cross(s, true) < 0 ? -1 : cross(s, false);
}

int floor_step(struct floor *f)
{
	struct step s = { .floor = f };

	for (int i = 0; i < f->run->sessions; i++)
		s.members[i].link = &f->links[i];
	link_put_parent(f->links, f->run->path);
	if (link_trip(f->links, NULL) < 0)
		return -1;
	return floor_repeat(f, in_and_out, &s);
}

/* --- A count-down latch -------------------------------------------------- */

struct latch {
	struct link *link;
	const char *path;
	char nodes[COUNT + 1]
		  [LINK_PATH_SIZE]; /* of the count, and of each done */
};

/* Delete the nodes below that of the latch, and then that. */
static void put_removal(const struct latch *c)
{
	link_deed_begin(c->link);
	for (int i = 0; i <= COUNT; i++)
		link_deed_delete(c->link, c->nodes[i], -1);
	link_deed_delete(c->link, c->path, -1);
	link_deed_end(c->link);
}

static int count_down(void *arg)
{
	struct latch *c = arg;
	struct link_answer answers[1];

	link_put_parent(c->link, c->path);
	for (int i = 0; i <= COUNT; i++) {
		link_put_new(c->link, c->nodes[i], "", LINK_PERSISTENT);
		if (link_trip(c->link, NULL) < 0)
			return -1;
	}
	link_put_list(c->link, c->path);
	if (link_trip(c->link, answers) < 0 || answers[0].children != COUNT + 1)
		return -1;
	put_removal(c);
	return link_trip(c->link, NULL);
}

int floor_count(struct floor *f)
{
	struct latch c = { .link = f->links, .path = f->run->path };

	snprintf(c.nodes[0], sizeof(c.nodes[0]), "%s/count-%d", c.path, COUNT);
	for (int i = 0; i < COUNT; i++)
		snprintf(c.nodes[i + 1], sizeof(c.nodes[i + 1]), "%s/done-%c",
			c.path, 'a' + i);
	return floor_repeat(f, count_down, &c);
}
