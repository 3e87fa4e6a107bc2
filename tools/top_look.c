/*
 * top_look.c - walk over what is below a node, and find the recipes there.
 *
 * Nodes are listed a level at a time, many at once; then it is counted, also
 * many at once, who is there in the recipes that were found.  A node that is a
 * part of a recipe by its name is not descended into.  Nodes that never had
 * children are read, as they may be barriers.
 */
#include "flight.h"
#include "top.h"

#include <kustos/client.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_MAX 5000 /* nodes that are listed for one frame */
#define SAYS_MAX 256  /* bytes; a node with more data is no barrier */

struct visit { /* of one node */
	struct walk *walk;
	char *path;
	enum kustos_err err;
	struct kustos_names names; /* a copy */
	struct kustos_stat stat;
	bool gate; /* its data is that of a barrier */
	bool part; /* it stands where a semaphore has its leases or locks */
	enum layout layout; /* what it is, by the names of its parts */
	size_t parts;
	struct top_row row; /* of that, if it has a path */
};

struct walk {
	struct kustos_client *client;
	int patience_ms;
	bool bare;
	const struct top_frame *before;
	struct top_frame *frame;
	size_t room; /* in the frame's rows */
	struct visit *visits;
	size_t done, count, size; /* looked at; found; there is room for */
	struct flight flight;
	atomic_bool silent; /* there was no answer: ask for no more */
};

static void hear_of(struct walk *w, enum kustos_err err)
{
	if (err == KUSTOS_ETIMEDOUT || err == KUSTOS_EDISCONNECTED)
		atomic_store(&w->silent, true);
}

static bool copy_names(struct kustos_names *to, const struct kustos_names *from)
{
	to->names = calloc(from->count + 1, sizeof(*to->names));
	if (to->names == NULL)
		return false;
	for (; to->count < from->count; to->count++) {
		to->names[to->count] = strdup(from->names[to->count]);
		if (to->names[to->count] == NULL)
			return false;
	}
	return true;
}

static void listed(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct visit *v = arg;

	v->err = err;
	hear_of(v->walk, err);
	if (err == KUSTOS_OK) {
		v->stat = *result->stat;
		if (!copy_names(&v->names, result->names))
			v->err = KUSTOS_ENOMEM;
	}
	flight_answered(&v->walk->flight);
}

static bool is_any(const struct visit *v)
{
	(void)v;
	return true;
}

/* Is it empty, and never had children? */
static bool is_bare(const struct visit *v)
{
	return v->err == KUSTOS_OK && v->names.count == 0 &&
		v->stat.cversion == 0 && v->stat.ephemeral_owner == 0;
}

static bool may_be_gate(const struct visit *v)
{
	return is_bare(v) && v->stat.data_length > 0 &&
		v->stat.data_length <= SAYS_MAX;
}

static void was_read(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct visit *v = arg;

	v->err = err;
	hear_of(v->walk, err);
	if (err == KUSTOS_OK)
		v->gate = layout_says_gate(result->data, result->len);
	flight_answered(&v->walk->flight);
}

/* Ask about those from "first" on, up to "last", that are "wanted". */
static void ask(struct walk *w, size_t first, size_t last,
	bool (*wanted)(const struct visit *v), flight_fn *how,
	kustos_done_fn *done)
{
	for (size_t i = first; i < last; i++) {
		struct visit *v = &w->visits[i];

		if (!wanted(v))
			continue;
		if (atomic_load(&w->silent)) {
			v->err = KUSTOS_ETIMEDOUT;
			continue;
		}
		enum kustos_err err = flight_ask(&w->flight, how, w->client,
			v->path, kustos_after_ms(w->patience_ms), done, v);
		if (err != KUSTOS_OK)
			v->err = err;
	}
	flight_wait(&w->flight);
}

/* Visit "parent"/"name", or "parent".  Returns false if memory is short. */
static bool add(struct walk *w, const char *parent, const char *name)
{
	const char *slash = name == NULL || strcmp(parent, "/") == 0 ? "" : "/";
	struct visit *v;

	if (w->count == LOOK_MAX) {
		w->frame->cut = true;
		return true;
	}
	if (w->count == w->size) {
		size_t size = w->size == 0 ? 64 : 2 * w->size;
		void *more = realloc(w->visits, size * sizeof(*w->visits));

		if (more == NULL)
			return false;
		w->visits = more;
		w->size = size;
	}
	v = &w->visits[w->count];
	memset(v, 0, sizeof(*v));
	v->walk = w;
	v->path = malloc(strlen(parent) + (name ? strlen(name) : 0) + 2);
	if (v->path == NULL)
		return false;
	stpcpy(stpcpy(stpcpy(v->path, parent), slash), name ? name : "");
	w->count++;
	return true;
}

