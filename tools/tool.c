/*
 * tool.c - what the subcommands of kustos share.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie() */
#endif
#include "access.h"
#include "show.h"
#include "tool.h"

#include <kustos/mutex.h>
#include <kustos/node.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_HOSTS "127.0.0.1:2181"
#define DEFAULT_SESSION_MS 10000
#define LEAST_SESSION_MS 100 /* what the library takes */
#define MOST_SESSION_MS (24 * 60 * 60 * 1000)
#define CLOSE_MS 3000
#define RETRY_MS 200

#define MINIMAL                                     \
	"  -h, --help            print this text\n" \
	"      --version         print the version\n\n"

const char tool_help_minimal[] = MINIMAL;
const char tool_help_common[] =
	"      --hosts HOSTS     servers, as HOST:PORT,HOST:PORT/CHROOT;\n"
	"                        default $KUSTOS_HOSTS or 127.0.0.1:2181\n"
	"      --session-timeout MS\n"
	"                        ask for such a session; default 10000\n"
	"      --auth-file FILE  act as its first line says, USER:PASSWORD;\n"
	"                        default $KUSTOS_AUTH_FILE\n"
	"      --acl WHOSE       nodes that are made are for the world, which\n"
	"                        is the default, or for their creator only\n"
	"  -v, --verbose         say what the connection does\n" MINIMAL;

/* Return the value of a variable; NULL: it has none. */
static const char *from_environment(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

void tool_init(struct tool *tool, const struct tool_subcommand *subcommand)
{
	memset(tool, 0, sizeof(*tool));
	tool->subcommand = subcommand;
	tool->hosts = from_environment("KUSTOS_HOSTS");
	if (tool->hosts == NULL)
		tool->hosts = DEFAULT_HOSTS;
	tool->auth_file = from_environment("KUSTOS_AUTH_FILE");
	tool->session_ms = DEFAULT_SESSION_MS;
}

int tool_help(const struct tool_subcommand *subcommand)
{
	fputs(subcommand->help, stdout);
	fputs(subcommand->common, stdout);
	fputs(subcommand->codes, stdout);
	return tool_flush(TOOL_OK);
}

void tool_options_anew(void)
{
	static char name[] = "kustos";
	char *none[] = { name, NULL };
	int at = optind;

	optind = 0; /* to begin from nothing */
	(void)getopt(1, none, "+");
	optind = at;
}

static bool take_acl(struct tool *tool)
{
	tool->creator_only = strcmp(optarg, "creator") == 0;
	if (tool->creator_only || strcmp(optarg, "world") == 0)
		return true;
	tool->exit_code = tool_usage(tool,
		"--acl %s is neither world nor creator", optarg);
	return false;
}

bool tool_common(struct tool *tool, int option)
{
	tool->exit_code = TOOL_OK;
	switch (option) {
	case TOOL_OPT_HOSTS:
		tool->hosts = optarg;
		return true;
	case TOOL_OPT_SESSION:
		if (tool_number(optarg, LEAST_SESSION_MS, &tool->session_ms) &&
			tool->session_ms <= MOST_SESSION_MS)
			return true;
		tool->exit_code = tool_usage(tool,
			"--session-timeout %s is not a number of milliseconds "
			"from %d to %d",
			optarg, LEAST_SESSION_MS, MOST_SESSION_MS);
		return false;
	case TOOL_OPT_AUTH_FILE:
		tool->auth_file = optarg;
		return true;
	case TOOL_OPT_ACL:
		return take_acl(tool);
	case TOOL_OPT_JSON:
		tool->json = true;
		return true;
	case 'v':
		tool->verbose = true;
		return true;
	case 'h':
		tool->exit_code = tool_help(tool->subcommand);
		return false;
	case TOOL_OPT_VERSION:
		printf("kustos %s\n", kustos_version());
		tool->exit_code = tool_flush(TOOL_OK);
		return false;
	default: /* getopt_long() has said what is wrong */
		tool->exit_code = TOOL_USAGE;
		return false;
	}
}

/* Print a line: in one write, so that lines of two processes do not mix; and in
   one line, whatever a path contains. */
__attribute__((format(printf, 2, 0))) static void say(const char *prefix,
	const char *format, va_list args, const char *suffix)
{
	char *line = NULL, *text = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	if (out == NULL)
		return;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	fprintf(out, "kustos: %s%s", prefix, *prefix ? ": " : "");
	show_text(out, text != NULL ? text : "out of memory");
	fprintf(out, "%s\n", suffix);
	if (fclose(out) == 0)
		(void)tool_write(STDERR_FILENO, line, len);
	free(text);
	free(line);
}

void tool_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args, "");
	va_end(args);
}

