/*
 * ensemble.c - three ZooKeeper servers on 127.0.0.1, .2 and .3.
 */
#include "ensemble.h"
#include "net.h"
#include "proxy.h"
#include "server_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 60000
#define PEERS_TEXT 512

struct ensemble {
	struct server *servers[ENSEMBLE_SIZE];
	int quorum_port[ENSEMBLE_SIZE];
	int election_port[ENSEMBLE_SIZE];
	struct proxy *lag;
	char hosts[160];
};

static void server_ip(char *out, size_t size, int i)
{
	snprintf(out, size, "127.0.0.%d", i + 1);
}

static int prepare(struct ensemble *e, const struct server_options *options)
{
	struct server_options o = { 0 };
	char ip[24];
	size_t len = 0;

	if (options != NULL)
		o = *options;
	o.ip = ip;
	for (int i = 0; i < ENSEMBLE_SIZE; i++) {
		server_ip(ip, sizeof(ip), i);
		e->servers[i] = server_prepare(&o);
		if (e->servers[i] == NULL)
			return -1;
		e->quorum_port[i] = server_port(e->servers[i]);
		e->election_port[i] = server_port(e->servers[i]);
		if (e->quorum_port[i] < 0 || e->election_port[i] < 0)
			return -1;
		len += (size_t)snprintf(e->hosts + len, sizeof(e->hosts) - len,
			"%s%s", i == 0 ? "" : ",",
			server_address(e->servers[i]));
	}
	return 0;
}

static int make_lag(struct ensemble *e)
{
	char leader[48];

	snprintf(leader, sizeof(leader), "127.0.0.3:%d", e->quorum_port[2]);
	e->lag = proxy_start("127.0.0.3", leader, PROXY_RAW);
	return e->lag == NULL ? -1 : 0;
}

/* Write the list of servers for the configuration of number "viewer".  If there
   is a link that can be held, a follower may fall behind by 20 s, so that the
   link is not taken for a dead one. */
static void write_peers(const struct ensemble *e, int viewer, char *out,
	size_t size)
{
	size_t len = (size_t)snprintf(out, size, "initLimit=50\nsyncLimit=%d\n",
		e->lag == NULL ? 10 : 100);

	for (int i = 0; i < ENSEMBLE_SIZE; i++) {
		int port = e->quorum_port[i];
		char ip[24];

		if (viewer == 0 && i == 2 && e->lag != NULL)
			port = proxy_port(e->lag);
		server_ip(ip, sizeof(ip), i);
		len += (size_t)snprintf(out + len, size - len,
			"server.%d=%s:%d:%d\n", i + 1, ip, port,
			e->election_port[i]);
	}
}

static int launch(struct ensemble *e, bool lag)
{
	char peers[PEERS_TEXT];

	for (int i = 0; i < ENSEMBLE_SIZE; i++) {
		write_peers(e, i, peers, sizeof(peers));
		if (server_configure(e->servers[i], peers, i + 1) < 0)
			return -1;
	}
	/* Among equals the highest number wins the election.  So server 2 leads
	   for certain if the laggard, server 0, is started last. */
	if (server_launch(e->servers[2]) < 0 ||
		server_launch(e->servers[1]) < 0)
		return -1;
	if (lag && ensemble_wait(e, 2, START_MS) != 2)
		return -1;
	if (server_launch(e->servers[0]) < 0)
		return -1;
	return ensemble_wait(e, ENSEMBLE_SIZE, START_MS) < 0 ? -1 : 0;
}

struct ensemble *ensemble_start(const struct server_options *options, bool lag)
{
	struct ensemble *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	if (prepare(e, options) < 0 || (lag && make_lag(e) < 0)) {
		fprintf(stderr, "no directory or port for an ensemble\n");
		ensemble_free(e);
		return NULL;
	}
	if (launch(e, lag) < 0) {
		for (int i = 0; i < ENSEMBLE_SIZE; i++)
			server_complain(e->servers[i]);
		ensemble_free(e);
		return NULL;
	}
	return e;
}

void ensemble_free(struct ensemble *e)
{
	if (e == NULL)
		return;
	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		server_free(e->servers[i]);
	proxy_free(e->lag);
	free(e);
}

struct server *ensemble_server(struct ensemble *e, int i)
{
	return e->servers[i];
}

const char *ensemble_hosts(const struct ensemble *e)
{
	return e->hosts;
}

struct proxy *ensemble_lag(struct ensemble *e)
{
	return e->lag;
}

int ensemble_leader(struct ensemble *e)
{
	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		if (fourletter_has(server_address(e->servers[i]), "srvr",
			    "Mode: leader"))
			return i;
	return -1;
}

static int in_service(struct ensemble *e)
{
	int n = 0;

	for (int i = 0; i < ENSEMBLE_SIZE; i++)
		n += fourletter_has(server_address(e->servers[i]), "srvr",
			"Mode:");
	return n;
}

int ensemble_wait(struct ensemble *e, int count, int ms)
{
	int64_t end = test_now_ms() + ms;

	while (test_now_ms() <= end) {
		int leader = ensemble_leader(e);

		if (leader >= 0 && in_service(e) >= count)
			return leader;
		test_pause_1ms();
	}
	return -1;
}
