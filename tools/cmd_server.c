/*
 * cmd_server.c - kustos server: a throw-away ZooKeeper.
 */
#include "cluster.h"
#include "command.h"
#include "json.h"
#include "signals.h"
#include "tool.h"

#include "support/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 500	  /* how often to see whether the servers still run */
#define TICK_MAX_MS 30000 /* the longest session, 60 s, is two ticks */

static const char help[] =
	"Usage: kustos server [OPTION]... [[--] COMMAND [ARGUMENT]...]\n"
	"\n"
	"Run a ZooKeeper server for development and tests, on a free port of\n"
	"the loopback address.  It does not sync its data to disk.  With a\n"
	"COMMAND, run COMMAND with KUSTOS_HOSTS set, and stop the server\n"
	"when it has ended.  Without one, print a line for --hosts, and run\n"
	"until a signal.\n"
	"\n"
	"      --ensemble N      N servers, at most 9, on 127.0.0.1,\n"
	"                        127.0.0.2 and so on\n"
	"      --port PORT       listen on this port\n"
	"      --data DIR        keep the data in DIR; by default it is\n"
	"                        removed at the end\n"
	"      --tick MS         the server's tickTime; default 200\n"
	"      --until-eof       stop at the end of standard input as well\n"
	"      --json            print one JSON object instead of a line\n";

static const char codes[] =
	"Exit codes: that of COMMAND, 128+N if it died of signal N; else 0\n"
	"if stopped by a signal or by --until-eof, 124 if the server cannot\n"
	"start or ends by itself, 125 for a usage error, 126 if COMMAND\n"
	"cannot be executed, 127 if it was not found.\n";

enum { OPT_ENSEMBLE = TOOL_OPT_OWN, OPT_PORT, OPT_DATA, OPT_TICK, OPT_EOF };

static const struct option long_options[] = {
	{ "ensemble", required_argument, NULL, OPT_ENSEMBLE },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "data", required_argument, NULL, OPT_DATA },
	{ "tick", required_argument, NULL, OPT_TICK },
	{ "until-eof", no_argument, NULL, OPT_EOF },
	TOOL_OPTION_JSON,
	TOOL_OPTIONS_MINIMAL,
	{ NULL, 0, NULL, 0 },
};

struct server_tool {
	struct tool tool;
	struct cluster_options options;
	bool until_eof;
	struct cluster *cluster;
	struct signals signals;
};

static void announce(const struct server_tool *s)
{
	const char *hosts = cluster_hosts(s->cluster);

	if (!s->tool.json) {
		puts(hosts);
		return;
	}
	fputs("{\"hosts\":", stdout);
	json_string(stdout, hosts, strlen(hosts));
	fputs(",\"servers\":[", stdout);
	for (int i = 0; i < s->options.count; i++)
		printf("%s{\"address\":\"%s\",\"pid\":%d}", i == 0 ? "" : ",",
			cluster_address(s->cluster, i),
			(int)cluster_pid(s->cluster, i));
	puts("]}");
}

