/*
 * raw_alone.c - locks that nobody else wants, on bare sockets:
 *
 *	one	the node of the last time is deleted, a new one made and the line
 *		listed, in one flight: an unlock waits for nothing
 *	two	made and listed in one flight, deleted in another
 *	bare	as "one", but there is no line to list, as the node is the lock
 *	pair	as "one", of two lines in one flight.  That the second lock may have
 *		been got in vain, and has to be given back, costs only those who
 *		contend.  A recipe that never has one lock while it waits for another
 *		needs a flight for each
 */
#include "raw_floor.h"

#include <stdio.h>

#define LINES 2
#define MOST (3 * LINES) /* requests of a flight */

struct place {
	char line[LINK_PATH_SIZE - 80];
	char name[LINK_PATH_SIZE - 16]; /* but for its number */
	char node[LINK_PATH_SIZE];	/* as long as one is there */
};

struct alone {
	struct link *link;
	int lines;
	struct place places[LINES];
};

static void put_leave(struct alone *a, struct place *p)
{
	if (*p->node != '\0')
		link_put_delete(a->link, p->node);
	*p->node = '\0';
}

static void put_place(struct alone *a, const struct place *p)
{
	link_put_new(a->link, p->name, NULL, LINK_EPHEMERAL | LINK_SEQUENTIAL);
	link_put_list(a->link, p->line);
}

/* Note the new nodes, each of which is alone in its line, but for the keeper. */
static int look(struct alone *a, const struct link_answer *answer)
{
	for (int i = 0; i < a->lines; i++) {
		while (answer->kind != LINK_NEW)
			answer++;
		snprintf(a->places[i].node, sizeof(a->places[i].node), "%s",
			answer->path);
		answer++;
		if (answer->kind != LINK_LIST || answer->children != 2)
			return -1;
	}
	return 0;
}

static int lock(struct alone *a)
{
	struct link_answer answers[MOST];

	for (int i = 0; i < a->lines; i++)
		put_place(a, &a->places[i]);
	return link_trip(a->link, answers) < 0 ? -1 : look(a, answers);
}

static int lock_again(void *arg)
{
	struct alone *a = arg;

	for (int i = 0; i < a->lines; i++)
		put_leave(a, &a->places[i]);
	return lock(a);
}

static int lock_and_unlock(void *arg)
{
	struct alone *a = arg;

	if (lock(a) < 0)
		return -1;
	put_leave(a, &a->places[0]);
	return link_trip(a->link, NULL);
}

static int make_again(void *arg)
{
	struct alone *a = arg;
	struct place *p = &a->places[0];

	put_leave(a, p);
	link_put_new(a->link, p->name, NULL, LINK_EPHEMERAL);
	snprintf(p->node, sizeof(p->node), "%s", p->name);
	return link_trip(a->link, NULL);
}

static int measure(struct floor *f, int lines, int (*once)(void *arg))
{
	struct alone a = { .link = &f->links[0], .lines = lines };

	for (int i = 0; i < lines; i++) {
		const char *which = i == 0 ? "" : "-second";
		struct place *p = &a.places[i];

		snprintf(p->line, sizeof(p->line), "%s%s", f->run->path, which);
		snprintf(p->name, sizeof(p->name),
			"%s%s/_c_7b5ec9a2-11f3-4a7d-9d0e-%012d-lock-",
			f->run->path, which, i);
		link_put_folder(a.link, p->line);
	}
	return link_trip(a.link, NULL) < 0 ? -1 : floor_repeat(f, once, &a);
}

int floor_one(struct floor *f)
{
	return measure(f, 1, lock_again);
}

int floor_two(struct floor *f)
{
	return measure(f, 1, lock_and_unlock);
}

int floor_pair(struct floor *f)
{
	return measure(f, LINES, lock_again);
}

int floor_bare(struct floor *f)
{
	return measure(f, 1, make_again);
}
