/*
 * raw.c - a session of the tiny client, and the requests in it.
 */
#include "raw.h"
#include "net.h"
#include "raw_conn.h"
#include "zkproto.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_MS 30000

struct raw {
	int fd;
	int32_t xid;
	int64_t session;
	int passed_over;
};

struct raw *raw_open(const char *address, int session_ms)
{
	static const char no_password[RAW_PASSWORD];
	struct raw *raw = calloc(1, sizeof(*raw));
	struct raw_out out = { 0 };
	struct raw_in in = { 0 };

	if (raw == NULL)
		return NULL;
	raw_out_connect(&out, session_ms, 0, no_password);
	raw->fd = net_connect(address, ANSWER_MS);
	if (raw->fd >= 0 && !out.bad &&
		net_write(raw->fd, out.data, out.len) == 0 &&
		raw_in_read(raw->fd, &in) == 0) {
		raw_in_int(&in); /* protocol version */
		raw_in_int(&in); /* timeout */
		raw->session = raw_in_long(&in);
	}
	raw_out_free(&out);
	free(in.data);
	if (raw->session == 0) {
		raw_abandon(raw);
		return NULL;
	}
	return raw;
}

void raw_abandon(struct raw *raw)
{
	if (raw == NULL)
		return;
	if (raw->fd >= 0)
		close(raw->fd);
	free(raw);
}

int64_t raw_session(const struct raw *raw)
{
	return raw->session;
}

int raw_passed_over(const struct raw *raw)
{
	return raw->passed_over;
}

