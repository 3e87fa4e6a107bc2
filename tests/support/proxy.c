/*
 * proxy.c - the proxy's thread, and the calls that change its rules.
 *
 * The calls do their work themselves, under the lock, and then wake the
 * thread, which throws away what poll() told it if the rules have changed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4() */
#endif
#include "proxy.h"
#include "net.h"
#include "proxy_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINKS 1024
#define FIXED 2 /* descriptors polled beside those of the links */

struct proxy {
	struct sockaddr_in self;
	char address[48];
	int reserved; /* bound and never listening: keeps the port */
	int wake;
	pthread_t thread;

	pthread_mutex_t lock; /* guards all below; the innermost lock */
	struct sockaddr_in upstream;
	struct proxy_rules rules;
	struct link *links[LINKS];
	int link_count;
	int listener; /* -1 while refusing */
	int accepted;
	unsigned int changes;
	bool stop;
};

static int connect_upstream(const struct proxy *p)
{
	const struct sockaddr *a = (const struct sockaddr *)&p->upstream;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, a, sizeof(p->upstream)) < 0 && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

static void accept_one(struct proxy *p)
{
	int client = accept4(p->listener, NULL, NULL,
		SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct link *l;
	int server = -1;

	if (client < 0)
		return;
	p->accepted++;
	if (p->rules.mode != PROXY_HOLE)
		server = connect_upstream(p);
	if (p->link_count == LINKS ||
		(server < 0 && p->rules.mode != PROXY_HOLE)) {
		if (server >= 0)
			close(server);
		close(client);
		return;
	}
	l = link_new(client, server);
	if (l != NULL)
		p->links[p->link_count++] = l;
}

static int fill(const struct proxy *p, struct pollfd *fds, int *timeout_ms)
{
	*timeout_ms = -1;
	fds[0] = (struct pollfd){ p->wake, POLLIN, 0 };
	fds[1] = (struct pollfd){ p->listener, POLLIN, 0 };
	for (int i = 0; i < p->link_count; i++)
		link_want(p->links[i], &p->rules, fds + FIXED + 2 * i,
			timeout_ms);
	return FIXED + 2 * p->link_count;
}

static void step(struct proxy *p, const struct pollfd *fds)
{
	int kept = 0;
	int count = p->link_count;

	for (int i = 0; i < count; i++) {
		struct link *l = p->links[i];

		if (link_step(l, &p->rules, fds + FIXED + 2 * i))
			p->links[kept++] = l;
		else
			link_free(l);
	}
	p->link_count = kept;
	if (fds[1].revents != 0 && p->listener >= 0)
		accept_one(p);
}

static void *serve(void *arg)
{
	struct proxy *p = arg;
	struct pollfd *fds = calloc(FIXED + 2 * LINKS, sizeof(*fds));

	pthread_mutex_lock(&p->lock);
	while (fds != NULL && !p->stop) {
		unsigned int changes = p->changes;
		int timeout_ms;
		int n = fill(p, fds, &timeout_ms);
		uint64_t drain;
		int ready;

		pthread_mutex_unlock(&p->lock);
		ready = poll(fds, (nfds_t)n, timeout_ms);
		if (ready > 0 && fds[0].revents != 0 &&
			read(p->wake, &drain, sizeof(drain)) < 0)
			ready = -1;
		pthread_mutex_lock(&p->lock);
		if (ready >= 0 && changes == p->changes)
			step(p, fds);
	}
	pthread_mutex_unlock(&p->lock);
	free(fds);
	return NULL;
}

static void changed(struct proxy *p)
{
	uint64_t one = 1;

	p->changes++;
	while (write(p->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void close_links(struct proxy *p, bool all)
{
	int kept = 0;

	for (int i = 0; i < p->link_count; i++)
		if (all || link_lost(p->links[i]))
			link_free(p->links[i]);
		else
			p->links[kept++] = p->links[i];
	p->link_count = kept;
}

static void close_listener(struct proxy *p)
{
	if (p->listener < 0)
		return;
	/* A forked process may have a copy, so that after close() alone the
	   socket would go on accepting. */
	shutdown(p->listener, SHUT_RDWR);
	close(p->listener);
	p->listener = -1;
}

/* The thread must not take signals that are meant for the test. */
static int start_thread(struct proxy *p)
{
	sigset_t all;
	sigset_t old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&p->thread, NULL, serve, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err == 0 ? 0 : -1;
}

struct proxy *proxy_start(const char *ip, const char *upstream,
	enum proxy_kind kind)
{
	struct proxy *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->reserved = p->listener = p->wake = -1;
	p->rules.kind = kind;
	pthread_mutex_init(&p->lock, NULL);
	snprintf(p->address, sizeof(p->address), "%s:0", ip);
	if (net_parse(p->address, &p->self) < 0 ||
		net_parse(upstream, &p->upstream) < 0)
		goto fail;
	p->reserved = net_reserve(&p->self);
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->reserved < 0 || p->wake < 0)
		goto fail;
	p->listener = net_listen(&p->self);
	if (p->listener < 0)
		goto fail;
	snprintf(p->address, sizeof(p->address), "%s:%d", ip, proxy_port(p));
	if (start_thread(p) < 0)
		goto fail;
	return p;
fail:
	close_listener(p);
	close(p->wake);
	close(p->reserved);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return NULL;
}

void proxy_free(struct proxy *p)
{
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	changed(p);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	close_links(p, true);
	close_listener(p);
	close(p->wake);
	close(p->reserved);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

const char *proxy_address(const struct proxy *p)
{
	return p->address;
}

int proxy_port(const struct proxy *p)
{
	return ntohs(p->self.sin_port);
}

void proxy_set_mode(struct proxy *p, enum proxy_mode mode)
{
	pthread_mutex_lock(&p->lock);
	bool refuses = mode == PROXY_REFUSE || mode == PROXY_SHUT;
	p->rules.mode = mode;
	if (mode != PROXY_HOLE)
		close_links(p, mode == PROXY_REFUSE);
	if (refuses)
		close_listener(p);
	else if (p->listener < 0)
		p->listener = net_listen(&p->self);
	changed(p);
	pthread_mutex_unlock(&p->lock);
}

int proxy_turn(struct proxy *p, const char *upstream)
{
	pthread_mutex_lock(&p->lock);
	int rc = net_parse(upstream, &p->upstream);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void proxy_cut(struct proxy *p)
{
	pthread_mutex_lock(&p->lock);
	close_links(p, true);
	changed(p);
	pthread_mutex_unlock(&p->lock);
}

void proxy_set_delay(struct proxy *p, int to_server_ms, int to_client_ms)
{
	pthread_mutex_lock(&p->lock);
	p->rules.delay_ms[TO_SERVER] = to_server_ms;
	p->rules.delay_ms[TO_CLIENT] = to_client_ms;
	pthread_mutex_unlock(&p->lock);
}

void proxy_arm(struct proxy *p, enum proxy_fault fault, int op, int n)
{
	pthread_mutex_lock(&p->lock);
	p->rules.fault = fault;
	p->rules.fault_op = op;
	p->rules.fault_left = n;
	pthread_mutex_unlock(&p->lock);
}

/* Read one number under the lock. */
static int read_locked(struct proxy *p, const int *value)
{
	int v;

	pthread_mutex_lock(&p->lock);
	v = *value;
	pthread_mutex_unlock(&p->lock);
	return v;
}

int proxy_fired(struct proxy *p)
{
	return read_locked(p, &p->rules.fired);
}

int proxy_count(struct proxy *p, int op)
{
	int sum = 0;

	if (op != PROXY_ANY)
		return read_locked(p, &p->rules.counts[op - ZK_OP_MIN]);
	pthread_mutex_lock(&p->lock);
	for (int i = ZK_OP_MIN; i <= ZK_OP_MAX; i++)
		if (i != ZK_OP_PING && i != ZK_OP_CONNECT)
			sum += p->rules.counts[i - ZK_OP_MIN];
	pthread_mutex_unlock(&p->lock);
	return sum;
}

int proxy_events(struct proxy *p)
{
	return read_locked(p, &p->rules.events);
}

int proxy_accepted(struct proxy *p)
{
	return read_locked(p, &p->accepted);
}

void proxy_reset_counts(struct proxy *p)
{
	pthread_mutex_lock(&p->lock);
	memset(p->rules.counts, 0, sizeof(p->rules.counts));
	p->rules.events = 0;
	p->accepted = 0;
	pthread_mutex_unlock(&p->lock);
}

int proxy_open(struct proxy *p)
{
	return read_locked(p, &p->link_count);
}

int proxy_lost(struct proxy *p)
{
	int n = 0;

	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < p->link_count; i++)
		n += link_lost(p->links[i]);
	pthread_mutex_unlock(&p->lock);
	return n;
}
