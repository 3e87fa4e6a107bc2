/*
 * client_fixture.h - what tests of the client share: open one, wait for a
 * state, record what a listener or a completion is told, and when.
 *
 * What cannot be done fails the test.  With KUSTOS_TEST_LOG set in the
 * environment the clients log to standard error.
 */
#ifndef TEST_CLIENT_FIXTURE_H
#define TEST_CLIENT_FIXTURE_H

#include <kustos/client.h>
#include <kustos/node.h>

#include "fixture.h"

#include <pthread.h>
#include <stdbool.h>

/* The longest that a lease may be, by the promise in <kustos/client.h>. */
#ifndef LEASE_MS
#define LEASE_MS(timeout_ms) ((timeout_ms)*2 / 3)
#endif

/* A deadline that nothing should need. */
#define SOON kustos_after_ms(PATIENCE_MS)

/* Fail unless they are the same, and name both. */
void check_err(enum kustos_err got, enum kustos_err wanted);

/* Return nanoseconds of CLOCK_BOOTTIME, the clock of leases. */
int64_t test_boot_ns(void);

/* Return options for a client of "hosts", with a log as said above. */
struct kustos_client_options client_options(const char *hosts, int timeout_ms);

/* Return the same, and nobody may write into what that client makes. */
struct kustos_client_options client_options_unwritable(const char *hosts,
	int timeout_ms);

/* Open a client as the options say. */
struct kustos_client *client_open_with(
	const struct kustos_client_options *options);

/* Open a client; and wait until it is connected. */
struct kustos_client *client_open(const char *hosts, int timeout_ms);
struct kustos_client *client_connected(const char *hosts, int timeout_ms);

/* Wait until the client is in "state": "ms" as in test_eventually(). */
void client_wait(struct kustos_client *client, enum kustos_state state, int ms);

/* Wait until it is connected in an epoch after "epoch": "ms" likewise. */
void client_wait_epoch(struct kustos_client *client, int64_t epoch, int ms);

/* Return its session as of now, or one field of that. */
struct kustos_session client_session(struct kustos_client *client);
int64_t client_session_id(struct kustos_client *client);
int64_t client_epoch(struct kustos_client *client);

/* Return whether it is connected, and by way of the proxy. */
struct proxy;
bool client_is_on(struct kustos_client *client, const struct proxy *way);

/* Have an answer now, so that all silence begins after it. */
void client_exchange(struct kustos_client *client);

/* Return its figures as of now. */
struct kustos_client_stats client_stats(struct kustos_client *client);

/* Make a node, with patience.  Returns its czxid. */
int64_t client_create(struct kustos_client *client, const char *path,
	int flags);

/* The same by a client of its own, with no more than these rights, for all. */
void client_create_with(int perms, const char *path, int flags);

/* End its session on the fixture's server, behind its back. */
void client_kill_session(struct kustos_client *client);

/* Close it, with the server told. */
void client_close(struct kustos_client *client);

/* Close it without waiting for anybody: the session may linger. */
void client_drop(struct kustos_client *client);

/* Does the fixture's server still keep the session?  It may keep a connection. */
bool session_lives(int64_t id);

/* What the fixture's server answers to who asks whether a node is there, and may not
   read it: newer ones (3.9.3) refuse, with KUSTOS_ENOAUTH, and others KUSTOS_OK. */
enum kustos_err answer_to_the_blind(void);

/* Hand the session of "client" to the process that hears "fd" (child.h). */
void ticket_say(int fd, struct kustos_client *client);
void ticket_hear(int fd, struct kustos_ticket *ticket);

/*
 * Everything that a listener was told.
 */
#define RECORD_MAX 256

struct record {
	struct kustos_listener *listener;
	pthread_mutex_t mutex; /* guards the rest */
	int count; /* of which those beyond RECORD_MAX were not kept */
	struct {
		struct kustos_session session;
		int64_t at_ns; /* boot time at which the call began */
	} told[RECORD_MAX];
};

/* Begin to record; the second waits until the state of now is told, as one that has
   changed by then would be left out.  The memory must stay until the client is
   closed or record_stop() has returned. */
void record_listen(struct record *r, struct kustos_client *client);
void record_start(struct record *r, struct kustos_client *client);
void record_stop(struct record *r, struct kustos_client *client);

/* The listener itself, for tests that call it from their own. */
void record_state(void *arg, const struct kustos_session *now);

/* Return how often "state" was told. */
int record_count(struct record *r, enum kustos_state state);

/* Return when "state" was told for the n-th time (from 1), or 0. */
int64_t record_when(struct record *r, enum kustos_state state, int n);

/*
 * Completions of asynchronous calls.
 */
struct completions {
	int calls;  /* how many there were; read with completions_of() */
	int err;    /* of the last */
	int failed; /* of them, those with an error */
};

/* A kustos_done_fn; "arg" is a struct completions. */
void count_completion(void *arg, enum kustos_err err,
	const struct kustos_result *result);

/* Return how many there have been. */
int completions_of(const struct completions *c);

/*
 * The one end of what was asked for with a callback.
 */
struct end {
	int calls; /* read with end_calls() */
	enum kustos_err err;
};

/* A kustos_latch_done_fn, a kustos_barrier_fn and so on; "arg" is a struct
   end. */
void end_told(void *arg, enum kustos_err err);
int end_calls(const struct end *end);

/* Wait for it, and return with what it came: "ms" as in test_eventually(). */
enum kustos_err end_wait(const struct end *end, int ms);

#endif
