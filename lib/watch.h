/*
 * watch.h - who waits for which event of which node.
 *
 * ZooKeeper's C library calls every distinct watcher for every session event,
 * on its only input thread.  So it is given one watcher for everything, and
 * this table, sorted by path, finds whom an event concerns.
 *
 * A watch is one-shot: when it fires it is off.  It also fires, with
 * KU_WATCH_GONE, when the handle that carried it is closed.
 */
#ifndef KU_WATCH_H
#define KU_WATCH_H

#include "zk.h"

struct kustos_client;
struct ku_watch;
struct ku_watch_entry;

enum ku_watch_event {
	KU_WATCH_CREATED,
	KU_WATCH_DELETED,
	KU_WATCH_CHANGED,
	KU_WATCH_CHILDREN,
	KU_WATCH_GONE /* the watch is gone, nothing is known of the node */
};

/* Called with the client locked. */
typedef void ku_watch_fn(struct ku_watch *watch, enum ku_watch_event event);

/* How long after the grant the node of a hold is watched, if it was not before.
   Most holds are shorter, and are spared the request. */
#define KU_HELD_WATCH_MS 10

struct ku_watch { /* a field of whatever waits */
	ku_watch_fn *fn;
	struct ku_watch_entry *entry; /* NULL = off */
	struct ku_watch *prev, *next;
};

struct ku_watches {
	void *tree; /* of struct ku_watch_entry, by kind and path (tsearch) */
	struct ku_watch_entry *entries; /* all of them */
	bool refused; /* the server was told to drop one, and has not */
};

/* Put "watch" on "path", a full path, before the read that sets it on the
   server is sent.  Returns KUSTOS_OK; KUSTOS_ELIMIT if the paths watched would
   not fit the one frame in which a reconnect must send them; KUSTOS_ENOMEM. */
enum kustos_err ku_watch_add(struct kustos_client *client,
	struct ku_watch *watch, enum ku_zk_watch_kind kind, const char *path);

/* Take "watch" off; harmless if it is off.  The server is told if nobody else
   watches the node. */
void ku_watch_remove(struct kustos_client *client, struct ku_watch *watch);

/* "read" has succeeded, which may have set "watch".  If that is off, the event
   of an older watch has taken it off here since, but not at the server: put it
   on again.  But not while another caller, which knew of no other watcher, has
   the server's watch removed behind the read.  Returns whether it is on. */
bool ku_watch_keep(struct kustos_client *client, struct ku_watch *watch,
	const struct ku_zk_request *read);

/* The same, but nobody wants the watch any more: take it off. */
void ku_watch_take_back(struct kustos_client *client, struct ku_watch *watch,
	const struct ku_zk_request *read);

/* Return after how long to read again what is watched, as a watch may be lost
   without notice: a server that is short of room does not set watches again,
   and the library does not check whether it has.  This is "least_ms", plus up
   to as long again, so that a fleet does not read at once. */
int64_t ku_watch_doubt_ms(struct kustos_client *client, int64_t least_ms);

/* Is the server being told that nobody watches the node?  A read that was sent
   before that leaves no watch. */
bool ku_watch_is_ending(struct kustos_client *client,
	enum ku_zk_watch_kind kind, const char *path);

/* The read failed, so the server did not set the watch: forget it.  If nobody
   else watches the node, but the server may still have a watch that was given
   up, tell the server. */
void ku_watch_failed(struct kustos_client *client, struct ku_watch *watch);

/* Take "watch" off without telling the server: we are about to delete the node,
   and that event will clear the server's side. */
void ku_watch_forget(struct ku_watch *watch);

/* The read that was to watch "path" failed, after its watch was taken off. */
void ku_watch_unset(struct kustos_client *client, enum ku_zk_watch_kind kind,
	const char *path);

/* Fire the watches that "event" concerns. */
void ku_watch_event(struct kustos_client *client, enum ku_zk_event event,
	const char *path);

/* Connected: tell the server of watches that were removed meanwhile. */
void ku_watch_tidy(struct kustos_client *client);

/* The server answers: tell it again of the watches that it did not take off
   because it had too many requests. */
void ku_watch_insist(struct kustos_client *client);

/* The handle is closed: fire all with KU_WATCH_GONE. */
void ku_watch_clear(struct kustos_client *client);

#endif