static void free_row(struct top_row *row)
{
	free(row->path);
	free(row->who);
	memset(row, 0, sizeof(*row));
}

/* Move the row into the frame.  Returns false if memory is short. */
static bool keep_row(struct walk *w, struct top_row *row)
{
	struct top_frame *f = w->frame;

	if (f->count == w->room) {
		size_t room = w->room == 0 ? 64 : 2 * w->room;
		void *more = realloc(f->rows, room * sizeof(*f->rows));

		if (more == NULL)
			return false;
		f->rows = more;
		w->room = room;
	}
	f->rows[f->count++] = *row;
	memset(row, 0, sizeof(*row));
	return true;
}

static int by_path(const void *a, const void *b)
{
	const struct top_row *x = a;
	const struct top_row *y = b;

	return strcmp(x->path, y->path);
}

static const struct top_row *find(const struct top_frame *frame,
	const char *path)
{
	const struct top_row wanted = { .path = (char *)path };

	if (frame == NULL || frame->count == 0)
		return NULL;
	return bsearch(&wanted, frame->rows, frame->count, sizeof(*frame->rows),
		by_path);
}

/* A node that is empty now is taken for what it was in the frame before. */
static enum layout layout_before(const struct walk *w, const struct visit *v)
{
	const struct top_row *old = find(w->before, v->path);

	if (old == NULL || old->layout == LAYOUT_GATE || v->names.count > 0 ||
		old->stat.czxid != v->stat.czxid)
		return LAYOUT_NONE;
	return old->layout;
}

static const char *leaf_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

static bool is_of_semaphore(const char *name)
{
	return strcmp(name, "leases") == 0 || strcmp(name, "locks") == 0;
}

/* Is this child, of a node with that layout, not to be looked at? */
static bool is_passed_by(const struct visit *v, const char *name,
	enum layout layout)
{
	return layout_part(name) != LAYOUT_NONE ||
		(layout == LAYOUT_BARRIER && strcmp(name, "ready") == 0) ||
		(strcmp(v->path, "/") == 0 && strcmp(name, "zookeeper") == 0);
}

static enum layout layout_found(const struct walk *w, struct visit *v)
{
	enum layout layout = layout_of(&v->names, &v->parts);

	if (v->stat.ephemeral_owner != 0)
		layout = LAYOUT_SIMPLE;
	else if (layout == LAYOUT_NONE && layout_is_shard(leaf_of(v->path)))
		layout = LAYOUT_QUEUE;
	else if (v->gate || (w->bare && is_bare(v) && v->stat.data_length == 0))
		layout = LAYOUT_GATE;
	else if (layout == LAYOUT_NONE)
		layout = layout_before(w, v);
	if (v->part && (layout == LAYOUT_LEASES || layout == LAYOUT_LOCK))
		layout = LAYOUT_NONE; /* the semaphore's row tells of them */
	return layout;
}

/* Make a row of the visit that is "behind" places behind those that are done,
   if it is a recipe. */
static void recognise(void *arg, size_t behind)
{
	struct walk *w = arg;
	struct visit *v = &w->visits[w->done + behind];
	struct top_row *row = &v->row;

	if (v->err == KUSTOS_OK)
		v->layout = layout_found(w, v);
	if (v->layout == LAYOUT_NONE || atomic_load(&w->silent))
		return;
	row->layout = v->layout;
	row->stat = v->stat;
	row->in = row->out = -1;
	row->is = "";
	row->path = strdup(v->path);
	enum kustos_err err = row->path == NULL
		? KUSTOS_ENOMEM
		: top_count(w->client, kustos_after_ms(w->patience_ms),
			  &v->names, v->parts, row);
	if (err == KUSTOS_OK)
		return;
	free_row(row);
	v->layout = LAYOUT_NONE;
	/* What looks like a recipe of ours where none can be, at the root, is
	   none. */
	if (err != KUSTOS_ENONODE && err != KUSTOS_ENOAUTH &&
		err != KUSTOS_EINVAL)
		v->err = err;
	hear_of(w, err);
}

/* Use what was found in visits[at]: keep its row, and add its children to the
   visits.  (These move in memory when more are added, hence the copy.) */
static enum kustos_err take(struct walk *w, size_t at)
{
	const struct visit v = w->visits[at];
	enum kustos_err err = KUSTOS_OK;

	if (v.row.path != NULL && !keep_row(w, &w->visits[at].row))
		err = KUSTOS_ENOMEM;
	for (size_t i = 0; i < v.names.count && err == KUSTOS_OK; i++) {
		if (is_passed_by(&v, v.names.names[i], v.layout))
			continue;
		if (!add(w, v.path, v.names.names[i]))
			err = KUSTOS_ENOMEM;
		else if (v.layout == LAYOUT_SEMAPHORE && !w->frame->cut)
			w->visits[w->count - 1].part = is_of_semaphore(
				v.names.names[i]);
	}
	return err;
}

