/*
 * net.c - plain sockets to a server on this machine.
 *
 * read() and sendmsg() are used on purpose: the injecting archive replaces
 * send() and recv(), and the tools of the test must not be their victims.
 */
#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WORD_TIMEOUT_MS 5000
#define PATIENCE_MS 200 /* with a server that was just started */

int64_t test_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t test_now_ms(void)
{
	return test_now_us() / 1000;
}

void test_pause_1ms(void)
{
	struct timespec t = { 0, 1000000 };

	nanosleep(&t, NULL);
}

int net_parse(const char *address, struct sockaddr_in *out)
{
	const char *colon = strrchr(address, ':');
	char ip[INET_ADDRSTRLEN];
	size_t len;

	if (colon == NULL || (len = (size_t)(colon - address)) >= sizeof(ip))
		return -1;
	memcpy(ip, address, len);
	ip[len] = '\0';
	memset(out, 0, sizeof(*out));
	out->sin_family = AF_INET;
	out->sin_port = htons((uint16_t)atoi(colon + 1));
	return inet_pton(AF_INET, ip, &out->sin_addr) == 1 ? 0 : -1;
}

int net_reserve(struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	/* Set the flag after the bind, which is to find a port that is really
	   free. */
	if (bind(fd, (struct sockaddr *)a, sizeof(*a)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		getsockname(fd, (struct sockaddr *)a, &len) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int net_listen(const struct sockaddr_in *a)
{
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 ||
		listen(fd, 512) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int net_connect(const char *address, int timeout_ms)
{
	struct timeval tv = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
	struct sockaddr_in a;
	int fd;

	if (net_parse(address, &a) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int net_read(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len > 0) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t net_send(int fd, const void *buf, size_t len)
{
	struct iovec part = { (void *)(uintptr_t)buf, len };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

int net_write(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len > 0) {
		ssize_t n = net_send(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static size_t ask(const char *address, const char *word, int timeout_ms,
	char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;
	int fd;

	buf[0] = '\0';
	fd = net_connect(address, timeout_ms);
	if (fd < 0)
		return 0;
	if (net_write(fd, word, 4) == 0)
		while (len < size - 1 &&
			(n = read(fd, buf + len, size - 1 - len)) > 0)
			len += (size_t)n;
	buf[len] = '\0';
	close(fd);
	return len;
}

size_t fourletter(const char *address, const char *word, char *buf, size_t size)
{
	return ask(address, word, WORD_TIMEOUT_MS, buf, size);
}

bool fourletter_serves(const char *address, int64_t begun_ms)
{
	int64_t patience = PATIENCE_MS + test_now_ms() - begun_ms;
	char text[4096];

	if (patience > WORD_TIMEOUT_MS)
		patience = WORD_TIMEOUT_MS;
	return ask(address, "srvr", (int)patience, text, sizeof(text)) > 0 &&
		strstr(text, "Mode:") != NULL;
}

/* Does the server answer, and does its answer contain the text, or not contain
   it? */
static bool answers(const char *address, const char *word, const char *text,
	bool with)
{
	size_t size = 1 << 20;
	char *buf = malloc(size);
	bool does;

	if (buf == NULL)
		return false;
	does = fourletter(address, word, buf, size) > 0 &&
		(strstr(buf, text) != NULL) == with;
	free(buf);
	return does;
}

bool fourletter_has(const char *address, const char *word, const char *text)
{
	return answers(address, word, text, true);
}

bool fourletter_lacks(const char *address, const char *word, const char *text)
{
	return answers(address, word, text, false);
}
