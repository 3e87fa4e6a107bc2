/*
 * zk_flow.h - what a handle of libzookeeper_st sends and receives, in few system
 * calls.
 *
 * The library sends a request in two calls, and reads an answer in two.  Here
 * requests are kept until they are pushed, so that those of one flight are sent
 * together; and what has arrived is read at once, and handed out.
 *
 * Threads: as for the handle (zk.h).
 */
#ifndef KU_ZK_FLOW_H
#define KU_ZK_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define KU_ZK_FLOW_ROOM 16384

struct ku_zk_flow {
	int fd;		/* that of the bytes in "out" */
	bool at_once;	/* nothing is kept, and failures are told */
	bool stuck;	/* the socket had no room since this was unset */
	bool filled;	/* the last read filled the room: there may be more */
	size_t kept;	/* in "out" */
	size_t at, end; /* what is left in "in" */
	char out[KU_ZK_FLOW_ROOM];
	char in[KU_ZK_FLOW_ROOM];
};

/* There is another connection. */
void ku_zk_flow_reset(struct ku_zk_flow *flow);

/* As send() and recv() of a socket that does not block.  If sending fails, the
   connection is broken, and the caller is told that there is no room: in a
   request the library would close the connection without an event, and forget
   those who wait for answers.  Reading then meets the end. */
ssize_t ku_zk_flow_send(struct ku_zk_flow *flow, int fd, const void *data,
	size_t len);
ssize_t ku_zk_flow_recv(struct ku_zk_flow *flow, int fd, void *data,
	size_t len);

/* Send what is kept, as far as there is room.  Returns whether all is sent. */
bool ku_zk_flow_push(struct ku_zk_flow *flow);

/* Return whether a read would find something, as far as is known. */
static inline bool ku_zk_flow_has(const struct ku_zk_flow *flow)
{
	return flow->at < flow->end || flow->filled;
}

#endif
