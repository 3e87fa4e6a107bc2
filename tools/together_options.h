/*
 * together_options.h - the options of kustos barrier and of kustos latch, whose
 * first word says what to do.
 */
#ifndef KU_TOGETHER_OPTIONS_H
#define KU_TOGETHER_OPTIONS_H

#include "job.h"

struct together;

/* What to do. */
struct together_verb {
	const char *name;
	int (*run)(struct together *t);

	enum { NO_COMMAND, MAY_RUN, MUST_RUN } command;
	enum { NO_COUNT, MAY_COUNT, MUST_COUNT } count;
	bool has_id;   /* --id */
	bool has_json; /* --json */
	bool has_rest; /* --no-wait */
};

struct together {
	struct tool tool;
	struct job job; /* "path" and "argv" are there without a command, too */
	const struct together_verb *verb;
	int64_t wait_ms; /* -1: not said */
	int count;	 /* 0: not said */
	const char *id;	 /* NULL: not said */
	bool no_wait;
};

/* Parse the command line; "t" keeps pointers to its strings.  "verbs" end with
   one without a name.  Returns false if the program is to end now, with the
   exit code in "tool". */
bool together_parse(struct together *t,
	const struct tool_subcommand *subcommand,
	const struct together_verb *verbs, int argc, char **argv);

/* Return the deadline: what -w says; without it, none if "waits", else the
   session timeout. */
kustos_deadline together_deadline(const struct together *t, bool waits);

/* Print how a wait has failed, if it has, and return the exit code.  "busy" is
   what a message says if the time was over; NULL if nothing was waited for. */
int together_waited(const struct together *t, struct kustos_client *client,
	const char *verb, const char *busy, enum kustos_err err);

/* Open the client, have "take_part" run the command as one of those who meet at
   a "what", and close the client.  Returns an exit code. */
int together_run(struct together *t, const char *what, bool waits,
	int (*take_part)(struct together *t));

/* A request with a callback, during which signals may come: prepare, make the
   request, await. */
struct together_ask {
	struct job *job;
	struct kustos_cancel *cancel;
	int news; /* an eventfd */
	atomic_bool answered;
	enum kustos_err err;
};

/* To be called when the client is open.  Returns KUSTOS_OK or KUSTOS_ENOMEM. */
enum kustos_err together_prepare(struct together_ask *ask, struct job *job);

/* The callback; "arg" is the struct. */
void together_answered(void *arg, enum kustos_err err);

/* Wait for the answer if "err", which making the request has returned, is
   KUSTOS_OK; and end "ask".  A signal that ends processes cancels the request,
   and is then stored in the job. */
enum kustos_err together_await(struct together_ask *ask, enum kustos_err err);

#endif
