/*
 * handle.h - one handle of the client library in the model.
 */
#ifndef SIM_HANDLE_H
#define SIM_HANDLE_H

#include "model_impl.h"

#define HANDLE_ADDRESSES_MAX 32

enum handle_state {
	HANDLE_IDLE,   /* between two attempts to connect */
	HANDLE_TRYING, /* an attempt is under way */
	HANDLE_CONNECTED,
	HANDLE_EXPIRED,
	HANDLE_AUTH_FAILED,
	HANDLE_CLOSED
};

struct handle_auth {
	struct handle_auth *next;
	struct blob *scheme;
};

struct ku_zk {
	struct ku_zk *next; /* of all handles of the model, closed ones too */
	struct model *m;
	struct model_client *machine;
	ku_zk_turn_fn *enter, *leave;
	ku_zk_event_fn *event;
	void *arg;

	enum handle_state state;
	int servers[HANDLE_ADDRESSES_MAX]; /* -1: nobody is there */
	int server_count;
	int cursor;
	int attempts;
	uint64_t generation; /* of the attempt; older events do not match */
	bool steered;	     /* asleep until a request comes (L23) */
	struct conn *conn;
	int64_t session;
	int timeout_ms;
	int64_t last_zxid;
	int64_t last_recv, last_send;
	uint64_t timer;

	struct call *calls, **calls_end; /* sent, then unsent */
	int sent;
	uint64_t call_number, done_number;
	bool unpushed; /* something was submitted since the last push */
	struct watches watches;
	struct watch *watching;
	struct handle_auth *auth;

	struct msg *deliveries, **deliveries_end;
	int64_t deliver_at;
	bool delivering;
};

/* client.c */
void handle_start_timer(struct ku_zk *zk);
void handle_try(struct ku_zk *zk, int64_t pause_ns);
void handle_abandon(struct ku_zk *zk);
void handle_drop(struct ku_zk *zk); /* at the end of the model */
void handle_send_auth(struct ku_zk *zk, struct blob *scheme);

/* deliver.c: what the library's completion thread calls, in order. */
void deliver(struct ku_zk *zk, struct msg *msg);
void deliver_state(struct ku_zk *zk, enum ku_zk_state state);
void deliver_failures(struct ku_zk *zk, int rc);
void deliver_on_close(struct ku_zk *zk);
struct call *call_take(struct ku_zk *zk, struct call *call);
void call_free(struct model *m, struct call *call);

#endif
