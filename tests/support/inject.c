/*
 * inject.c - find out who calls, and the faults that do not concern frames.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "inject.h"
#include "inject_impl.h"
#include "net.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CLOCKS 16

/* Set before main(), constant after. */
static uintptr_t zookeeper_start;
static uintptr_t zookeeper_end;

static int resolver_rc;
static int resolver_delay_ms;
static int resolver_calls;
static int names_calls;
static int64_t names_mean = -1; /* address << 16 | port; 0: none, -1: off */
static int connect_errno;
static int threads_left[2]; /* by caller; 0 = disarmed */
static int64_t jump_ms[CLOCKS];

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define STORE(x, v) __atomic_store_n(&(x), v, __ATOMIC_SEQ_CST)

/* Map the whole of "file", for good. */
static const void *map_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	void *at = size <= 0
		? MAP_FAILED
		: mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	return at != MAP_FAILED ? at : NULL;
}

/* A library of its own: its code is a segment. */
static int find_segment(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || (h->p_flags & PF_X) == 0)
			continue;
		zookeeper_start = info->dlpi_addr + h->p_vaddr;
		zookeeper_end = zookeeper_start + h->p_memsz;
	}
	return 1;
}

/* Or a section of a program or library, where lib/embed put it. */
static int find_section(const struct dl_phdr_info *info, const char *file)
{
	const ElfW(Ehdr) *e = map_file(file);

	if (e == NULL)
		return 0;
	const char *at = (const char *)e;
	const ElfW(Shdr) *sections = (const void *)(at + e->e_shoff);
	const char *names = at + sections[e->e_shstrndx].sh_offset;

	for (int i = 0; i < e->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, "ku_zk_text") != 0)
			continue;
		zookeeper_start = info->dlpi_addr + sections[i].sh_addr;
		zookeeper_end = zookeeper_start + sections[i].sh_size;
	}
	return zookeeper_end != 0;
}

static int find_zookeeper(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name;

	(void)size;
	(void)arg;
	if (strstr(name, "libzookeeper") != NULL)
		return find_segment(info);
	if (name[0] == '\0')
		return find_section(info, "/proc/self/exe");
	return strstr(name, "libkustos") != NULL && find_section(info, name);
}

static void find_callers(void) __attribute__((constructor));
static void find_callers(void)
{
	dl_iterate_phdr(find_zookeeper, NULL);
	inject_frames_share();
	inject_allocs_thread();
}

INJECT_UNCHECKED enum inject_caller inject_caller_at(const void *address)
{
	uintptr_t a = (uintptr_t)address;

	return a >= zookeeper_start && a < zookeeper_end ? INJECT_ZOOKEEPER
							 : INJECT_PROGRAM;
}

void inject_reset(void)
{
	inject_frames_reset();
	inject_allocs_reset();
	STORE(resolver_rc, 0);
	STORE(resolver_delay_ms, 0);
	STORE(resolver_calls, 0);
	STORE(names_calls, 0);
	inject_names(NULL);
	STORE(connect_errno, 0);
	STORE(threads_left[INJECT_ZOOKEEPER], 0);
	STORE(threads_left[INJECT_PROGRAM], 0);
	for (int i = 0; i < CLOCKS; i++)
		STORE(jump_ms[i], 0);
}

void inject_resolver(int rc, int delay_ms)
{
	STORE(resolver_rc, rc);
	STORE(resolver_delay_ms, delay_ms);
}

int inject_resolver_calls(void)
{
	return LOAD(resolver_calls);
}

void inject_names(const char *address)
{
	struct sockaddr_in a;

	if (address == NULL)
		STORE(names_mean, -1);
	else if (net_parse(address, &a) < 0)
		STORE(names_mean, 0);
	else
		STORE(names_mean,
			(int64_t)ntohl(a.sin_addr.s_addr) << 16 |
				ntohs(a.sin_port));
}

int inject_names_calls(void)
{
	return LOAD(names_calls);
}

static bool is_name(const char *node, const struct addrinfo *hints)
{
	struct in6_addr a;

	return node != NULL && inet_pton(AF_INET, node, &a) != 1 &&
		inet_pton(AF_INET6, node, &a) != 1 &&
		(hints == NULL || (hints->ai_flags & AI_NUMERICHOST) == 0);
}

/* Replace "node" and "service" by the address that inject_names() set.  Returns
   false if no name is to be resolved. */
