/*
 * raw.h - a tiny ZooKeeper client of its own, to look at the server while the
 * client under test is broken, and to change things behind its back.
 *
 * Results are ZooKeeper's error numbers: 0, or -101 for "no node" and so on;
 * RAW_BROKEN if the server could not be asked.
 *
 * An ensemble's followers may answer from the past: sync first where that
 * matters.
 *
 * Threads: one at a time for each session.
 */
#ifndef TEST_RAW_H
#define TEST_RAW_H

#include <stddef.h>
#include <stdint.h>

#define RAW_BROKEN (-4)
#define RAW_NONODE (-101)
#define RAW_NOAUTH (-102)
#define RAW_BADVERSION (-103)
#define RAW_NODEEXISTS (-110)
#define RAW_NOTEMPTY (-111)

enum raw_mode {
	RAW_PERSISTENT = 0,
	RAW_EPHEMERAL = 1,
	RAW_SEQUENTIAL = 2,
	RAW_EPHEMERAL_SEQUENTIAL = 3,
	RAW_CONTAINER = 4
};

struct raw_stat {
	int64_t czxid, mzxid, ctime_ms, mtime_ms;
	int32_t version, cversion, aversion;
	int64_t ephemeral_owner;
	int32_t data_length, num_children;
	int64_t pzxid;
};

struct raw_names {
	int count;
	char **names;
};

/* One request each, in a session that ends with it.  "address" is "ip:port".
   NULL is allowed for "stat", "data" (a null datum) and "made". */
int raw_create(const char *address, const char *path, const char *data);
int raw_delete(const char *address, const char *path);
int raw_set(const char *address, const char *path, const char *data);
int raw_exists(const char *address, const char *path, struct raw_stat *stat);

/* The caller frees the names. */
int raw_children(const char *address, const char *path,
	struct raw_names *names);
void raw_names_free(struct raw_names *names);

/* Return how many children there are, or the error. */
int raw_count_children(const char *address, const char *path);

/* Delete the node and all below it; that there is none is no error. */
int raw_delete_tree(const char *address, const char *path);

/* A session that lasts. */
struct raw;

/* Open one; NULL if the server does not take it. */
struct raw *raw_open(const char *address, int session_ms);

/* Close the session and the connection. */
void raw_close(struct raw *raw);

/* Close the connection only: the session expires in its time. */
void raw_abandon(struct raw *raw);

int64_t raw_session(const struct raw *raw);

/* Wait only so long for each answer from now on; 30 s at first. */
void raw_set_patience(struct raw *raw, int ms);

/* Return how many answers and other messages came that no call has returned.  A
   server answers in order.  So an answer before which nothing was passed over
   proves that the answers to earlier requests are missing, and not just
   late. */
int raw_passed_over(const struct raw *raw);

/* "made" gets the path of a sequential node; "size" is the size of that
   buffer. */
int raw_do_create(struct raw *raw, const char *path, const char *data,
	enum raw_mode mode, char *made, size_t size);
int raw_do_delete(struct raw *raw, const char *path, int version);
int raw_do_set(struct raw *raw, const char *path, const char *data,
	int version);
int raw_do_exists(struct raw *raw, const char *path, struct raw_stat *stat);
int raw_do_get(struct raw *raw, const char *path, char *data, size_t size,
	struct raw_stat *stat);
int raw_do_children(struct raw *raw, const char *path, struct raw_names *names);
int raw_do_sync(struct raw *raw, const char *path);
int raw_do_ping(struct raw *raw);

#endif
