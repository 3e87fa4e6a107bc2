/*
 * raw_link.c - a session on a bare socket.
 */
#include "raw_link.h"
#include "support/net.h"
#include "support/zkproto.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SESSION_MS 30000
#define PATIENCE_MS 10000
#define NONODE (-101)
#define NODEEXISTS (-110)
#define ERROR_PART (-1)
#define ADDRESS "127.0.0.1"

/* --- Requests ------------------------------------------------------------ */

static void begin(struct link *l, enum link_kind kind, int op)
{
	raw_out_begin(&l->out);
	raw_out_int(&l->out, (int)kind);
	raw_out_int(&l->out, op);
}

static void end(struct link *l)
{
	raw_out_end(&l->out);
	l->due++;
}

static void put_what_is_new(struct link *l, const char *path, const char *data,
	size_t len, int mode)
{
	raw_out_string(&l->out, path);
	raw_out_buffer(&l->out, data, len);
	raw_out_int(&l->out, 1); /* one ACL: everything for anyone */
	raw_out_int(&l->out, 31);
	raw_out_string(&l->out, "world");
	raw_out_string(&l->out, "anyone");
	raw_out_int(&l->out, mode);
}

void link_put_new(struct link *l, const char *path, const char *data, int mode)
{
	if (data == NULL)
		data = ADDRESS;
	begin(l, LINK_NEW, ZK_OP_CREATE2);
	put_what_is_new(l, path, data, strlen(data), mode);
	end(l);
}

void link_put_parent(struct link *l, const char *path)
{
	begin(l, LINK_PARENT, ZK_OP_CREATE_CONTAINER);
	put_what_is_new(l, path, "", 0, LINK_CONTAINER);
	end(l);
}

void link_put_folder(struct link *l, const char *path)
{
	char keeper[LINK_PATH_SIZE];

	snprintf(keeper, sizeof(keeper), "%s/" LINK_KEEPER, path);
	link_put_parent(l, path);
	link_put_new(l, keeper, "", LINK_EPHEMERAL);
}

void link_put_delete(struct link *l, const char *path)
{
	begin(l, LINK_DELETE, ZK_OP_DELETE);
	raw_out_string(&l->out, path);
	raw_out_int(&l->out, -1);
	end(l);
}

static void put_read(struct link *l, enum link_kind kind, int op,
	const char *path, bool watch)
{
	begin(l, kind, op);
	raw_out_string(&l->out, path);
	raw_out_byte(&l->out, watch);
	end(l);
}

void link_put_list(struct link *l, const char *path)
{
	put_read(l, LINK_LIST, ZK_OP_CHILDREN2, path, false);
}

void link_put_look(struct link *l, const char *path, bool watch)
{
	put_read(l, LINK_LOOK, ZK_OP_GET, path, watch);
}

void link_put_wait(struct link *l, const char *path)
{
	put_read(l, LINK_LOOK, ZK_OP_EXISTS, path, true);
}

/* --- Transactions -------------------------------------------------------- */

/* Put the header of a part; that of ERROR_PART comes after the last part. */
static void begin_part(struct link *l, int op)
{
	raw_out_int(&l->out, op);
	raw_out_byte(&l->out, op == ERROR_PART);
	raw_out_int(&l->out, -1);
}

void link_deed_begin(struct link *l)
{
	begin(l, LINK_DEED, ZK_OP_MULTI);
}

void link_deed_new(struct link *l, const char *path, const char *data,
	size_t len, int mode)
{
	begin_part(l, ZK_OP_CREATE);
	put_what_is_new(l, path, data, len, mode);
}

void link_deed_set(struct link *l, const char *path, const char *data,
	size_t len, int version)
{
	begin_part(l, ZK_OP_SET);
	raw_out_string(&l->out, path);
	raw_out_buffer(&l->out, data, len);
	raw_out_int(&l->out, version);
}

void link_deed_delete(struct link *l, const char *path, int version)
{
	begin_part(l, ZK_OP_DELETE);
	raw_out_string(&l->out, path);
	raw_out_int(&l->out, version);
}

void link_deed_end(struct link *l)
{
	begin_part(l, ERROR_PART);
	end(l);
}

/* --- Answers ------------------------------------------------------------- */

int link_flight(struct link *l)
{
	int err = l->out.bad ? -1 : net_write(l->fd, l->out.data, l->out.len);

	l->out.len = 0;
	return err;
}

static bool may_be(enum link_kind kind, int32_t rc)
{
	return rc == 0 || (kind == LINK_LOOK && rc == NONODE) ||
		(kind == LINK_PARENT && rc == NODEEXISTS);
}

static void read_path(struct raw_in *in, struct link_answer *answer)
{
	int32_t len;
	const char *path = raw_in_buffer(in, &len);

	if (path == NULL || len >= LINK_PATH_SIZE)
		in->bad = true;
	else
		snprintf(answer->path, sizeof(answer->path), "%.*s", (int)len,
			path);
}

