/*
 * raw_conn.c - building, sending and reading frames.
 */
#include "raw_conn.h"
#include "net.h"
#include "zkproto.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_MAX (64 << 20)

static char *grow(struct raw_out *out, size_t n)
{
	char *at;

	if (!out->bad && out->size - out->len < n) {
		size_t size = 2 * (out->size + n);
		char *data = realloc(out->data, size);

		if (data == NULL) {
			out->bad = true;
		} else {
			out->data = data;
			out->size = size;
		}
	}
	if (out->bad)
		return NULL;
	at = out->data + out->len;
	out->len += n;
	return at;
}

void raw_out_free(struct raw_out *out)
{
	free(out->data);
	memset(out, 0, sizeof(*out));
}

void raw_out_begin(struct raw_out *out)
{
	out->frame = out->len;
	raw_out_int(out, 0);
}

void raw_out_end(struct raw_out *out)
{
	if (!out->bad)
		zk_put32(out->data + out->frame,
			(int32_t)(out->len - out->frame - 4));
}

void raw_out_byte(struct raw_out *out, char v)
{
	char *at = grow(out, 1);

	if (at != NULL)
		*at = v;
}

void raw_out_int(struct raw_out *out, int32_t v)
{
	char *at = grow(out, 4);

	if (at != NULL)
		zk_put32(at, v);
}

void raw_out_long(struct raw_out *out, int64_t v)
{
	char *at = grow(out, 8);

	if (at != NULL)
		zk_put64(at, v);
}

void raw_out_buffer(struct raw_out *out, const void *data, size_t len)
{
	char *at;

	raw_out_int(out, data == NULL ? -1 : (int32_t)len);
	at = data == NULL ? NULL : grow(out, len);
	if (at != NULL && len > 0)
		memcpy(at, data, len);
}

void raw_out_string(struct raw_out *out, const char *text)
{
	raw_out_buffer(out, text, text == NULL ? 0 : strlen(text));
}

void raw_out_connect(struct raw_out *out, int session_ms, int64_t id,
	const char *password)
{
	raw_out_begin(out);
	raw_out_int(out, 0);  /* protocol version */
	raw_out_long(out, 0); /* last zxid seen */
	raw_out_int(out, session_ms);
	raw_out_long(out, id);
	raw_out_buffer(out, password, RAW_PASSWORD);
	raw_out_byte(out, 0); /* not read-only */
	raw_out_end(out);
}

int raw_in_read(int fd, struct raw_in *in)
{
	char prefix[4];
	int32_t len;

	memset(in, 0, sizeof(*in));
	if (net_read(fd, prefix, 4) < 0)
		return -1;
	len = zk_get32(prefix);
	if (len < 0 || len > FRAME_MAX)
		return -1;
	in->data = malloc((size_t)len + 1);
	in->len = (size_t)len;
	if (in->data == NULL)
		return -1;
	return net_read(fd, in->data, in->len);
}

static const char *take(struct raw_in *in, size_t n)
{
	const char *at;

	if (in->bad || in->len - in->off < n) {
		in->bad = true;
		return NULL;
	}
	at = in->data + in->off;
	in->off += n;
	return at;
}

int32_t raw_in_int(struct raw_in *in)
{
	const char *at = take(in, 4);

	return at == NULL ? 0 : zk_get32(at);
}

int64_t raw_in_long(struct raw_in *in)
{
	const char *at = take(in, 8);

	return at == NULL ? 0 : zk_get64(at);
}

const char *raw_in_buffer(struct raw_in *in, int32_t *len)
{
	*len = raw_in_int(in);
	if (in->bad || *len < 0) {
		*len = -1;
		return NULL;
	}
	return take(in, (size_t)*len);
}
