/*
 * zk_st_calls.c - what libzookeeper_st calls instead of functions of the C
 * library, and of one of its own.  lib/embed has the list.
 */
#define _GNU_SOURCE
#include "zk_st_calls.h"
#include "random.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

_Thread_local struct ku_zk_flow *ku_zk_flow;

/* The section of the library's own code (lib/embed). */
#define IN_LIBRARY __attribute__((section("ku_zk_text")))

/* The names are the linker's. */
ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
ssize_t __real_recv(int fd, void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags);
int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_open(const char *path, int flags, ...);
int32_t __wrap_get_xid(void);
void __wrap_srandom(unsigned seed);
void __wrap_srand48(long seed);
long __wrap_random(void);
double __wrap_drand48(void);

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	return ku_zk_flow != NULL ? ku_zk_flow_send(ku_zk_flow, fd, data, len)
				  : __real_send(fd, data, len, flags);
}

ssize_t __wrap_recv(int fd, void *data, size_t len, int flags)
{
	return ku_zk_flow != NULL ? ku_zk_flow_recv(ku_zk_flow, fd, data, len)
				  : __real_recv(fd, data, len, flags);
}

/* It would be /dev/urandom, for seeds that nobody needs (below). */
int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	errno = ENOENT;
	return -1;
}

/* The library's socket is not for programs that the program runs (P13). */
IN_LIBRARY int __wrap_socket(int domain, int type, int protocol)
{
	if (ku_zk_flow != NULL)
		ku_zk_flow_reset(ku_zk_flow);
	return __real_socket(domain, type | SOCK_CLOEXEC, protocol);
}

/* The number of a request.  The library's own are one variable for all handles,
   without a lock, and come to those that mean a ping or credentials (P8). */
int32_t __wrap_get_xid(void)
{
	static _Atomic uint32_t count;

	return (int32_t)(atomic_fetch_add(&count, 1) % INT32_MAX) + 1;
}

/* The generators of the process are the program's (P2). */
static uint64_t any_number(void)
{
	struct ku_random random;

	ku_random_init(&random);
	return ku_random_next(&random);
}

long __wrap_random(void)
{
	return (long)(any_number() >> 33);
}

double __wrap_drand48(void)
{
	return (double)(any_number() >> 11) / (double)(UINT64_C(1) << 53);
}

void __wrap_srandom(unsigned seed)
{
	(void)seed;
}

void __wrap_srand48(long seed)
{
	(void)seed;
}
