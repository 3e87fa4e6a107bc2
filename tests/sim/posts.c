/* posts.c - the nodes of leaders and candidates. */
#include "posts.h"
#include "model_impl.h"
#include "sim_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int posts_line(const char *const *lines, const char *path)
{
	for (int i = 0; i < POST_LINES; i++) {
		size_t len = strlen(lines[i]);

		if (strncmp(path, lines[i], len) == 0 && path[len] == '/')
			return i;
	}
	return -1;
}

void posts_add(struct posts *posts, const char *path, int line, int64_t zxid,
	int64_t owner)
{
	struct post *post = sim_calloc(1, sizeof(*post));

	posts->list = sim_room(posts->list, posts->count, &posts->room,
		sizeof(struct post *));
	snprintf(post->path, sizeof(post->path), "%s", path);
	post->line = line;
	post->term = zxid;
	post->owner = owner;
	post->there = true;
	posts->list[posts->count++] = post;
}

struct post *posts_remove(struct posts *posts, const struct ledger *ledger,
	const char *path, enum fate *fate)
{
	for (int i = posts->count - 1; i >= 0; i--) {
		struct post *post = posts->list[i];

		if (!post->there || strcmp(post->path, path) != 0)
			continue;
		post->there = false;
		*fate = ledger_fate(ledger, path, post->owner);
		post->outside = *fate == FATE_REMOVED ||
			ledger_killed(ledger, post->owner);
		return post;
	}
	return NULL;
}

void posts_note(struct posts *posts, enum model_note what, const char *path,
	int64_t value)
{
	if (what != NOTE_SERVE || value != KU_ZK_THROTTLEDOP || path == NULL)
		return;
	for (int i = 0; i < posts->count; i++)
		if (strcmp(posts->list[i]->path, path) == 0)
			posts->list[i]->kept = true;
}

void posts_note_heir(struct sim *sim, const struct posts *posts,
	struct post *post)
{
	for (int i = 0; i < posts->count; i++) {
		const struct post *first = posts->list[i];

		if (!first->there || first->line != post->line ||
			(first->kept && first->owner == post->owner &&
				first->term < post->term))
			continue;
		(void)model_data(sim_model(sim), first->path, post->heir,
			sizeof(post->heir));
		return;
	}
}

/* A leader gives up a node into which a stranger has written, as if it had been
   deleted from outside: then it is for nobody to say who follows. */
void posts_check_heir(struct sim *sim, const struct post *post, const char *id)
{
	if (post->there)
		sim_fail(sim, "heir", "handed over, and %s is there",
			post->path);
	else if (id[0] != '\0' && !post->outside && !post->touched &&
		strcmp(post->heir, id) != 0)
		sim_fail(sim, "heir", "\"%s\" follows, not \"%s\"", post->heir,
			id);
}

struct post *posts_of(const struct posts *posts, int64_t term)
{
	for (int i = posts->count - 1; i >= 0; i--)
		if (posts->list[i]->term == term)
			return posts->list[i];
	return NULL;
}

struct post *posts_first(const struct posts *posts, int line, int64_t but)
{
	for (int i = 0; i < posts->count; i++) {
		struct post *post = posts->list[i];

		if (post->there && post->line == line && post->owner != but)
			return post;
	}
	return NULL;
}

void posts_free(struct posts *posts)
{
	for (int i = 0; i < posts->count; i++)
		free(posts->list[i]);
	free(posts->list);
}