static bool translate(const char **node, const char **service, char text[32])
{
	int64_t meaning = LOAD(names_mean);

	if (meaning > 0) {
		struct in_addr a = { htonl((uint32_t)(meaning >> 16)) };

		inet_ntop(AF_INET, &a, text, INET_ADDRSTRLEN);
		snprintf(text + INET_ADDRSTRLEN, 8, "%d",
			(int)(meaning & 0xffff));
		*node = text;
		*service = text + INET_ADDRSTRLEN;
	}
	return meaning != 0;
}

INJECTED int getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **out)
{
	static int (*real)(const char *, const char *, const struct addrinfo *,
		struct addrinfo **);
	int delay = LOAD(resolver_delay_ms);
	struct timespec t = { delay / 1000, delay % 1000 * 1000000L };
	bool name = is_name(node, hints);
	char text[32];

	INJECT_REAL(real, "getaddrinfo");
	__atomic_add_fetch(&resolver_calls, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&names_calls, name, __ATOMIC_SEQ_CST);
	if (!name) /* no resolver is asked */
		return real(node, service, hints, out);
	if (delay > 0)
		nanosleep(&t, NULL);
	if (LOAD(resolver_rc) != 0)
		return LOAD(resolver_rc);
	if (!translate(&node, &service, text))
		return EAI_AGAIN;
	return real(node, service, hints, out);
}

void inject_connect(int err)
{
	STORE(connect_errno, err);
}

INJECTED int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	static int (*real)(int, const struct sockaddr *, socklen_t);

	INJECT_REAL(real, "connect");
	if (INJECT_CALLER() == INJECT_ZOOKEEPER) {
		inject_frames_begin(fd);
		if (LOAD(connect_errno) != 0) {
			errno = LOAD(connect_errno);
			return -1;
		}
	}
	return real(fd, addr, len);
}

void inject_clock(clockid_t id, int64_t by_ms)
{
	if (id >= 0 && id < CLOCKS)
		STORE(jump_ms[id], by_ms);
}

INJECTED int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	int64_t ns;
	int rc;

	INJECT_REAL(real, "clock_gettime");
	rc = real(id, t);
	if (rc != 0 || id < 0 || id >= CLOCKS || LOAD(jump_ms[id]) == 0 ||
		INJECT_CALLER() == INJECT_ZOOKEEPER)
		return rc;
	ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec +
		LOAD(jump_ms[id]) * INT64_C(1000000);
	t->tv_sec = ns / INT64_C(1000000000);
	t->tv_nsec = ns % INT64_C(1000000000);
	return 0;
}

/* Only Kustos has such timers, and sets them by the boot-time clock.
   inject_clock() may have moved that clock for Kustos, so translate its time to
   that of the real clock. */
INJECTED int timerfd_settime(int fd, int flags, const struct itimerspec *when,
	struct itimerspec *old)
{
	static int (*real)(int, int, const struct itimerspec *,
		struct itimerspec *);
	struct itimerspec moved = *when;
	int64_t jump = LOAD(jump_ms[CLOCK_BOOTTIME]) / 1000;

	INJECT_REAL(real, "timerfd_settime");
	if ((flags & TFD_TIMER_ABSTIME) != 0 && moved.it_value.tv_sec != 0) {
		moved.it_value.tv_sec -= jump;
		if (moved.it_value.tv_sec < 1)
			moved.it_value.tv_sec = 1; /* due long ago */
	}
	return real(fd, flags, &moved, old);
}

void inject_thread(enum inject_caller caller, int n)
{
	STORE(threads_left[caller], n);
}

struct start {
	void *(*fn)(void *);
	void *arg;
};

static void *thread_main(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	inject_allocs_thread();
	return start.fn(start.arg);
}

INJECTED int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
	void *(*fn)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *,
		void *(*)(void *), void *);
	int *left = &threads_left[INJECT_CALLER()];
	struct start *start;
	int rc;

	INJECT_REAL(real, "pthread_create");
	if (LOAD(*left) < 0 ||
		(LOAD(*left) > 0 &&
			__atomic_sub_fetch(left, 1, __ATOMIC_SEQ_CST) == 0))
		return EAGAIN;
	start = inject_own_malloc(sizeof(*start));
	if (start == NULL)
		return EAGAIN;
	start->fn = fn;
	start->arg = arg;
	rc = real(thread, attr, thread_main, start);
	if (rc != 0)
		free(start);
	return rc;
}
