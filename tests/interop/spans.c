/*
 * spans.c - when was what held, by whom, and did any two overlap?
 */
#include "spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int spans_add(struct spans *s, int64_t from, int64_t to, int who)
{
	if (to < from)
		return -1;
	if (s->count == s->room) {
		size_t room = s->room == 0 ? 256 : 2 * s->room;
		struct span *list = realloc(s->list, room * sizeof(*list));

		if (list == NULL)
			return -1;
		s->list = list;
		s->room = room;
	}
	s->list[s->count++] = (struct span){ from, to, who };
	return 0;
}

int spans_read(struct spans *s, const char *file, int who)
{
	FILE *f = fopen(file, "re");
	char line[128];
	int64_t from, to;
	char end;
	int n = 0;

	if (f == NULL)
		return -1;
	while (n >= 0 && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%" SCNd64 " %" SCNd64 "%c", &from, &to,
			    &end) == 3 &&
			end == '\n' && spans_add(s, from, to, who) == 0)
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
	int64_t over = INT64_MIN; /* the latest end so far */
	size_t n = 0;

	if (s->count > 0)
		qsort(s->list, s->count, sizeof(*s->list), by_beginning);
	for (size_t i = 0; i < s->count; i++) {
		if (i > 0 && s->list[i].from <= over)
			n++;
		if (s->list[i].to > over)
			over = s->list[i].to;
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

void spans_free(struct spans *s)
{
	free(s->list);
	*s = (struct spans){ 0 };
}