static enum kustos_err walk_level(struct walk *w)
{
	size_t last = w->count;

	ask(w, w->done, last, is_any, kustos_children_async, listed);
	ask(w, w->done, last, may_be_gate, kustos_get_async, was_read);
	flight_each(last - w->done, recognise, w);
	for (; w->done < last; w->done++) {
		enum kustos_err err = w->visits[w->done].err;

		if (err == KUSTOS_OK)
			err = take(w, w->done);
		else if (err == KUSTOS_ENOAUTH)
			w->frame->hidden++;
		if (w->done == 0 && err == KUSTOS_ENONODE)
			return err;
		if (err != KUSTOS_OK && err != KUSTOS_ENONODE &&
			err != KUSTOS_ENOAUTH)
			return err;
	}
	return KUSTOS_OK;
}

/* Is this the line of a semaphore of kazoo's, which the semaphore's row
   tells? */
static bool is_its_lock(const struct top_frame *frame,
	const struct top_row *row)
{
	size_t len = strlen(row->path), ends = strlen(TOP_LOCK_OF_LEASED);

	if (row->layout != LAYOUT_LOCK || len <= ends ||
		strcmp(row->path + len - ends, TOP_LOCK_OF_LEASED) != 0)
		return false;
	char *path = strndup(row->path, len - ends);
	const struct top_row *semaphore = path ? find(frame, path) : NULL;
	free(path);
	return semaphore != NULL && semaphore->layout == LAYOUT_LEASED;
}

/* Drop the rows of such lines.  Rows are sorted by path, and stay so. */
static void drop_locks(struct top_frame *frame)
{
	size_t kept = 0;

	for (size_t i = 0; i < frame->count; i++)
		frame->rows[i].told = is_its_lock(frame, &frame->rows[i]);
	for (size_t i = 0; i < frame->count; i++) {
		if (frame->rows[i].told)
			free_row(&frame->rows[i]);
		else
			frame->rows[kept++] = frame->rows[i];
	}
	frame->count = kept;
}

/* A node's cversion counts the children that come and those that go; so
   together with the number of children it tells how many there were of each. */
static void rate(struct top_row *row, const struct top_row *old, double seconds)
{
	uint32_t changes = (uint32_t)row->stat.cversion -
		(uint32_t)old->stat.cversion;
	int64_t growth = (int64_t)row->stat.num_children -
		old->stat.num_children;

	if (row->stat.czxid != old->stat.czxid || seconds <= 0)
		return;
	row->in = (double)(changes + growth) / 2 / seconds;
	row->out = (double)(changes - growth) / 2 / seconds;
}

static void rates(struct top_frame *frame, const struct top_frame *before)
{
	double seconds = (double)(frame->at_ns - before->at_ns) / 1e9;

	for (size_t i = 0; i < frame->count; i++) {
		struct top_row *row = &frame->rows[i];
		const struct top_row *old = find(before, row->path);

		if (old != NULL)
			rate(row, old, seconds);
	}
}

static void walk_free(struct walk *w)
{
	for (size_t i = 0; i < w->count; i++) {
		for (size_t k = 0; k < w->visits[i].names.count; k++)
			free(w->visits[i].names.names[k]);
		free(w->visits[i].names.names);
		free(w->visits[i].path);
		free_row(&w->visits[i].row);
	}
	free(w->visits);
	flight_free(&w->flight);
}

enum kustos_err top_look(struct kustos_client *client, const char *root,
	int patience_ms, bool bare, const struct top_frame *before,
	struct top_frame *frame)
{
	struct walk w = { .client = client,
		.patience_ms = patience_ms,
		.bare = bare,
		.before = before,
		.frame = frame };
	enum kustos_err err = KUSTOS_OK;
	struct timespec now;

	memset(frame, 0, sizeof(*frame));
	clock_gettime(CLOCK_MONOTONIC, &now);
	frame->at_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	flight_init(&w.flight);
	if (!add(&w, root, NULL))
		err = KUSTOS_ENOMEM;
	while (err == KUSTOS_OK && w.done < w.count)
		err = walk_level(&w);
	walk_free(&w);
	if (frame->count > 0)
		qsort(frame->rows, frame->count, sizeof(*frame->rows), by_path);
	drop_locks(frame);
	if (before != NULL)
		rates(frame, before);
	if (err != KUSTOS_OK)
		top_free(frame);
	return err;
}

void top_free(struct top_frame *frame)
{
	for (size_t i = 0; i < frame->count; i++)
		free_row(&frame->rows[i]);
	free(frame->rows);
	memset(frame, 0, sizeof(*frame));
}
