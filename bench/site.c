/*
 * site.c - the node below which a run works.
 */
#include "site.h"

#include "clocks.h"

#include "support/child.h"

#include <kustos/node.h>

#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)
#define LOOK_MS 20
#define SITE_MS 60000
#define BEGUN "begun"
#define SITE_DEPTH 4 /* more than any recipe makes */

static kustos_deadline soon(void)
{
	return kustos_after_ms(SITE_MS);
}

/* The path that is contended for is below the run's node, since some recipes
   make more nodes beside that path. */
static enum kustos_err prepare(struct kustos_client *client,
	const struct bench_plan *plan)
{
	struct lock_form form = plan->options->form;
	struct lock lock;
	enum kustos_err err;

	form.leases = plan->leases;
	err = lock_make(&lock, client, plan->path, &form);
	if (err == KUSTOS_OK)
		err = lock_fill(&lock, soon());
	lock_destroy(&lock);
	return err;
}

static enum kustos_err remove_tree_at(struct kustos_client *client,
	const char *path, int depth);

static enum kustos_err remove_children(struct kustos_client *client,
	const char *path, int depth)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(client, path, soon(), NULL,
		&names, NULL);

	for (size_t i = 0; err == KUSTOS_OK && i < names->count; i++) {
		char child[1024];
		int len = snprintf(child, sizeof(child), "%s/%s", path,
			names->names[i]);

		err = len < (int)sizeof(child) && depth > 0
			? remove_tree_at(client, child, depth - 1)
			: KUSTOS_ETOOBIG;
	}
	kustos_names_free(names);
	return err;
}

static enum kustos_err remove_tree_at(struct kustos_client *client,
	const char *path, int depth)
{
	enum kustos_err err = remove_children(client, path, depth);

	if (err == KUSTOS_OK)
		err = kustos_delete(client, path, -1, soon(), NULL);
	return err == KUSTOS_ENONODE ? KUSTOS_OK : err;
}

/* Do "work" in a process of its own, so that this one gets no threads; a signal
   ends that.  Returns an exit code; "*begun" is whether the work has said
   BEGUN. */
static int apart(int (*work)(int fd, void *plan), const struct bench_plan *plan,
	struct signals *signals, bool *begun)
{
	int64_t end = clocks_now_ns() +
		(plan->options->tool.session_ms + INT64_C(2) * SITE_MS) * MS;
	struct bench_plan copy = *plan;
	struct child child;
	int code, sig = 0;

	if (child_start(&child, work, &copy) < 0) {
		tool_say("cannot start a process");
		return TOOL_FAILED;
	}
	do {
		code = child_wait(&child, LOOK_MS);
		sig = signals_obey(signals);
	} while (code < 0 && sig == 0 && clocks_now_ns() < end);
	if (code < 0 && child.pid > 0)
		kill(child.pid, SIGKILL);
	*begun = child_expect(child.fd, BEGUN, SITE_MS); /* or its end */
	child_end(&child);
	if (sig != 0)
		return TOOL_SIGNAL + sig;
	return code < 0 || code > TOOL_SIGNAL ? TOOL_FAILED : code;
}

static int make(int fd, void *arg)
{
	const struct bench_plan *plan = arg;
	const struct tool *tool = &plan->options->tool;
	struct kustos_client *client;
	int code = tool_connect(tool, &client);

	if (code == TOOL_OK && child_say(fd, BEGUN) < 0)
		code = TOOL_FAILED;
	if (code != TOOL_OK)
		return code;
	enum kustos_err err = kustos_create(client, plan->site, "", 0,
		KUSTOS_CREATE_PARENTS, soon(), NULL, NULL, NULL);
	if (err == KUSTOS_OK)
		err = prepare(client, plan);
	if (err != KUSTOS_OK)
		code = tool_failed(tool, "cannot make", plan->site, err);
	tool_close(client);
	return code;
}

static int clear(int fd, void *arg)
{
	const struct bench_plan *plan = arg;
	struct kustos_client *client;

	(void)fd;
	if (tool_connect(&plan->options->tool, &client) != TOOL_OK) {
		tool_say("%s is left", plan->site);
		return TOOL_UNREACHABLE;
	}
	enum kustos_err err = remove_tree_at(client, plan->site, SITE_DEPTH);
	if (err != KUSTOS_OK)
		tool_say("%s is left: %s", plan->site, kustos_strerror(err));
	tool_close(client);
	return TOOL_OK;
}

int site_prepare(const struct bench_plan *plan, struct signals *signals)
{
	bool begun = false;
	int code = apart(make, plan, signals, &begun);

	if (begun && code > TOOL_SIGNAL)
		(void)site_clear(plan, signals);
	return code;
}

int site_clear(const struct bench_plan *plan, struct signals *signals)
{
	bool begun;
	int code = apart(clear, plan, signals, &begun);

	if (code != TOOL_OK && code != TOOL_UNREACHABLE) /* which says so */
		tool_say("%s is left", plan->site);
	return code > TOOL_SIGNAL ? code - TOOL_SIGNAL : 0;
}