void raw_set_patience(struct raw *raw, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	setsockopt(raw->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

static void begin(struct raw *raw, struct raw_out *out, int op)
{
	memset(out, 0, sizeof(*out));
	raw_out_begin(out);
	raw_out_int(out, op == ZK_OP_PING ? ZK_XID_PING : ++raw->xid);
	raw_out_int(out, op);
}

/*
 * Send the request, free it, and wait for its answer.  Other messages that come
 * meanwhile are passed over: nobody here asks for watch events.
 */
static int call(struct raw *raw, struct raw_out *out, struct raw_in *in)
{
	int32_t xid;
	int32_t rc;
	int32_t want = 0;
	int err = -1;

	memset(in, 0, sizeof(*in));
	raw_out_end(out);
	if (!out->bad) {
		want = zk_get32(out->data + 4);
		err = net_write(raw->fd, out->data, out->len);
	}
	raw_out_free(out);
	while (err == 0) {
		free(in->data);
		err = raw_in_read(raw->fd, in);
		xid = raw_in_int(in);
		raw_in_long(in);
		rc = raw_in_int(in);
		if (err < 0 || in->bad)
			break;
		if (xid == want)
			return rc;
		raw->passed_over++;
	}
	return RAW_BROKEN;
}

static int finish(struct raw_in *in, int rc)
{
	if (rc == 0 && in->bad)
		rc = RAW_BROKEN;
	free(in->data);
	return rc;
}

static void read_stat(struct raw_in *in, struct raw_stat *out)
{
	struct raw_stat s;

	s.czxid = raw_in_long(in);
	s.mzxid = raw_in_long(in);
	s.ctime_ms = raw_in_long(in);
	s.mtime_ms = raw_in_long(in);
	s.version = raw_in_int(in);
	s.cversion = raw_in_int(in);
	s.aversion = raw_in_int(in);
	s.ephemeral_owner = raw_in_long(in);
	s.data_length = raw_in_int(in);
	s.num_children = raw_in_int(in);
	s.pzxid = raw_in_long(in);
	if (out != NULL)
		*out = s;
}

/* Copy a string of the frame, cut to what fits, with an end. */
static void read_string(struct raw_in *in, char *out, size_t size)
{
	int32_t len;
	const char *at = raw_in_buffer(in, &len);
	size_t n = at == NULL ? 0 : (size_t)len;

	if (out == NULL || size == 0)
		return;
	if (n >= size)
		n = size - 1;
	if (n > 0)
		memcpy(out, at, n);
	out[n] = '\0';
}

void raw_close(struct raw *raw)
{
	struct raw_out out;
	struct raw_in in = { 0 };

	if (raw == NULL)
		return;
	begin(raw, &out, ZK_OP_CLOSE);
	call(raw, &out, &in);
	free(in.data);
	raw_abandon(raw);
}

int raw_do_create(struct raw *raw, const char *path, const char *data,
	enum raw_mode mode, char *made, size_t size)
{
	struct raw_out out;
	struct raw_in in = { 0 };
	int rc;

	begin(raw, &out,
		mode == RAW_CONTAINER ? ZK_OP_CREATE_CONTAINER : ZK_OP_CREATE);
	raw_out_string(&out, path);
	raw_out_string(&out, data);
	raw_out_int(&out, 1); /* one ACL: everything for anyone */
	raw_out_int(&out, 31);
	raw_out_string(&out, "world");
	raw_out_string(&out, "anyone");
	raw_out_int(&out, mode);
	rc = call(raw, &out, &in);
	if (rc == 0)
		read_string(&in, made, size);
	return finish(&in, rc);
}

int raw_do_delete(struct raw *raw, const char *path, int version)
{
	struct raw_out out;
	struct raw_in in = { 0 };

	begin(raw, &out, ZK_OP_DELETE);
	raw_out_string(&out, path);
	raw_out_int(&out, version);
	return finish(&in, call(raw, &out, &in));
}

int raw_do_set(struct raw *raw, const char *path, const char *data, int version)
{
	struct raw_out out;
	struct raw_in in = { 0 };

	begin(raw, &out, ZK_OP_SET);
	raw_out_string(&out, path);
	raw_out_string(&out, data);
	raw_out_int(&out, version);
	return finish(&in, call(raw, &out, &in));
}

/* A read: a path and no watch. */
static int ask(struct raw *raw, int op, const char *path, struct raw_in *in)
{
	struct raw_out out;

	begin(raw, &out, op);
	raw_out_string(&out, path);
	if (op != ZK_OP_SYNC)
		raw_out_byte(&out, 0);
	return call(raw, &out, in);
}

int raw_do_exists(struct raw *raw, const char *path, struct raw_stat *stat)
{
	struct raw_in in = { 0 };
	int rc = ask(raw, ZK_OP_EXISTS, path, &in);

	if (rc == 0)
		read_stat(&in, stat);
	return finish(&in, rc);
}

int raw_do_get(struct raw *raw, const char *path, char *data, size_t size,
	struct raw_stat *stat)
{
	struct raw_in in = { 0 };
	int rc = ask(raw, ZK_OP_GET, path, &in);

	if (rc == 0) {
		read_string(&in, data, size);
		read_stat(&in, stat);
	}
	return finish(&in, rc);
}

int raw_do_sync(struct raw *raw, const char *path)
{
	struct raw_in in = { 0 };

	return finish(&in, ask(raw, ZK_OP_SYNC, path, &in));
}

int raw_do_ping(struct raw *raw)
{
	struct raw_out out;
	struct raw_in in = { 0 };

	begin(raw, &out, ZK_OP_PING);
	return finish(&in, call(raw, &out, &in));
}

int raw_do_children(struct raw *raw, const char *path, struct raw_names *names)
{
	struct raw_in in = { 0 };
	int rc = ask(raw, ZK_OP_CHILDREN, path, &in);
	int32_t count = rc == 0 ? raw_in_int(&in) : 0;

	memset(names, 0, sizeof(*names));
	if (count > 0)
		names->names = calloc((size_t)count, sizeof(char *));
	if (count > 0 && names->names == NULL)
		in.bad = true;
	for (; names->count < count && !in.bad; names->count++) {
		int32_t len;
		const char *at = raw_in_buffer(&in, &len);

		if (at == NULL)
			break;
		names->names[names->count] = strndup(at, (size_t)len);
	}
	return finish(&in, rc);
}

void raw_names_free(struct raw_names *names)
{
	for (int i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names->names);
	memset(names, 0, sizeof(*names));
}
