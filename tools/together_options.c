/*
 * together_options.c - the options of kustos barrier and of kustos latch.
 */
#include "together_options.h"

#include <kustos/cancel.h>

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { OPT_ID = TOOL_OPT_OWN, OPT_NO_WAIT };

static const struct option long_options[] = {
	{ "count", required_argument, NULL, 'n' },
	{ "timeout", required_argument, NULL, 'w' },
	{ "id", required_argument, NULL, OPT_ID },
	{ "no-wait", no_argument, NULL, OPT_NO_WAIT },
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static bool take_option(struct together *t, int option)
{
	switch (option) {
	case 'n':
		return tool_take_number(&t->tool, "-n", 1, INT32_MAX,
			&t->count);
	case 'w':
		return tool_take_seconds(&t->tool, "-w", &t->wait_ms);
	case OPT_ID:
		t->id = optarg;
		return true;
	case OPT_NO_WAIT:
		t->no_wait = true;
		return true;
	default:
		return tool_common(&t->tool, option);
	}
}

static bool take_options(struct together *t, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "+n:w:vh", long_options,
			NULL)) != -1)
		if (!take_option(t, option))
			return false;
	return true;
}

static const struct together_verb *find(const struct together_verb *verbs,
	const char *name)
{
	for (; verbs->name != NULL; verbs++)
		if (strcmp(verbs->name, name) == 0)
			return verbs;
	return NULL;
}

/* Refuse options that mean nothing to this verb. */
static int misplaced(const struct together *t)
{
	const struct together_verb *v = t->verb;
	const char *option = NULL;

	if (v->count == NO_COUNT && t->count != 0)
		option = "-n";
	else if (!v->has_id && t->id != NULL)
		option = "--id";
	else if (!v->has_json && t->tool.json)
		option = "--json";
	else if (!v->has_rest && t->no_wait)
		option = "--no-wait";
	return option == NULL
		? TOOL_OK
		: tool_usage(&t->tool, "'%s' has no %s", v->name, option);
}

static int wrong(const struct together *t)
{
	const struct together_verb *v = t->verb;

	if (t->job.path == NULL)
		return tool_usage(&t->tool, "no PATH given");
	if (v->count == MUST_COUNT && t->count == 0)
		return tool_usage(&t->tool, "'%s' needs -n", v->name);
	if (v->command == NO_COMMAND && *t->job.argv != NULL)
		return tool_usage(&t->tool, "'%s' takes no COMMAND", v->name);
	if (v->command == MUST_RUN && *t->job.argv == NULL)
		return tool_usage(&t->tool, "no COMMAND given");
	return misplaced(t);
}

bool together_parse(struct together *t,
	const struct tool_subcommand *subcommand,
	const struct together_verb *verbs, int argc, char **argv)
{
	memset(t, 0, sizeof(*t));
	tool_init(&t->tool, subcommand);
	t->wait_ms = -1;
	t->job.tool = &t->tool;
	t->job.grace_ms = -1;
	if (!take_options(t, argc, argv))
		return false;
	const char *name = optind < argc ? argv[optind++] : NULL;
	t->verb = name != NULL ? find(verbs, name) : NULL;
	if (t->verb == NULL) {
		t->tool.exit_code = name == NULL
			? tool_usage(&t->tool, "no action given")
			: tool_usage(&t->tool,
				  "'%s' is not an action of kustos %s", name,
				  subcommand->name);
		return false;
	}
	tool_options_anew();
	if (!take_options(t, argc, argv))
		return false;
	if (optind < argc) {
		t->tool.paths = argv + optind;
		t->tool.path_count = 1;
		t->job.path = argv[optind++];
		tool_options_anew();
		if (!take_options(t, argc, argv))
			return false;
	}
	t->job.argv = argv + optind;
	t->tool.wait_ms = t->wait_ms;
	t->tool.exit_code = wrong(t);
	return t->tool.exit_code == TOOL_OK;
}

kustos_deadline together_deadline(const struct together *t, bool waits)
{
	if (t->wait_ms == 0)
		return KUSTOS_NOW;
	if (t->wait_ms >= 0)
		return kustos_after_ms(t->wait_ms);
	return waits ? KUSTOS_FOREVER : kustos_after_ms(t->tool.session_ms);
}

int together_waited(const struct together *t, struct kustos_client *client,
	const char *verb, const char *busy, enum kustos_err err)
{
	const char *path = t->job.path;

	if (err == KUSTOS_OK)
		return TOOL_OK;
	if (t->job.sig != 0)
		return TOOL_SIGNAL + t->job.sig;
	if (busy != NULL && err == KUSTOS_EBUSY) {
		tool_say("%s: %s", path, busy);
		return TOOL_BUSY;
	}
	if (busy != NULL && err == KUSTOS_ETIMEDOUT &&
		kustos_client_state(client) == KUSTOS_STATE_CONNECTED) {
		tool_say("%s: %s, for %g s", path, busy,
			(double)t->wait_ms / 1000);
		return TOOL_TIMEDOUT;
	}
	if (err == KUSTOS_EBROKEN) {
		tool_say("%s: a participant that must be done has died", path);
		return TOOL_BROKEN;
	}
	return tool_failed_of(&t->tool, client, verb, path, err);
}

enum kustos_err together_prepare(struct together_ask *ask, struct job *job)
{
	memset(ask, 0, sizeof(*ask));
	ask->job = job;
	ask->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ask->news < 0)
		return KUSTOS_ENOMEM;
	if (kustos_cancel_create(&ask->cancel) == KUSTOS_OK)
		return KUSTOS_OK;
	close(ask->news);
	return KUSTOS_ENOMEM;
}

void together_answered(void *arg, enum kustos_err err)
{
	struct together_ask *ask = arg;

	ask->err = err;
	atomic_store(&ask->answered, true);
	eventfd_write(ask->news, 1);
}

enum kustos_err together_await(struct together_ask *ask, enum kustos_err err)
{
	struct job *j = ask->job;
	struct pollfd fds[2] = { { ask->news, POLLIN, 0 },
		{ j->signals->fd, POLLIN, 0 } };

	while (err == KUSTOS_OK && !atomic_load(&ask->answered)) {
		under_reap_orphans(&j->under);
		(void)poll(fds, 2, -1);
		int sig = signals_obey(j->signals);

		if (sig == 0 || j->sig != 0)
			continue;
		j->sig = sig;
		kustos_cancel_fire(ask->cancel);
	}
	/* The callback has written to "news", or is about to.  Once that is
	   read the callback does not touch "ask" any more. */
	eventfd_t count;
	while (err == KUSTOS_OK && eventfd_read(ask->news, &count) != 0)
		(void)poll(fds, 1, -1);
	close(ask->news);
	kustos_cancel_destroy(ask->cancel);
	return err != KUSTOS_OK ? err : ask->err;
}

int together_run(struct together *t, const char *what, bool waits,
	int (*take_part)(struct together *t))
{
	static struct signals signals;
	struct job *j = &t->job;
	int code;

	j->signals = &signals;
	j->what = what;
	j->deadline = together_deadline(t, waits);
	j->in_time = t->wait_ms > 0;
	if (!job_prepare(j))
		return TOOL_FAILED;
	code = job_connect(j);
	if (code == TOOL_OK)
		code = take_part(t);
	else
		under_abandon(&j->under);
	job_close(j);
	return job_end(j, code);
}