int tool_usage(const struct tool *tool, const char *format, ...)
{
	char hint[64];
	va_list args;

	snprintf(hint, sizeof(hint), "; see 'kustos %s --help'",
		tool->subcommand->name);
	va_start(args, format);
	say(tool->subcommand->name, format, args, hint);
	va_end(args);
	return TOOL_USAGE;
}

int tool_failed(const struct tool *tool, const char *what, const char *path,
	enum kustos_err err)
{
	switch (err) {
	case KUSTOS_ENONODE:
		tool_say("%s: there is no such node", path);
		return TOOL_NONODE;
	case KUSTOS_EINVAL:
		return tool_usage(tool, "%s is %s", path,
			strcmp(path, "/") == 0
				? "the root, where no recipe can be"
				: "not a path of ZooKeeper");
	case KUSTOS_EDISCONNECTED:
	case KUSTOS_ETIMEDOUT:
		return tool_unreachable(tool);
	case KUSTOS_ECHANGED:
		tool_say("%s: %s", path, kustos_strerror(err));
		return TOOL_CHANGED;
	default:
		tool_say("%s %s: %s", what, path, kustos_strerror(err));
		return TOOL_FAILED;
	}
}

/* If the chroot is known to be missing, print that and return TOOL_FAILED.  An
   error of the check itself is not reported: the caller's next request meets it
   as well. */
static int check_chroot(const struct tool *tool, struct kustos_client *client)
{
	kustos_deadline end = kustos_after_ms(tool->session_ms);

	if (strchr(tool->hosts, '/') == NULL ||
		kustos_exists(client, "/", end, NULL, NULL) != KUSTOS_ENONODE)
		return TOOL_OK;
	tool_say("the chroot of %s is missing", tool->hosts);
	return TOOL_FAILED;
}

int tool_failed_of(const struct tool *tool, struct kustos_client *client,
	const char *what, const char *path, enum kustos_err err)
{
	if (err == KUSTOS_ENONODE && check_chroot(tool, client) != TOOL_OK)
		return TOOL_FAILED;
	return tool_failed(tool, what, path, err);
}

bool tool_number(const char *text, int least, int *out)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || n < least ||
		n > INT32_MAX)
		return false;
	*out = (int)n;
	return true;
}

bool tool_seconds(const char *text, int64_t *out_ms)
{
	char *end;

	errno = 0;
	double s = strtod(text, &end);
	if (end == text || *end != '\0' || !(s >= 0) || s > 1e9)
		return false;
	*out_ms = (int64_t)(s * 1000 + 0.5);
	if (*out_ms == 0 && (s > 0 || errno == ERANGE))
		*out_ms = 1; /* it is a time, however short */
	return true;
}

bool tool_take_number(struct tool *tool, const char *name, int least, int most,
	int *out)
{
	if (tool_number(optarg, least, out) && *out <= most)
		return true;
	tool->exit_code = tool_usage(tool,
		"%s %s is not a number from %d to %d", name, optarg, least,
		most);
	return false;
}

bool tool_take_seconds(struct tool *tool, const char *name, int64_t *out_ms)
{
	if (tool_seconds(optarg, out_ms))
		return true;
	tool->exit_code = tool_usage(tool, "%s %s is not a number of seconds",
		name, optarg);
	return false;
}

bool tool_take_dialect(struct tool *tool, enum kustos_dialect *out)
{
	if (strcmp(optarg, "curator") == 0)
		*out = KUSTOS_DIALECT_CURATOR;
	else if (strcmp(optarg, "kazoo") == 0)
		*out = KUSTOS_DIALECT_KAZOO;
	else {
		tool->exit_code = tool_usage(tool,
			"--dialect %s is neither curator nor kazoo", optarg);
		return false;
	}
	return true;
}

bool tool_take_marks(struct tool *tool, const char **out)
{
	const char *text = optarg;
	size_t len;

	*out = optarg;
	while (len = strcspn(text, ",/"), len > 0 && text[len] == ',')
		text += len + 1;
	if (len > 0 && text[len] == '\0')
		return true;
	tool->exit_code = tool_usage(tool,
		"--extra-marks %s is not a list of texts before a number",
		optarg);
	return false;
}

/* Of the library's options only the servers have not been checked before. */
static void log_line(void *arg, enum kustos_log_level level, const char *line)
{
	static const char invalid[] = "invalid option: ";
	const struct tool *tool = arg;
	bool inherited = tool->hosts == from_environment("KUSTOS_HOSTS");

	(void)level;
	if (strncmp(line, invalid, strlen(invalid)) != 0)
		tool_say("%s", line);
	else
		(void)tool_usage(tool, "%s: %s",
			inherited ? "KUSTOS_HOSTS" : "--hosts",
			line + strlen(invalid));
}