static void skip_names(struct raw_in *in, int count)
{
	int32_t len;

	for (int i = 0; i < count && !in->bad; i++)
		(void)raw_in_buffer(in, &len);
}

/* Read a stat, and return the zxid of the last change of children, which is its
   last field. */
static int64_t read_changed(struct raw_in *in)
{
	for (int i = 0; i < 4; i++) /* czxid, mzxid, ctime, mtime */
		raw_in_long(in);
	for (int i = 0; i < 3; i++) /* versions */
		raw_in_int(in);
	raw_in_long(in); /* owner */
	raw_in_int(in);	 /* bytes */
	raw_in_int(in);	 /* children */
	return raw_in_long(in);
}

static void read_body(struct raw_in *in, struct link_answer *answer)
{
	switch (answer->kind) {
	case LINK_EVENT:
		answer->event = raw_in_int(in);
		raw_in_int(in); /* state of the session */
		read_path(in, answer);
		break;
	case LINK_NEW:
		read_path(in, answer);
		break;
	case LINK_LIST:
		answer->children = raw_in_int(in);
		skip_names(in, answer->children);
		answer->changed = read_changed(in);
		break;
	case LINK_DEED: /* one that was refused says so in its parts */
		if (raw_in_int(in) == ERROR_PART)
			in->bad = true;
		break;
	default:
		break;
	}
}

/* Read a frame up to its body.  The caller frees the frame in any case. */
static int hear(struct link *l, struct raw_in *in, struct link_answer *answer)
{
	int err = raw_in_read(l->fd, in);
	int32_t rc;

	memset(answer, 0, sizeof(*answer));
	if (err < 0)
		return -1;
	answer->kind = (enum link_kind)raw_in_int(in);
	answer->zxid = raw_in_long(in);
	rc = raw_in_int(in);
	if (in->bad || !may_be(answer->kind, rc))
		return -1;
	answer->there = rc == 0;
	if (answer->kind != LINK_EVENT)
		l->due--;
	return 0;
}

int link_hear(struct link *l, struct link_answer *answer)
{
	struct raw_in in;
	int err = hear(l, &in, answer);

	if (err == 0 && answer->there)
		read_body(&in, answer);
	if (in.bad)
		err = -1;
	free(in.data);
	return err;
}

int link_trip(struct link *l, struct link_answer *answers)
{
	struct link_answer answer;
	int err = link_flight(l);

	while (err == 0 && l->due > 0) {
		err = link_hear(l, &answer);
		if (answer.kind == LINK_EVENT)
			err = -1;
		if (answers != NULL)
			*answers++ = answer;
	}
	return err;
}

void link_free_names(char **names, int count)
{
	for (int i = 0; names != NULL && i < count; i++)
		free(names[i]);
	free(names);
}

static void copy_names(struct raw_in *in, char ***names, int *count)
{
	int there = raw_in_int(in);
	int32_t len;

	if (!in->bad && there >= 0)
		*names = calloc((size_t)there + 1, sizeof(**names));
	for (; *names != NULL && *count < there; (*count)++) {
		const char *name = raw_in_buffer(in, &len);
		char *copy = name == NULL ? NULL : strndup(name, (size_t)len);

		if (copy == NULL)
			break;
		(*names)[*count] = copy;
	}
	if (*names == NULL || *count < there)
		in->bad = true;
}

int link_names(struct link *l, const char *path, char ***names, int *count)
{
	struct link_answer answer;
	struct raw_in in = { 0 };
	int err;

	*names = NULL;
	*count = 0;
	link_put_list(l, path);
	err = link_flight(l);
	if (err == 0)
		err = hear(l, &in, &answer);
	if (err == 0 && answer.kind == LINK_LIST)
		copy_names(&in, names, count);
	else
		err = -1;
	if (in.bad)
		err = -1;
	free(in.data);
	return err;
}

/* --- Sessions ------------------------------------------------------------ */

int link_open(struct link *l, const char *hosts)
{
	static const char no_password[RAW_PASSWORD];
	struct raw_in in = { 0 };
	int one = 1;
	int err = -1;

	l->fd = net_connect(hosts, PATIENCE_MS);
	if (l->fd < 0)
		return -1;
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	raw_out_connect(&l->out, SESSION_MS, 0, no_password);
	if (link_flight(l) == 0)
		err = raw_in_read(l->fd, &in);
	free(in.data);
	return err;
}

void link_close(struct link *l)
{
	struct link_answer answer;

	if (l->fd >= 0) {
		/* The answers that are still on their way come before that of
		   the close. */
		begin(l, LINK_DELETE, ZK_OP_CLOSE);
		end(l);
		if (link_flight(l) == 0)
			while (l->due > 0 && link_hear(l, &answer) == 0)
				continue;
		close(l->fd);
		l->fd = -1;
	}
	raw_out_free(&l->out);
}
