/*
 * raw_link.h - a session on a bare socket: requests are put together, sent in one
 * flight, and answered in their order.
 *
 * The kind of a request says which answers are allowed; any other answer is a
 * failure.  All functions that return an int return 0, or -1 on failure.  A
 * function that puts a request cannot fail, but the flight that the request is
 * part of may.
 */
#ifndef BENCH_RAW_LINK_H
#define BENCH_RAW_LINK_H

#include "support/raw_conn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked: the xid of its request. */
enum link_kind {
	LINK_EVENT = -1, /* an event of a watch */
	LINK_NEW = 1,	 /* make a node */
	LINK_PARENT,	 /* the same, unless it is there */
	LINK_DELETE,
	LINK_LOOK, /* is it there? */
	LINK_LIST,
	LINK_DEED /* a transaction */
};

enum link_mode {
	LINK_PERSISTENT = 0,
	LINK_EPHEMERAL = 1,
	LINK_SEQUENTIAL = 2,
	LINK_CONTAINER = 4
};

enum link_event { LINK_CREATED = 1, LINK_DELETED = 2 };

#define LINK_PATH_SIZE 224

struct link {
	int fd;
	struct raw_out out; /* requests of the next flight */
	int due;	    /* answers that are not here yet */
};

struct link_answer {
	enum link_kind kind;
	int64_t zxid;
	bool there;		   /* LINK_LOOK */
	int event;		   /* LINK_EVENT */
	char path[LINK_PATH_SIZE]; /* LINK_NEW, LINK_EVENT */
	int children;		   /* LINK_LIST */
	int64_t changed; /* the same: zxid of the last change of these */
};

int link_open(struct link *l, const char *hosts);

/* "l" may be closed already (its "fd" is -1), but not be all zero. */
void link_close(struct link *l);

/* If "data" is NULL an address is stored, as recipes do.  The second makes a
   container, with a LINK_PARENT. */
void link_put_new(struct link *l, const char *path, const char *data, int mode);
void link_put_parent(struct link *l, const char *path);

/* The same for a container that is empty now and then, which a server would
   delete: it gets a child that keeps it.  The keeper goes with the session, and
   is the first child by name. */
#define LINK_KEEPER "-keeper"
void link_put_folder(struct link *l, const char *path);
void link_put_delete(struct link *l, const char *path);
void link_put_list(struct link *l, const char *path);

/* Look whether the node is there.  A watch is left only if it is. */
void link_put_look(struct link *l, const char *path, bool watch);

/* The same with a watch in any case. */
void link_put_wait(struct link *l, const char *path);

/* A transaction: what is put between its begin and its end is done all or not
   at all. */
void link_deed_begin(struct link *l);
void link_deed_new(struct link *l, const char *path, const char *data,
	size_t len, int mode);
void link_deed_set(struct link *l, const char *path, const char *data,
	size_t len, int version);
void link_deed_delete(struct link *l, const char *path, int version);
void link_deed_end(struct link *l);

/* Send what was put. */
int link_flight(struct link *l);

/* Read one answer or event. */
int link_hear(struct link *l, struct link_answer *answer);

/* Send what was put, and wait for all that is due: one round trip.  "answers" takes
   them in their order, or is NULL.  An event is a failure here. */
int link_trip(struct link *l, struct link_answer *answers);

/* List the children by name, in one round trip; *names is freed in any case. */
int link_names(struct link *l, const char *path, char ***names, int *count);
void link_free_names(char **names, int count);

#endif