/* Is the path valid?  Making a mutex checks that, and sends nothing.  The root
   is a valid path, though not one of a mutex. */
static bool is_path(struct kustos_client *client, const char *path)
{
	struct kustos_mutex *mutex = NULL;
	enum kustos_err err = kustos_mutex_create(client, path, NULL, &mutex);

	kustos_mutex_destroy(mutex);
	return err != KUSTOS_EINVAL || strcmp(path, "/") == 0;
}

static int check_paths(const struct tool *tool, struct kustos_client *client)
{
	const int options = sizeof(tool->more_paths) / sizeof(char *);

	for (int i = 0; i < tool->path_count + options; i++) {
		const char *path = i < tool->path_count
			? tool->paths[i]
			: tool->more_paths[i - tool->path_count];

		if (path != NULL && !is_path(client, path))
			return tool_failed(tool, "cannot use", path,
				KUSTOS_EINVAL);
	}
	return TOOL_OK;
}

int tool_open(const struct tool *tool, struct kustos_client **out)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client;
	enum kustos_err err;
	struct access access;
	int refused = access_take(tool, &access, &options);

	if (refused != TOOL_OK)
		return refused;
	options.hosts = tool->hosts;
	options.session_timeout_ms = tool->session_ms;
	/* Each call has the deadline that -w or the session's timeout says, and
	   goes on until then. */
	options.retry = kustos_retry_forever(RETRY_MS);
	options.log = log_line;
	options.log_arg = (void *)tool;
	options.log_level = tool->verbose ? KUSTOS_LOG_INFO : KUSTOS_LOG_ERROR;
	err = kustos_client_open(&options, &client);
	if (err == KUSTOS_EINVAL)
		return TOOL_USAGE; /* log_line() has said why */
	if (err != KUSTOS_OK) {
		tool_say("cannot open a client: %s", kustos_strerror(err));
		return TOOL_FAILED;
	}
	int code = check_paths(tool, client);
	if (code == TOOL_OK)
		*out = client;
	else
		kustos_client_close(client, KUSTOS_NOW, NULL);
	return code;
}

int tool_connect(const struct tool *tool, struct kustos_client **out)
{
	bool cut_short = tool->wait_ms > 0 && tool->wait_ms < tool->session_ms;
	int64_t ms = cut_short ? tool->wait_ms : tool->session_ms;
	struct kustos_client *client;
	int code = tool_open(tool, &client);

	if (code != TOOL_OK)
		return code;
	enum kustos_err err = kustos_client_wait_connected(client,
		kustos_after_ms(ms), NULL);
	if (err != KUSTOS_OK) {
		kustos_client_close(client, KUSTOS_NOW, NULL);
		if (err == KUSTOS_EAUTH)
			return TOOL_FAILED; /* the log has said so */
		return cut_short ? tool_unreachable_in_time(tool)
				 : tool_unreachable(tool);
	}
	code = check_chroot(tool, client);
	if (code == TOOL_OK)
		*out = client;
	else
		tool_close(client);
	return code;
}

int tool_unreachable(const struct tool *tool)
{
	tool_say("no server answers at %s", tool->hosts);
	return TOOL_UNREACHABLE;
}

int tool_unreachable_in_time(const struct tool *tool)
{
	tool_say("no server at %s answered in the time that -w says",
		tool->hosts);
	return TOOL_UNREACHABLE;
}

void tool_close(struct kustos_client *client)
{
	int64_t linger_ms = 0;

	if (kustos_client_close(client, kustos_after_ms(CLOSE_MS),
		    &linger_ms) == KUSTOS_ELINGERING &&
		linger_ms > 0)
		tool_say("no server could be told of the end; its nodes go "
			 "in %lld ms",
			(long long)linger_ms);
}

bool tool_write(int fd, const char *data, size_t len)
{
	struct pollfd room = { fd, POLLOUT, 0 };

	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			(void)poll(&room, 1, -1);
		else if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return true;
}

static int output_errno; /* of the last write that failed, however long ago */

static ssize_t write_output(void *cookie, const char *data, size_t len)
{
	(void)cookie;
	if (tool_write(STDOUT_FILENO, data, len))
		return (ssize_t)len;
	output_errno = errno;
	return 0;
}

bool tool_wait_for_output(void)
{
	cookie_io_functions_t calls = { .write = write_output };
	FILE *out = fopencookie(NULL, "w", calls);

	if (out == NULL)
		return false;
	if (isatty(STDOUT_FILENO))
		setvbuf(out, NULL, _IOLBF, BUFSIZ);
	stdout = out;
	return true;
}

int tool_flush(int exit_code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_code;
	tool_say("cannot write to standard output: %s", strerror(output_errno));
	return TOOL_FAILED;
}
