/*
 * client_fixture.h - what tests of the client share: open a client, wait for a
 * state, and record what a listener or a completion was told, and when.
 *
 * Whatever fails in here fails the test.  If KUSTOS_TEST_LOG is set in the
 * environment, the clients log to standard error.
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

/* A deadline that no call should ever reach. */
#define SOON kustos_after_ms(PATIENCE_MS)

/* Fail the test, naming both errors, unless they are the same. */
void check_err(enum kustos_err got, enum kustos_err wanted);

/* Return nanoseconds of CLOCK_BOOTTIME, the clock of leases. */
int64_t test_boot_ns(void);

/* Return options for a client of "hosts", with a log as said above. */
struct kustos_client_options client_options(const char *hosts, int timeout_ms);

/* The same, with an ACL under which nobody may write into the nodes that the
   client creates. */
struct kustos_client_options client_options_unwritable(const char *hosts,
	int timeout_ms);

/* Open a client as the options say. */
struct kustos_client *client_open_with(
	const struct kustos_client_options *options);

/* Open a client with default options.  client_connected() also waits until it
   is connected. */
struct kustos_client *client_open(const char *hosts, int timeout_ms);
struct kustos_client *client_connected(const char *hosts, int timeout_ms);

/* Wait until the client is in "state": "ms" as in test_eventually(). */
void client_wait(struct kustos_client *client, enum kustos_state state, int ms);

/* Wait until it is connected in an epoch after "epoch": "ms" likewise. */
void client_wait_epoch(struct kustos_client *client, int64_t epoch, int ms);

/* Return the client's session as it is now, or one field of it. */
struct kustos_session client_session(struct kustos_client *client);
int64_t client_session_id(struct kustos_client *client);
int64_t client_epoch(struct kustos_client *client);

/* Return whether the client is connected through the proxy "way". */
struct proxy;
bool client_is_on(struct kustos_client *client, const struct proxy *way);

/* Make a request and wait for its answer, so that the server's silence begins
   only after this. */
void client_exchange(struct kustos_client *client);

/* Return the client's statistics as they are now. */
struct kustos_client_stats client_stats(struct kustos_client *client);

/* Create a node, waiting for as long as a test may.  Returns its czxid. */
int64_t client_create(struct kustos_client *client, const char *path,
	int flags);

/* The same with a client of its own; everybody gets only these permissions. */
void client_create_with(int perms, const char *path, int flags);

/* End the client's session on the fixture's server without the client's
   knowledge. */
void client_kill_session(struct kustos_client *client);

/* Close the client properly: the server ends its session. */
void client_close(struct kustos_client *client);

/* Close the client without waiting for anything; the server may keep the
   session until it expires. */
void client_drop(struct kustos_client *client);

/* Return whether the fixture's server still has the session, which it may have
   without a connection. */
bool session_lives(int64_t id);

/* Return what the fixture's server answers to an exists request of a client
   that may not read the node.  Newer servers (3.9.3) refuse it with
   KUSTOS_ENOAUTH, older ones answer KUSTOS_OK. */
enum kustos_err answer_to_the_blind(void);

/* Send the ticket of the client's session to the process that reads "fd", and
   receive it there (child.h). */
void ticket_say(int fd, struct kustos_client *client);
void ticket_hear(int fd, struct kustos_ticket *ticket);

/*
 * Everything that a listener was told.
 */
#define RECORD_MAX 256

struct record {
	struct kustos_listener *listener;
	pthread_mutex_t mutex; /* guards the rest */
	int count; /* may exceed RECORD_MAX; the rest were not kept */
	struct {
		struct kustos_session session;
		int64_t at_ns; /* boot time at which the call began */
	} told[RECORD_MAX];
};

/* Begin to record.  record_start() also waits until the listener has been told
   the present state: a state that has changed before that is left out.  The
   memory must stay until the client is closed or record_stop() has returned. */
void record_listen(struct record *r, struct kustos_client *client);
void record_start(struct record *r, struct kustos_client *client);
void record_stop(struct record *r, struct kustos_client *client);

/* The listener itself, for tests that call it from a listener of their own. */
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
	int failed; /* how many of them had an error */
};

/* A kustos_done_fn; "arg" is a struct completions. */
void count_completion(void *arg, enum kustos_err err,
	const struct kustos_result *result);

/* Return how many there have been. */
int completions_of(const struct completions *c);

/*
 * The end of one call with a callback; there must be exactly one.
 */
struct end {
	int calls; /* read with end_calls() */
	enum kustos_err err;
};

/* A kustos_end_fn, a kustos_end_fn and so on; "arg" is a struct
   end. */
void end_told(void *arg, enum kustos_err err);
int end_calls(const struct end *end);

/* Wait for the end and return its error: "ms" as in test_eventually(). */
enum kustos_err end_wait(const struct end *end, int ms);

#endif
