/*
 * spans.c - when each peer held what, and whether any two overlapped.
 */
#include "spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct spans *s, struct span one)
{
	if (one.to < one.from)
		return -1;
	if (s->count == s->room) {
		size_t room = s->room == 0 ? 256 : 2 * s->room;
		struct span *list = realloc(s->list, room * sizeof(*list));

		if (list == NULL)
			return -1;
		s->list = list;
		s->room = room;
	}
	s->list[s->count++] = one;
	return 0;
}

int spans_add(struct spans *s, int64_t from, int64_t to, int who)
{
	return add(s, (struct span){ from, to, who, false, 0 });
}

int spans_add_shared(struct spans *s, int64_t from, int64_t to, int who)
{
	return add(s, (struct span){ from, to, who, true, 0 });
}

/* Add the span of one line.  Returns 0 or -1. */
static int add_line(struct spans *s, const char *line, int who)
{
	struct span one = { .who = who };
	int len = 0;

	if (sscanf(line, "%" SCNd64 " %" SCNd64 "%n", &one.from, &one.to,
		    &len) != 2)
		return -1;
	line += len;
	one.shared = *line == ' ';
	if (one.shared && sscanf(line, " x%d%n", &one.leases, &len) == 1)
		line += one.leases > 0 ? len : 0;
	else if (one.shared && line[1] == 'r')
		line += 2;
	if (strcmp(line, "\n") != 0)
		return -1;
	return add(s, one);
}

int spans_read(struct spans *s, const char *file, int who)
{
	FILE *f = fopen(file, "re");
	char line[128];
	int n = 0;

	if (f == NULL)
		return -1;
	while (n >= 0 && fgets(line, sizeof(line), f) != NULL) {
		if (add_line(s, line, who) == 0)
			n++;
		else
			n = -1;
	}
	fclose(f);
	return n;
}

static int by_beginning(const void *a, const void *b)
{
	const struct span *x = a;
	const struct span *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

size_t spans_overlaps(struct spans *s)
{
	int64_t alone = INT64_MIN; /* the latest end so far of one that is not
				      shared, and of any */
	int64_t any = INT64_MIN;
	size_t n = 0;

	if (s->count > 0)
		qsort(s->list, s->count, sizeof(*s->list), by_beginning);
	for (size_t i = 0; i < s->count; i++) {
		const struct span *one = &s->list[i];

		if (i > 0 && one->from <= (one->shared ? alone : any))
			n++;
		if (one->to > any)
			any = one->to;
		if (!one->shared && one->to > alone)
			alone = one->to;
	}
	return n;
}

size_t spans_together(const struct spans *s)
{
	int64_t over = INT64_MIN; /* the latest end so far */
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct span *one = &s->list[i];

		if (!one->shared)
			continue;
		n += over != INT64_MIN && one->from <= over;
		if (one->to > over)
			over = one->to;
	}
	return n;
}

size_t spans_changes(const struct spans *s)
{
	size_t n = 0;

	for (size_t i = 1; i < s->count; i++)
		n += s->list[i].who != s->list[i - 1].who;
	return n;
}

/* Return how many leases are held at a moment. */
static int leases_at(const struct spans *s, int64_t now)
{
	int n = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].from <= now && now <= s->list[i].to)
			n += s->list[i].leases;
	return n;
}

int spans_most(const struct spans *s, int64_t from, int64_t to)
{
	int most = 0;

	for (size_t i = 0; i < s->count; i++) {
		int64_t now = s->list[i].from;
		int n = now >= from && now <= to ? leases_at(s, now) : 0;

		if (n > most)
			most = n;
	}
	return most;
}

void spans_free(struct spans *s)
{
	free(s->list);
	*s = (struct spans){ 0 };
}
