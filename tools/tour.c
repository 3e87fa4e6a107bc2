/*
 * tour.c - a walk through what the client does when things go wrong.
 *
 * Starts a ZooKeeper server of its own, puts a proxy before it, and shows one
 * client living through a late server, a cut, a lost answer, a silent network
 * and an expired session.  Each station says what was expected of it; the exit
 * code is 0 only if all of them held.
 */

#include <kustos/client.h>
#include <kustos/node.h>

#include "support/net.h"
#include "support/proxy.h"
#include "support/raw.h"
#include "support/rawkill.h"
#include "support/server.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 3000
#define PATIENCE_MS 15000

static int64_t start_ms;
static int failures;
static atomic_int times_lost;

static kustos_deadline soon(void)
{
	return kustos_after_ms(PATIENCE_MS);
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line, from whichever thread. */
static void say(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	printf("%7.3f s  %s\n", (double)(test_now_ms() - start_ms) / 1000,
		line);
	fflush(stdout);
}

static void station(const char *what)
{
	printf("\n%s\n", what);
	fflush(stdout);
}

static void expect(bool held, const char *what)
{
	say("  %s  %s", held ? "yes" : "NO ", what);
	if (!held)
		failures++;
}

static void show_state(void *arg, const struct kustos_session *now)
{
	(void)arg;
	if (now->state == KUSTOS_LOST)
		atomic_fetch_add(&times_lost, 1);
	say("    -> %-10s session 0x%" PRIx64 ", epoch %" PRId64,
		kustos_state_name(now->state), (uint64_t)now->session_id,
		now->epoch);
}

static bool wait_state(struct kustos_client *client, enum kustos_state state)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (kustos_client_state(client) != state) {
		if (test_now_ms() > end)
			return false;
		test_pause_1ms();
	}
	return true;
}

static struct kustos_session session_of(struct kustos_client *client)
{
	struct kustos_session session = { 0 };

	(void)kustos_client_session(client, &session);
	return session;
}

static bool connected(struct kustos_client *client)
{
	return kustos_client_wait_connected(client, soon(), NULL) == KUSTOS_OK;
}

static bool make_member(struct kustos_client *client, char **path)
{
	return kustos_create(client, "/tour/member-", "me", 2,
		       KUSTOS_EPHEMERAL | KUSTOS_SEQUENTIAL | KUSTOS_PROTECTED |
			       KUSTOS_PARENTS,
		       soon(), NULL, path, NULL) == KUSTOS_OK;
}

static void late_server(struct kustos_client *client, struct server *server)
{
	station("1. The client was opened before any server is up.");
	expect(kustos_client_state(client) == KUSTOS_CONNECTING,
		"it waits in the background");
	expect(server_restart(server) == 0 && connected(client),
		"it connects by itself once the server answers");
}

static void cut(struct kustos_client *client, struct proxy *proxy,
	const char *member)
{
	int64_t id = session_of(client).session_id;

	station("2. The connection is cut.");
	proxy_cut(proxy);
	expect(wait_state(client, KUSTOS_SUSPENDED) ||
			kustos_client_state(client) == KUSTOS_CONNECTED,
		"the state says so");
	expect(connected(client) && session_of(client).session_id == id,
		"it is back in the same session");
	expect(kustos_exists(client, member, soon(), NULL, NULL) == KUSTOS_OK,
		"its ephemeral node is still there");
}

static void lost_answer(struct kustos_client *client, struct proxy *proxy,
	const char *address)
{
	char *path = NULL;

	station("3. A node is made, and the answer is lost on the way.");
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	expect(make_member(client, &path),
		"the creation succeeds all the same");
	expect(proxy_fired(proxy) == 1, "the answer really was lost");
	expect(raw_count_children(address, "/tour") == 2,
		"there is one node of it, not two");
	kustos_free(path);
}

