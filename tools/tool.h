/*
 * tool.h - what the subcommands of kustos share: common options, exit codes,
 * complaints, and the way to a server.
 */
#ifndef KU_TOOL_H
#define KU_TOOL_H

#include <kustos/client.h>
#include <kustos/participant.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* Exit codes; one table for all subcommands, in kustos(1) and in the text of
   "kustos lock --help".  They keep out of the way of what commands return. */
enum tool_exit {
	TOOL_OK = 0,
	TOOL_BROKEN = 116,	/* what is to be done has died, or failed */
	TOOL_NONODE = 117,	/* no such path, or nobody there */
	TOOL_CHANGED = 118,	/* it is not any more what was shown */
	TOOL_REFUSED = 119,	/* the user did not confirm */
	TOOL_BUSY = 120,	/* another has it (-n) */
	TOOL_TIMEDOUT = 121,	/* another had it all the time (-w) */
	TOOL_LOST = 122,	/* lost while the command ran */
	TOOL_UNREACHABLE = 123, /* no server answered */
	TOOL_FAILED = 124,	/* any other failure of ours */
	TOOL_USAGE = 125,
	TOOL_NOEXEC = 126,
	TOOL_NOTFOUND = 127,
	TOOL_SIGNAL = 128 /* and the signal's number */
};

struct tool_subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	const char *help;   /* usage, purpose, and options of its own */
	const char *common; /* one of the two below */
	const char *codes;  /* exit codes */
};

/* What the help texts say of TOOL_OPTIONS, and of TOOL_OPTIONS_MINIMAL. */
extern const char tool_help_common[];
extern const char tool_help_minimal[];

extern const struct tool_subcommand tool_lock;
extern const struct tool_subcommand tool_semaphore;
extern const struct tool_subcommand tool_elect;
extern const struct tool_subcommand tool_barrier;
extern const struct tool_subcommand tool_latch;
extern const struct tool_subcommand tool_queue;
extern const struct tool_subcommand tool_ls;
extern const struct tool_subcommand tool_top;
extern const struct tool_subcommand tool_break;
extern const struct tool_subcommand tool_server;
extern const struct tool_subcommand tool_bench;

/* What the common options say. */
struct tool {
	const struct tool_subcommand *subcommand;
	const char *hosts;
	char *const *paths; /* of the command line */
	int path_count;
	const char *more_paths[3]; /* of options; NULL: not said */
	int session_ms;
	int64_t wait_ms; /* for a server as well, as -w says; 0 and less: no limit */
	const char *auth_file; /* NULL: no credentials */
	bool creator_only;     /* nodes are for their creator only */
	bool json;
	bool verbose;
	int exit_code; /* after tool_common() has returned false */
};

/* Values of long options that have no letter. */
enum {
	TOOL_OPT_HOSTS = 1000,
	TOOL_OPT_SESSION,
	TOOL_OPT_AUTH_FILE,
	TOOL_OPT_ACL,
	TOOL_OPT_JSON,
	TOOL_OPT_MARKS,
	TOOL_OPT_VERSION,
	TOOL_OPT_OWN /* from here on a subcommand's own */
};

#define TOOL_OPTIONS_MINIMAL                                   \
	{ "help", no_argument, NULL, 'h' },                    \
	{                                                      \
		"version", no_argument, NULL, TOOL_OPT_VERSION \
	}
#define TOOL_OPTIONS                                                          \
	{ "hosts", required_argument, NULL, TOOL_OPT_HOSTS },                 \
		{ "session-timeout", required_argument, NULL,                 \
			TOOL_OPT_SESSION },                                   \
		{ "auth-file", required_argument, NULL, TOOL_OPT_AUTH_FILE }, \
		{ "acl", required_argument, NULL, TOOL_OPT_ACL },             \
		{ "verbose", no_argument, NULL, 'v' }, TOOL_OPTIONS_MINIMAL
#define TOOL_OPTION_MARKS                                              \
	{                                                              \
		"extra-marks", required_argument, NULL, TOOL_OPT_MARKS \
	}
#define TOOL_OPTION_JSON                                 \
	{                                                \
		"json", no_argument, NULL, TOOL_OPT_JSON \
	}

/* Set the defaults, and those that the environment has. */
void tool_init(struct tool *tool, const struct tool_subcommand *subcommand);

/* Print the help text.  Returns an exit code. */
int tool_help(const struct tool_subcommand *subcommand);

/* To be called before options are parsed again, behind an argument:
   getopt_long() remembers a "--" that stood before the argument, and would
   exchange the two if another "--" came. */
void tool_options_anew(void);

/* Take one of the common options, as getopt_long() returned it.  Returns false
   if that ends the program, with "exit_code". */
bool tool_common(struct tool *tool, int option);

/* Write "kustos: " and one line on standard error. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same about wrong use, with a hint.  Returns TOOL_USAGE. */
int tool_usage(const struct tool *tool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Say that "what" failed for "path", and return the exit code for "err". */
int tool_failed(const struct tool *tool, const char *what, const char *path,
	enum kustos_err err);

/* The same for a failed call of "client": if it is the chroot that is missing,
   that is said.  So a subcommand that uses tool_open(), for speed, and makes a
   node first need not check the chroot. */
int tool_failed_of(const struct tool *tool, struct kustos_client *client,
	const char *what, const char *path, enum kustos_err err);

/* Parse a number of at least "least"; or a number of seconds, perhaps with a
   fraction, into milliseconds.  Return false if "text" is no such number. */
bool tool_number(const char *text, int least, int *out);
bool tool_seconds(const char *text, int64_t *out_ms);

/* The same for the argument of the option "name", with a complaint and an exit
   code if it is none. */
bool tool_take_number(struct tool *tool, const char *name, int least, int most,
	int *out);
bool tool_take_seconds(struct tool *tool, const char *name, int64_t *out_ms);

/* The same for the argument of --dialect. */
bool tool_take_dialect(struct tool *tool, enum kustos_dialect *out);

/* The same for that of --extra-marks. */
bool tool_take_marks(struct tool *tool, const char **out);

/* Open a client as the options say; it connects in the background.  Returns
   TOOL_OK or an exit code, having printed what is wrong.  A path that is not
   valid is refused here, which needs no server. */
int tool_open(const struct tool *tool, struct kustos_client **out);

/* The same, and wait until the client is connected: for the session's timeout,
   or for "wait_ms" if that is less.  If "hosts" names a chroot, check that it
   is there, which takes one round trip.  Without the check a wait for a node
   would last for ever, and a deletion would seem to be done. */
int tool_connect(const struct tool *tool, struct kustos_client **out);

/* Print that no server could be reached; or not in the time of -w, so that it
   is not known whether a server would answer at all.  Return
   TOOL_UNREACHABLE. */
int tool_unreachable(const struct tool *tool);
int tool_unreachable_in_time(const struct tool *tool);

/* Close it, giving the server a moment to learn of that. */
void tool_close(struct kustos_client *client);

/* Write all of "data" to a descriptor, also if that is non-blocking.  Returns
   false, with errno set, if that fails. */
bool tool_write(int fd, const char *data, size_t len);

/* Have standard output be written by tool_write() from now on.  Returns false
   if memory is short. */
bool tool_wait_for_output(void);

/* Flush standard output.  Returns "exit_code", or TOOL_FAILED if something
   could not be written. */
int tool_flush(int exit_code);

#endif
