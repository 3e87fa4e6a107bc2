/*
 * raw_conn.h - building, sending and reading frames, for raw.c and rawkill.c.
 *
 * A builder or a reader that runs out of room is marked as bad and stays so.
 * Only the end result needs to be checked.
 */
#ifndef TEST_RAW_CONN_H
#define TEST_RAW_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_PASSWORD 16

struct raw_out {
	char *data;
	size_t len;
	size_t size;
	size_t frame; /* where the open frame's length stands */
	bool bad;
};

struct raw_in {
	char *data;
	size_t len;
	size_t off;
	bool bad;
};

void raw_out_free(struct raw_out *out);
void raw_out_begin(struct raw_out *out);
void raw_out_end(struct raw_out *out);
void raw_out_byte(struct raw_out *out, char v);
void raw_out_int(struct raw_out *out, int32_t v);
void raw_out_long(struct raw_out *out, int64_t v);

/* Write a length and the bytes.  NULL is written as length -1. */
void raw_out_buffer(struct raw_out *out, const void *data, size_t len);
void raw_out_string(struct raw_out *out, const char *text);

/* Build the whole frame of a handshake; id 0 asks for a new session. */
void raw_out_connect(struct raw_out *out, int session_ms, int64_t id,
	const char *password);

/* Read one frame.  Returns 0 or -1; free in->data in any case. */
int raw_in_read(int fd, struct raw_in *in);
int32_t raw_in_int(struct raw_in *in);
int64_t raw_in_long(struct raw_in *in);

/* Return the bytes of a buffer or string, which lie in the frame and are not
   terminated; *len is -1 for a null. */
const char *raw_in_buffer(struct raw_in *in, int32_t *len);

#endif
