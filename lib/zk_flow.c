/* zk_flow.c - what a handle sends and receives, in few system calls. */

#include "zk_flow.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* The section of the library's own code (lib/embed). */
#define IN_LIBRARY __attribute__((section("ku_zk_text"), noinline))

/* Not the library's, which come here. */
ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __real_recv(int fd, void *data, size_t len, int flags);

void ku_zk_flow_reset(struct ku_zk_flow *flow)
{
	flow->kept = 0;
	flow->at = flow->end = 0;
	flow->filled = flow->stuck = false;
}

/* Send some of it.  Returns how much, 0 if there is no room, or -1. */
IN_LIBRARY static ssize_t send_some(struct ku_zk_flow *flow, int fd,
	const void *data, size_t len, int more)
{
	ssize_t sent = __real_send(fd, data, len, MSG_NOSIGNAL | more);

	if (sent == (ssize_t)len)
		return sent;
	flow->stuck = true;
	if (sent >= 0)
		return sent;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	int why = errno;
	(void)shutdown(fd, SHUT_RDWR);
	errno = why;
	return -1;
}

/* Send what is kept, as far as there is room.  Returns -1 if that fails. */
static int send_kept(struct ku_zk_flow *flow)
{
	if (flow->kept == 0)
		return 0;
	ssize_t sent = send_some(flow, flow->fd, flow->out, flow->kept, 0);

	if (sent <= 0)
		return (int)sent;
	flow->kept -= (size_t)sent;
	memmove(flow->out, flow->out + sent, flow->kept);
	return 0;
}

bool ku_zk_flow_push(struct ku_zk_flow *flow)
{
	(void)send_kept(flow);
	return flow->kept == 0;
}

/* Without keeping it.  A length goes out with what follows it. */
static ssize_t send_now(struct ku_zk_flow *flow, int fd, const void *data,
	size_t len)
{
	int more = len == sizeof(int32_t) ? MSG_MORE : 0;
	int rc = send_kept(flow);

	if (rc < 0 || flow->kept > 0)
		return rc;
	return send_some(flow, fd, data, len, more);
}

static bool has_room(struct ku_zk_flow *flow, size_t len)
{
	return len <= sizeof(flow->out) - flow->kept ||
		(len <= sizeof(flow->out) && ku_zk_flow_push(flow));
}

ssize_t ku_zk_flow_send(struct ku_zk_flow *flow, int fd, const void *data,
	size_t len)
{
	if (!flow->at_once && has_room(flow, len)) {
		memcpy(flow->out + flow->kept, data, len);
		flow->kept += len;
		flow->fd = fd;
		return (ssize_t)len;
	}
	ssize_t sent = send_now(flow, fd, data, len);

	if (sent > 0 || (sent < 0 && flow->at_once))
		return sent;
	errno = EAGAIN;
	return -1;
}

/* Read as much as there is room for. */
IN_LIBRARY static ssize_t fill(struct ku_zk_flow *flow, int fd)
{
	ssize_t n = __real_recv(fd, flow->in, sizeof(flow->in), 0);

	flow->filled = n == (ssize_t)sizeof(flow->in);
	flow->at = 0;
	flow->end = n > 0 ? (size_t)n : 0;
	return n;
}

IN_LIBRARY ssize_t ku_zk_flow_recv(struct ku_zk_flow *flow, int fd, void *data,
	size_t len)
{
	size_t some = flow->end - flow->at;

	if (some == 0 && len >= sizeof(flow->in)) {
		ssize_t n = __real_recv(fd, data, len, 0);

		flow->filled = n == (ssize_t)len;
		return n;
	}
	if (some == 0) {
		ssize_t n = fill(flow, fd);

		if (n <= 0)
			return n;
		some = (size_t)n;
	}
	if (some > len)
		some = len;
	memcpy(data, flow->in + flow->at, some);
	flow->at += some;
	return (ssize_t)some;
}