static void silence(struct kustos_client *client, struct proxy *proxy,
	const char *address, const char *member)
{
	int64_t begin = test_now_ms();

	station("4. The network swallows everything; the session timeout is 3 "
		"s.");
	proxy_set_mode(proxy, PROXY_HOLE);
	expect(wait_state(client, KUSTOS_LOST), "LOST, without asking anybody");
	say("       %" PRId64 " ms after the silence began",
		test_now_ms() - begin);
	expect(raw_exists(address, member, NULL) == 0,
		"before the server gave the session up");
	proxy_set_mode(proxy, PROXY_PASS);
	expect(connected(client), "it is back when the network is");
}

static void expiry(struct kustos_client *client, const char *address)
{
	struct kustos_session before = session_of(client);

	station("5. The session is ended behind its back.");
	expect(raw_kill_session(address, before.session_id) == 0,
		"the server has forgotten it");
	int64_t end = test_now_ms() + PATIENCE_MS;
	while (session_of(client).epoch == before.epoch && test_now_ms() < end)
		test_pause_1ms();
	struct kustos_session now = session_of(client);
	expect(now.epoch == before.epoch + 1 &&
			now.session_id != before.session_id,
		"a new session began by itself, in a new epoch");
	expect(raw_count_children(address, "/tour") == 0,
		"nothing of the old one is left");
}

static void figures(struct kustos_client *client)
{
	struct kustos_client_stats s = KUSTOS_CLIENT_STATS_INIT;

	station("6. Two thousand reads, to see how long one takes.");
	for (int i = 0; i < 2000; i++)
		if (kustos_exists(client, "/tour", soon(), NULL, NULL) !=
			KUSTOS_OK)
			failures++;
	if (kustos_client_stats(client, &s) != KUSTOS_OK)
		failures++;
	say("  requests: %" PRIu64 " answered, %" PRIu64 " failed, %" PRIu64
	    " tried again",
		s.answered, s.failed, s.retried);
	say("  an answer takes %" PRIu64 " us (median), %" PRIu64
	    " us (99th percentile)",
		s.latency_p50_us, s.latency_p99_us);
	say("  sessions: %" PRIu64 "; disconnected %" PRIu64 ", lost %" PRIu64
	    " times",
		s.sessions, s.disconnects, s.losses);
}

static void walk(struct kustos_client *client, struct server *server,
	struct proxy *proxy)
{
	const char *address = server_address(server);
	char *member = NULL;

	late_server(client, server);
	if (!make_member(client, &member)) {
		expect(false, "an ephemeral node can be made");
		return;
	}
	cut(client, proxy, member);
	lost_answer(client, proxy, address);
	silence(client, proxy, address, member);
	expiry(client, address);
	figures(client);
	kustos_free(member);
}

static int tour(struct server *server, struct proxy *proxy)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_listener *listener;
	struct kustos_client *client;

	server_stop(server);
	options.hosts = proxy_address(proxy);
	options.session_timeout_ms = TIMEOUT_MS;
	enum kustos_err err = kustos_client_open(&options, &client);
	if (err != KUSTOS_OK) {
		fprintf(stderr, "kustos-tour: %s\n", kustos_strerror(err));
		return 1;
	}
	if (kustos_client_listen(client, show_state, NULL, &listener) !=
		KUSTOS_OK)
		failures++;
	walk(client, server, proxy);
	station("7. The client is closed.");
	expect(kustos_client_close(client, soon(), NULL) == KUSTOS_OK,
		"the server knows that the session is over");
	expect(atomic_load(&times_lost) == 2, "every loss was told, once");
	return failures == 0 ? 0 : 1;
}

int main(void)
{
	const char *missing = server_missing();
	int rc = 1;

	start_ms = test_now_ms();
	if (missing != NULL) {
		fprintf(stderr, "kustos-tour: %s\n", missing);
		return 1;
	}
	say("starting a ZooKeeper server of our own");
	struct server *server = server_start(NULL);
	if (server == NULL)
		return 1;
	say("it listens on %s", server_address(server));
	struct proxy *proxy = proxy_start("127.0.0.1", server_address(server),
		PROXY_ZOOKEEPER);
	if (proxy != NULL)
		rc = tour(server, proxy);
	proxy_free(proxy);
	server_free(server);
	printf("\n%s\n",
		rc == 0 ? "All as it should be."
			: "Something was not as it should be.");
	return rc;
}
