/*
 * job.h - a command that is run once something is held: what the subcommands
 * that do so have in common, from their options to their end.
 *
 *	job_check()	the options that all have
 *	job_prepare()	before any client is opened
 *	job_connect()
 *	under_wait() ...	until something is granted
 *	job_run()	or, if nothing was, under_abandon()
 *	job_close()
 *	job_end()
 */
#ifndef KU_JOB_H
#define KU_JOB_H

#include "tool.h"
#include "under.h"

struct job {
	const struct tool *tool;
	const char *path;   /* or several, with spaces between them */
	char *const *paths; /* of each part of the hold; NULL: it has no parts */
	atomic_bool *asked; /* of each part: was it asked for?  NULL: no parts */
	const char *what;   /* is held, for messages: "lock" */
	char *const *argv;
	const char *const *more;  /* for its environment, up to NULL; or NULL */
	int64_t grace_ms;	  /* -1: the default */
	kustos_deadline deadline; /* of the wait for it */
	bool in_time;		  /* -w limits that wait */
	struct signals *signals;
	struct under under;
	struct kustos_client *client;
	atomic_bool connected;
	int sig;   /* the signal that ended a wait, or 0 */
	bool lost; /* what the last command ran under was lost */
};

/* Return TOOL_OK, or say what is wrong with the path, the command or the
   grace. */
int job_check(const struct job *j);

/* Fork the processes that will run the command.  Returns false, having printed
   why, if that fails. */
bool job_prepare(struct job *j);

/* Open the client, and wait until it is connected; returns an exit code. */
int job_connect(struct job *j);

/* Return how long until "deadline", for poll(). */
int job_left_ms(kustos_deadline deadline);

/* Run the command under "count" holds, which the caller has to release
   afterwards.  If there are any, the command finds the token and the node of
   each in its environment.  Returns its exit code; or TOOL_LOST, having printed
   that. */
int job_run(struct job *j, struct kustos_hold *const *holds, int count);

/* Some of what the command needs was asked for before all of it was there:
   print that, and return TOOL_LOST.  The command was not started. */
int job_asked(const struct job *j);

/* Close the client.  If no server can be told soon of the end, signals end this
   process from then on: it has nothing else to do. */
void job_close(struct job *j);

/* Die of the signal that ended the wait, or as the command died, if it died of
   a key; else return "code". */
int job_end(struct job *j, int code);

#endif
