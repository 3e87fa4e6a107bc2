/*
 * elect_watch.c - print who leads an election, whenever that changes.
 */
#include "elect_watch.h"
#include "json.h"
#include "show.h"
#include "signals.h"

#include <kustos/participant.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 500 /* how often to check whether to go on */

struct watch {
	const struct tool *tool;
	const char *path;
	atomic_int code; /* the exit code, once watching is useless */
	atomic_int turn; /* one of these */
	bool told;	 /* anything yet */
};

enum { IDLE, PRINTING, OVER }; /* OVER: nothing is printed any more */

static void print_text(struct watch *w, const struct kustos_participant *first)
{
	if (!w->told)
		show_heading(stdout);
	if (first != NULL)
		show_participant(stdout, first);
	else
		puts("nobody");
}

static void print_json(struct watch *w, const struct kustos_participant *first)
{
	fputs("{\"path\":", stdout);
	json_string(stdout, w->path, strlen(w->path));
	fputs(",\"leader\":", stdout);
	if (first != NULL)
		show_participant_json(stdout, first);
	else
		fputs("null", stdout);
	puts("}");
}

/* Called on a thread of the library. */
static void on_first(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	struct watch *w = arg;

	if (err != KUSTOS_OK) {
		int code = tool_failed(w->tool, "cannot see", w->path, err);

		if (err == KUSTOS_EAUTH)
			atomic_store(&w->code, code);
		return;
	}
	int turn = IDLE;
	if (!atomic_compare_exchange_strong(&w->turn, &turn, PRINTING))
		return;
	(w->tool->json ? print_json : print_text)(w, first);
	w->told = true;
	if (tool_flush(TOOL_OK) != TOOL_OK)
		atomic_store(&w->code, TOOL_FAILED);
	turn = PRINTING;
	atomic_compare_exchange_strong(&w->turn, &turn, IDLE);
}

int elect_watch(const struct tool *tool, const char *path)
{
	struct watch w = { .tool = tool, .path = path };
	struct signals signals = { 0 };
	struct kustos_observer *observer = NULL;
	struct kustos_client *client = NULL;
	enum kustos_err err;
	int code, sig = 0;

	if (signals_take(&signals) < 0) {
		tool_say("cannot handle signals: %s", strerror(errno));
		return TOOL_FAILED;
	}
	signals_admit(&signals, true);
	code = tool_connect(tool, &client);
	signals_admit(&signals, false);
	if (code != TOOL_OK)
		return code;
	err = kustos_observe(client, path, on_first, &w, &observer);
	if (err != KUSTOS_OK)
		code = tool_failed(tool, "cannot watch", path, err);
	while (code == TOOL_OK && sig == 0) {
		sig = signals_wait(&signals, LOOK_MS);
		code = atomic_load(&w.code);
	}
	/* What is being printed now may never be read, and then the callback
	   never returns.  This process takes no part in anything, so it can end
	   as it is. */
	if (atomic_exchange(&w.turn, OVER) == PRINTING && sig != 0)
		signals_suffer(sig);
	signals_admit(&signals, true); /* a second one must not wait for this */
	kustos_observer_destroy(observer);
	tool_close(client);
	if (sig != 0)
		signals_suffer(sig);
	return code;
}
