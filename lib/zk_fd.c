/*
 * zk_fd.c - find out which of the process's sockets belongs to a handle.
 */
#define _GNU_SOURCE
#include "zk_fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The smallest request is a length, a header of two numbers and a path. */
#define REQUEST_MIN 16

static bool same_address(const struct sockaddr_storage *a,
	const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET) {
		const struct sockaddr_in *x = (const void *)a;
		const struct sockaddr_in *y = (const void *)b;

		return x->sin_port == y->sin_port &&
			x->sin_addr.s_addr == y->sin_addr.s_addr;
	}
	if (a->ss_family == AF_INET6) {
		const struct sockaddr_in6 *x = (const void *)a;
		const struct sockaddr_in6 *y = (const void *)b;

		return x->sin6_port == y->sin6_port &&
			x->sin6_scope_id == y->sin6_scope_id &&
			!memcmp(&x->sin6_addr, &y->sin6_addr,
				sizeof(x->sin6_addr));
	}
	return false;
}

/* Read how many bytes the peer has acknowledged.  Unlike the time of the last
   transmission this does not move when lost data is sent again. */
static bool acked_bytes(int fd, uint64_t *out)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return false;
	if (len < offsetof(struct tcp_info, tcpi_bytes_acked) +
			sizeof(info.tcpi_bytes_acked))
		return false;
	*out = info.tcpi_bytes_acked;
	return true;
}

static bool connected_to(int fd, const struct sockaddr_storage *peer)
{
	struct sockaddr_storage there = { 0 };
	socklen_t len = sizeof(there);
	int protocol;
	socklen_t protocol_len = sizeof(protocol);

	return !getpeername(fd, (struct sockaddr *)&there, &len) &&
		same_address(&there, peer) &&
		!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol,
			&protocol_len) &&
		protocol == IPPROTO_TCP;
}

/* The number of a descriptor is soon given to another file. */
static bool cookie_of(int fd, uint64_t *out)
{
	socklen_t len = sizeof(*out);

	return !getsockopt(fd, SOL_SOCKET, SO_COOKIE, out, &len);
}

static bool same_socket(int fd, const struct ku_zk_fd_candidate *c)
{
	uint64_t cookie;

	return cookie_of(fd, &cookie) && cookie == c->cookie;
}

void ku_zk_fd_reset(struct ku_zk_fd *f)
{
	memset(&f->peer, 0, sizeof(f->peer));
	f->count = 0;
	f->asking = false;
}

static bool add_candidate(struct ku_zk_fd *f, int fd)
{
	uint64_t cookie;

	if (!connected_to(fd, &f->peer) || !cookie_of(fd, &cookie))
		return true;
	if (f->count == KU_ZK_FD_MAX)
		return false;
	f->candidates[f->count].fd = fd;
	f->candidates[f->count].cookie = cookie;
	f->count++;
	return true;
}

/* Find the sockets that are connected to the peer.  Returns false if they
   cannot be listed, or are too many. */
static bool collect(struct ku_zk_fd *f)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	bool room = true;

	f->count = 0;
	if (!dir)
		return false;
	while (room && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			room = add_candidate(f, atoi(entry->d_name));
	closedir(dir);
	if (!room)
		f->count = 0;
	return room;
}

static bool scan(struct ku_zk_fd *f, const struct sockaddr *peer)
{
	ku_zk_fd_reset(f);
	if (peer->sa_family == AF_INET)
		memcpy(&f->peer, peer, sizeof(struct sockaddr_in));
	else if (peer->sa_family == AF_INET6)
		memcpy(&f->peer, peer, sizeof(struct sockaddr_in6));
	else
		return false;
	return collect(f);
}

void ku_zk_fd_scan(struct ku_zk_fd *f, const struct sockaddr *peer)
{
	(void)scan(f, peer);
}

bool ku_zk_fd_connected(const struct sockaddr *peer)
{
	struct ku_zk_fd f;

	return !scan(&f, peer) || f.count > 0;
}

bool ku_zk_fd_begin(struct ku_zk_fd *f)
{
	int i;

	if (f->asking || f->count < 2)
		return false;
	for (i = 0; i < f->count; i++)
		if (!acked_bytes(f->candidates[i].fd, &f->candidates[i].acked))
			f->candidates[i].acked = UINT64_MAX;
	f->asking = true;
	return true;
}

void ku_zk_fd_end(struct ku_zk_fd *f)
{
	int i, kept = 0;

	if (!f->asking)
		return;
	f->asking = false;
	for (i = 0; i < f->count; i++) {
		struct ku_zk_fd_candidate c = f->candidates[i];
		uint64_t acked;

		if (same_socket(c.fd, &c) && acked_bytes(c.fd, &acked) &&
			acked > c.acked && acked - c.acked >= REQUEST_MIN)
			f->candidates[kept++] = c;
	}
	f->count = kept;
}

void ku_zk_fd_give_up(struct ku_zk_fd *f)
{
	f->asking = false;
}

/* The check and the shutdown happen on a duplicate: the library's thread may
   close its descriptor at any moment, and the number may then be given to a
   socket of the program, but a duplicate stays what it was. */
bool ku_zk_fd_shutdown(struct ku_zk_fd *f)
{
	bool done = false;
	int fd;

	if (f->count == 0 && f->peer.ss_family != AF_UNSPEC)
		(void)collect(f);
	if (f->count != 1)
		return false;
	fd = fcntl(f->candidates[0].fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (same_socket(fd, &f->candidates[0]) && connected_to(fd, &f->peer))
		done = !shutdown(fd, SHUT_RDWR);
	close(fd);
	return done;
}
