/*
 * proxy_link.h - one connection through the proxy, and the rules it obeys.
 */
#ifndef TEST_PROXY_LINK_H
#define TEST_PROXY_LINK_H

#include "proxy.h"

#include <poll.h>

enum proxy_way { TO_SERVER, TO_CLIENT };

struct proxy_rules {
	enum proxy_kind kind;
	enum proxy_mode mode;
	int delay_ms[2]; /* by enum proxy_way */
	enum proxy_fault fault;
	int fault_op;
	int fault_left; /* requests until it happens */
	int fired;
	int counts[ZK_OP_MAX - ZK_OP_MIN + 1];
	int events;
};

struct link;

/* Take over two connected sockets; "server" is -1 if there is no upstream.
   NULL, with both closed, if memory is short. */
struct link *link_new(int client, int server);

/* Close both ends at once. */
void link_free(struct link *l);

/* Return whether something that was sent has been lost. */
bool link_lost(const struct link *l);

/* Put into fds[0] and fds[1] what to wait for, and shorten *timeout_ms to the
   time when something is due. */
void link_want(const struct link *l, const struct proxy_rules *rules,
	struct pollfd *fds, int *timeout_ms);

/* Move what can be moved.  Returns false if the link is over. */
bool link_step(struct link *l, struct proxy_rules *rules,
	const struct pollfd *fds);

#endif
