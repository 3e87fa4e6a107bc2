/*
 * probe.c - ask all servers at once whether they are in service.
 */
#define _GNU_SOURCE
#include "probe.h"
#include "resolve.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An answer is about 200 bytes; the mode stands near its end. */
#define REPLY_SIZE 512

struct ku_probe_one {
	int fd; /* -1: not, or no longer, in use */
	enum ku_probe_verdict verdict;
	bool asked; /* the question was sent */
	size_t len;
	char reply[REPLY_SIZE];
};

static void settle(struct ku_probe_one *one, enum ku_probe_verdict verdict)
{
	one->verdict = verdict;
	if (one->fd >= 0)
		close(one->fd);
	one->fd = -1;
}

/* Returns 0, or "errno" if descriptors are short. */
static int begin(struct ku_probe_one *one, const struct ku_address *address)
{
	one->fd = socket(address->storage.ss_family,
		SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (one->fd < 0)
		return errno == EMFILE || errno == ENFILE ? errno : 0;
	if (connect(one->fd, (const struct sockaddr *)&address->storage,
		    address->len) &&
		errno != EINPROGRESS)
		settle(one, KU_PROBE_REFUSED);
	return 0;
}

enum kustos_err ku_probe_start(struct ku_probe *p,
	const struct ku_addresses *addresses)
{
	int n = addresses->count, error = 0, i;

	if (n > KU_PROBE_MAX)
		n = KU_PROBE_MAX;
	p->one = calloc((size_t)n + 1, sizeof(*p->one));
	if (!p->one)
		return KUSTOS_ENOMEM;
	p->count = n;
	for (i = 0; i < n; i++) {
		int short_of = begin(&p->one[i], &addresses->list[i]);

		if (short_of != 0)
			error = short_of;
	}
	errno = error;
	return error == 0 ? KUSTOS_OK : KUSTOS_ENOMEM;
}

int ku_probe_poll(const struct ku_probe *p, struct pollfd *fds)
{
	int i, n = 0;

	for (i = 0; i < p->count; i++) {
		if (p->one[i].fd < 0)
			continue;
		fds[n].fd = p->one[i].fd;
		fds[n].events = p->one[i].asked ? POLLIN : POLLOUT;
		fds[n].revents = 0;
		n++;
	}
	return n;
}

static void ask(struct ku_probe_one *one)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(one->fd, SOL_SOCKET, SO_ERROR, &error, &len) || error)
		settle(one, KU_PROBE_REFUSED);
	else if (send(one->fd, "srvr", 4, MSG_NOSIGNAL) == 4)
		one->asked = true;
	else if (errno != EAGAIN && errno != EINTR)
		settle(one, KU_PROBE_REFUSED);
}

/* A server that does not know the word, or may not answer it, does answer, and
   so is live.  A server that looks for a leader, or has none and only serves
   readers, would refuse our session. */
static enum ku_probe_verdict judge(const char *reply)
{
	static const char *const live[] = { "\nMode: leader",
		"\nMode: follower", "\nMode: standalone", "\nMode: observer",
		"not in the whitelist" };
	static const char *const not_serving[] = { "not currently serving",
		"\nMode: read-only" };
	size_t i;

	for (i = 0; i < sizeof(live) / sizeof(*live); i++)
		if (strstr(reply, live[i]))
			return KU_PROBE_LIVE;
	for (i = 0; i < sizeof(not_serving) / sizeof(*not_serving); i++)
		if (strstr(reply, not_serving[i]))
			return KU_PROBE_NOT_SERVING;
	return KU_PROBE_UNKNOWN;
}

/* A server with too many connections from this host closes ours at once. */
static void hear(struct ku_probe_one *one)
{
	size_t room = REPLY_SIZE - 1 - one->len;
	ssize_t got = recv(one->fd, one->reply + one->len, room, 0);
	enum ku_probe_verdict verdict;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		settle(one, KU_PROBE_NOT_SERVING);
		return;
	}
	one->len += (size_t)got;
	one->reply[one->len] = '\0';
	verdict = judge(one->reply);
	if (verdict != KU_PROBE_UNKNOWN)
		settle(one, verdict);
	else if (one->len == REPLY_SIZE - 1)
		settle(one, KU_PROBE_NOT_SERVING);
}

void ku_probe_step(struct ku_probe *p, const struct pollfd *fds, int count)
{
	int i, j;

	for (i = 0; i < count; i++) {
		if (!fds[i].revents || fds[i].fd < 0)
			continue;
		for (j = 0; j < p->count; j++)
			if (p->one[j].fd == fds[i].fd)
				break;
		if (j == p->count)
			continue;
		if (p->one[j].asked)
			hear(&p->one[j]);
		else
			ask(&p->one[j]);
	}
}

enum ku_probe_verdict ku_probe_verdict(const struct ku_probe *p, int i)
{
	return i < p->count ? p->one[i].verdict : KU_PROBE_UNKNOWN;
}

void ku_probe_stop(struct ku_probe *p)
{
	int i;

	for (i = 0; i < p->count; i++)
		settle(&p->one[i], KU_PROBE_SILENT);
	free(p->one);
	memset(p, 0, sizeof(*p));
}
