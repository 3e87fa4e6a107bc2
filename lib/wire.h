/*
 * wire.h - requests on their way: the queue before the handle, and the table
 * of those that were sent.
 *
 * A request goes out once.  It waits here while the client is not CONNECTED,
 * or while KU_WIRE_CAP others are in flight, because too many wake-ups of the
 * ZooKeeper library's thread would break its connection.  Whatever the
 * library does, each request ends exactly once: answered, failed by the
 * library, or, if closing a handle swallowed it, by ku_wire_fail_sent().
 */
#ifndef KU_WIRE_H
#define KU_WIRE_H

#include "timer.h"
#include "zk.h"

struct kustos_client;
struct ku_request;
struct ku_slot;
struct ku_handle;

#define KU_WIRE_CAP 1024

/* A server's default limit for a frame, in bytes: it closes the connection on a
   larger one.  And the largest request that is sent, except for data that was
   in a server before. */
#define KU_FRAME_LIMIT 1048575
#define KU_REQUEST_LIMIT 1000000

/* Return the bytes that "request" takes in its frame, or a little more. */
size_t ku_request_size(const struct ku_zk_request *request);

/* The request has ended.  Called with the client locked, on any thread. */
typedef void ku_request_fn(struct ku_request *request,
	const struct ku_zk_reply *reply);

struct ku_request {		   /* a field of whatever sends it */
	struct ku_zk_request what; /* what it points to lives until the end */
	ku_request_fn *done;
	void *owner;   /* for "done" to use */
	bool internal; /* not reported to the program's hook */
	/* Set by the wire. */
	bool waiting;	/* while queued */
	int refused_rc; /* why the library refused it, until "done" is called */
	struct ku_slot *slot; /* while sent */
	struct ku_request *prev, *next;
	int64_t session_id; /* to which it was sent */
	int64_t connection; /* on which it was sent */
};

/* Return whether it is under way: queued, or sent and not answered. */
static inline bool ku_request_busy(const struct ku_request *request)
{
	return request->waiting || request->slot != NULL;
}

struct ku_wire {
	struct ku_request *first, *last; /* waiting, in order */
	size_t waiting;
	struct ku_request *refused; /* by the library, and to be ended */
	struct ku_timer refusal;    /* when they are ended */
	struct ku_slot *spare;	    /* free ones */
	uint64_t sent;		    /* how many were ever sent */
	bool kept;		    /* perhaps the handle still has some */
};

/* One handle of the ZooKeeper library, from its opening until the reaper has
   closed it, with the requests it has been given. */
struct ku_handle {
	struct kustos_client *client;
	struct ku_zk *zk;
	char *addresses; /* those that it tries (shun.h); "": not known */
	char *joined;	 /* room for them in the library's format */
	struct ku_slot *oldest, *newest; /* sent, in order */
	size_t in_flight;
	bool authenticated;	/* the credentials were given to it */
	struct ku_handle *next; /* in the reaper's list */
};

/* Send "request", or queue it.  "done" is never called from in here. */
void ku_wire_send(struct kustos_client *client, struct ku_request *request);

/* The same with a read of "path", and with a transaction: fill in what is to be
   sent. */
void ku_wire_read(struct kustos_client *client, struct ku_request *request,
	enum ku_zk_kind kind, const char *path, bool watch);
void ku_wire_multi(struct kustos_client *client, struct ku_request *request,
	const struct ku_zk_request *ops, int count);

/* Send "request" now, past the queue; the handle must exist.  Returns false,
   and the request is not sent, if the handle refuses it. */
bool ku_wire_send_now(struct kustos_client *client, struct ku_request *request);

/* If "request" was sent, ignore its answer; the struct may be sent anew. */
void ku_wire_forget(struct ku_request *request);

/* Take "request" out of the queue; "done" will not be called.  Returns false if
   it is not queued; if it was sent or refused, "done" is still to be called. */
bool ku_wire_withdraw(struct kustos_client *client, struct ku_request *request);

/* Send queued requests, as far as there is room in flight. */
void ku_wire_pump(struct kustos_client *client);

/* End all requests that were sent on "handle" with "rc".  Answers that still
   come are dropped. */
void ku_wire_fail_sent(struct ku_handle *handle, int rc);

/* "handle" is closed: nothing comes any more. */
void ku_wire_closed(struct ku_handle *handle);

/* Is a write unanswered on the present connection? */
bool ku_wire_owed(const struct kustos_client *client);

/* Return the serial number of the oldest request that is in flight, or the
   one that the next will have. */
uint64_t ku_wire_oldest(const struct kustos_client *client);

/* Return when the oldest request in flight was sent, or 0 if there is none. */
int64_t ku_wire_oldest_ns(const struct ku_handle *handle);

void ku_wire_init(struct kustos_client *client);

/* End what the library refused, without waiting for the timer. */
void ku_wire_end_refused(struct kustos_client *client);

void ku_wire_free(struct ku_wire *wire);

#endif