static bool input_ended(int fd)
{
	char rest[4096];
	ssize_t n = read(fd, rest, sizeof(rest));

	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

static int serve(struct server_tool *s)
{
	/* The output may not be read for a long time.  Once there is room, a
	   line this short is written at once.  So signals need never be let
	   in, and whoever has read the line may send one. */
	struct pollfd fds[3] = { { s->signals.fd, POLLIN, 0 },
		{ s->until_eof ? 0 : -1, POLLIN, 0 }, { 1, POLLOUT, 0 } };

	for (;;) {
		if (poll(fds, 3, LOOK_MS) < 0)
			continue;
		if (fds[2].revents != 0) {
			fds[2].fd = -1; /* no more */
			announce(s);
			if (tool_flush(TOOL_OK) != TOOL_OK)
				return TOOL_FAILED;
		}
		if (fds[0].revents != 0 && signals_obey(&s->signals) != 0)
			return TOOL_OK;
		if (fds[1].revents != 0 && input_ended(0))
			return TOOL_OK;
		if (!cluster_runs(s->cluster)) {
			tool_say("the server has ended by itself");
			return TOOL_FAILED;
		}
	}
}

/* Returns whether the command has ended. */
static bool follow(struct command *command)
{
	enum command_news news;
	pid_t other;

	while ((news = command_look(command, &other)) != COMMAND_NOTHING) {
		if (news == COMMAND_ENDED)
			return true;
		if (news == COMMAND_STOPPED)
			command_resume(command);
	}
	return false;
}

static void name_processes(const struct server_tool *s, char *out, size_t size)
{
	int len = snprintf(out, size, "KUSTOS_SERVER_PIDS=");

	for (int i = 0; i < s->options.count && len < (int)size; i++)
		len += snprintf(out + len, size - (size_t)len, "%s%d",
			i > 0 ? "," : "", (int)cluster_pid(s->cluster, i));
}

static int serve_command(struct server_tool *s, char **argv)
{
	char hosts[CLUSTER_MAX * 48 + 16], pids[CLUSTER_MAX * 16 + 32];
	const char *environment[] = { hosts, pids, NULL };
	struct pollfd signals = { s->signals.fd, POLLIN, 0 };
	struct command command;
	int code, sig;

	snprintf(hosts, sizeof(hosts), "KUSTOS_HOSTS=%s",
		cluster_hosts(s->cluster));
	name_processes(s, pids, sizeof(pids));
	if (command_prepare(&command, &s->signals, argv, 0) < 0) {
		tool_say("cannot start a process: %s", strerror(errno));
		return TOOL_FAILED;
	}
	command_start(&command, environment);
	while (!follow(&command)) {
		poll(&signals, 1, -1);
		while ((sig = signals_next(&s->signals)) != 0)
			if (sig == SIGCONT)
				command_resume(&command);
			else if (sig != SIGCHLD)
				command_signal(&command, sig);
	}
	code = command_reap(&command);
	command_imitate(&command, code);
	return code;
}

static bool take_option(struct server_tool *s, int option)
{
	switch (option) {
	case OPT_ENSEMBLE:
		return tool_take_number(&s->tool, "--ensemble", 1, CLUSTER_MAX,
			&s->options.count);
	case OPT_PORT:
		return tool_take_number(&s->tool, "--port", 1, 65535,
			&s->options.port);
	case OPT_TICK:
		return tool_take_number(&s->tool, "--tick", 1, TICK_MAX_MS,
			&s->options.tick_ms);
	case OPT_DATA:
		s->options.data = optarg;
		return true;
	case OPT_EOF:
		s->until_eof = true;
		return true;
	default:
		return tool_common(&s->tool, option);
	}
}

static int run(int argc, char **argv)
{
	struct server_tool s;
	int option, code = TOOL_FAILED;

	memset(&s, 0, sizeof(s));
	tool_init(&s.tool, &tool_server);
	s.options.count = 1;
	while ((option = getopt_long(argc, argv, "+h", long_options, NULL)) !=
		-1)
		if (!take_option(&s, option))
			return s.tool.exit_code;
	if (optind < argc && (s.tool.json || s.until_eof))
		return tool_usage(&s.tool,
			"--json and --until-eof make no sense with a COMMAND");
	if (server_missing() != NULL) {
		tool_say("%s", server_missing());
		return TOOL_FAILED;
	}
	s.cluster = cluster_start(&s.options);
	if (s.cluster == NULL)
		return TOOL_FAILED;
	/* Not before: a signal that comes while the servers start ends this
	   process, and the servers with it. */
	if (signals_take(&s.signals) < 0)
		tool_say("cannot handle signals: %s", strerror(errno));
	else if (optind == argc)
		code = serve(&s);
	else
		code = serve_command(&s, argv + optind);
	cluster_free(s.cluster);
	return code;
}

const struct tool_subcommand tool_server = { "server", run,
	"run a throw-away ZooKeeper server", help, tool_help_minimal, codes };
