/*
 * cluster.c - one ZooKeeper server or several, on loopback addresses.
 *
 * Each has an address of its own, 127.0.0.1, .2, .3 and so on, because
 * libzookeeper compares servers by address alone.
 */
#include "cluster.h"
#include "tool.h"

#include "support/net.h"
#include "support/server.h"
#include "support/server_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_MS 60000

struct member {
	struct server *server;
	char ip[32];
	char address[48];
	int quorum_port, election_port;
};

struct cluster {
	int count;
	bool keeps; /* the data outlives the servers */
	struct member members[CLUSTER_MAX];
	char hosts[CLUSTER_MAX * 48];
};

/* Return whether a server can listen there; if not, print why. */
static bool port_is_free(const char *ip, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	bool is_free;

	inet_pton(AF_INET, ip, &a.sin_addr);
	is_free = fd >= 0 &&
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ==
			0 &&
		bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
	if (!is_free)
		tool_say("cannot listen on %s:%d: %s", ip, port,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	return is_free;
}

static bool make_folder(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return true;
	tool_say("cannot make %s: %s", path, strerror(errno));
	return false;
}

static bool write_id(const char *path, int id)
{
	FILE *f = fopen(path, "we");

	if (f == NULL)
		return false;
	bool written = fprintf(f, "%d\n", id) > 0;
	return fclose(f) == 0 && written;
}

/* Make the folder of a server's data.  In an ensemble each server has one of
   its own, with the server's number in the file "myid". */
static bool make_data(const struct cluster_options *o, int i, char *out,
	size_t size)
{
	char base[PATH_MAX], file[PATH_MAX + 64];

	if (!make_folder(o->data))
		return false;
	if (realpath(o->data, base) == NULL) {
		tool_say("cannot use %s: %s", o->data, strerror(errno));
		return false;
	}
	snprintf(out, size, "%s", base);
	if (o->count == 1)
		return true;
	snprintf(out, size, "%s/server.%d", base, i + 1);
	if (!make_folder(out))
		return false;
	snprintf(file, sizeof(file), "%s/myid", out);
	if (write_id(file, i + 1))
		return true;
	tool_say("cannot write %s: %s", file, strerror(errno));
	return false;
}

/* Make the folder that the server looks for a link to the one that is kept.
   The configuration could not name that directly: not every name can be written
   there. */
static bool link_data(const struct member *m, const char *data)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/data", server_dir(m->server));
	if (symlink(data, path) == 0)
		return true;
	tool_say("cannot make %s: %s", path, strerror(errno));
	return false;
}

/* Of two lines of a configuration for one setting the later one counts: so our
   clientPort overrides the server's own. */
static bool prepare(struct cluster *c, const struct cluster_options *o, int i)
{
	struct member *m = &c->members[i];
	char config[64] = "", data[PATH_MAX + 32];
	struct server_options so = { .ip = m->ip,
		.config = config,
		.tick_ms = o->tick_ms,
		.min_session_ms = 2 * o->tick_ms };

	snprintf(m->ip, sizeof(m->ip), "127.0.0.%d", i + 1);
	if (o->port != 0) {
		if (!port_is_free(m->ip, o->port))
			return false;
		snprintf(config, sizeof(config), "clientPort=%d\n", o->port);
	}
	if (o->data != NULL && !make_data(o, i, data, sizeof(data)))
		return false;
	m->server = server_prepare(&so);
	if (m->server == NULL) {
		tool_say("no temporary folder, or no free port");
		return false;
	}
	if (o->data != NULL && !link_data(m, data))
		return false;
	if (o->port != 0)
		snprintf(m->address, sizeof(m->address), "127.0.0.%d:%d", i + 1,
			o->port);
	else
		snprintf(m->address, sizeof(m->address), "%s",
			server_address(m->server));
	m->quorum_port = server_port(m->server);
	m->election_port = server_port(m->server);
	return m->quorum_port > 0 && m->election_port > 0;
}

static bool configure(struct cluster *c)
{
	char peers[CLUSTER_MAX * 64 + 64];
	size_t len = (size_t)snprintf(peers, sizeof(peers),
		"initLimit=50\nsyncLimit=10\n");

	for (int i = 0; i < c->count; i++) {
		const struct member *m = &c->members[i];

		len += (size_t)snprintf(peers + len, sizeof(peers) - len,
			"server.%d=%s:%d:%d\n", i + 1, m->ip, m->quorum_port,
			m->election_port);
	}
	for (int i = 0; i < c->count; i++)
		if (server_configure(c->members[i].server,
			    c->count == 1 ? NULL : peers, i + 1) < 0)
			return false;
	return true;
}

static bool in_service(const struct cluster *c, int64_t begun_ms)
{
	for (int i = 0; i < c->count; i++)
		if (!fourletter_serves(c->members[i].address, begun_ms))
			return false;
	return true;
}

static bool launch(struct cluster *c)
{
	int64_t begun = test_now_ms();

	for (int i = 0; i < c->count; i++)
		if (server_launch(c->members[i].server) < 0)
			return false;
	while (!in_service(c, begun)) {
		if (test_now_ms() > begun + START_MS || !cluster_runs(c))
			return false;
		test_pause_1ms();
	}
	return true;
}

struct cluster *cluster_start(const struct cluster_options *options)
{
	struct cluster *c = calloc(1, sizeof(*c));
	size_t len = 0;

	if (c == NULL)
		return NULL;
	c->keeps = options->data != NULL;
	for (int i = 0; i < options->count; i++) {
		c->count = i + 1;
		if (!prepare(c, options, i))
			goto fail;
		len += (size_t)snprintf(c->hosts + len, sizeof(c->hosts) - len,
			"%s%s", i == 0 ? "" : ",", c->members[i].address);
	}
	if (configure(c) && launch(c))
		return c;
	for (int i = 0; i < c->count; i++)
		if (cluster_pid(c, i) == 0)
			server_complain(c->members[i].server);
	tool_say("the server did not come up");
fail:
	cluster_free(c);
	return NULL;
}

void cluster_free(struct cluster *c)
{
	if (c == NULL)
		return;
	for (int i = 0; i < c->count; i++) {
		if (c->keeps && c->members[i].server != NULL)
			server_stop(c->members[i].server);
		server_free(c->members[i].server);
	}
	free(c);
}

const char *cluster_hosts(const struct cluster *c)
{
	return c->hosts;
}

const char *cluster_address(const struct cluster *c, int i)
{
	return c->members[i].address;
}

pid_t cluster_pid(const struct cluster *c, int i)
{
	return server_pid(c->members[i].server);
}

bool cluster_runs(const struct cluster *c)
{
	for (int i = 0; i < c->count; i++)
		if (cluster_pid(c, i) == 0)
			return false;
	return true;
}
