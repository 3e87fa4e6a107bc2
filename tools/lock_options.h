/*
 * lock_options.h - the options of kustos lock and of kustos semaphore.
 */
#ifndef KU_LOCK_OPTIONS_H
#define KU_LOCK_OPTIONS_H

#include "job.h"

#include <kustos/participant.h>

#include <stdbool.h>
#include <stdint.h>

extern const char lock_help[];
extern const char lock_codes[];
extern const char semaphore_help[];
extern const char semaphore_codes[];

struct lock_options {
	struct tool tool;
	bool nonblock;
	int64_t wait_ms;   /* -1: for ever */
	int conflict_code; /* -1: the usual one */
	bool quiet;	   /* print nothing of a conflict */
	const char *reason, *data;
	int record; /* -1: the default */
	bool revocable;
	enum kustos_dialect dialect;
	enum kustos_kind kind;
	const char *extra_marks;
	char *const *paths;
	int path_count;

	/* Of a semaphore. */
	int max;	      /* 0: as "max_path" says */
	const char *max_path; /* NULL: none */
	int set_max;	      /* store this there and do no more; -1: no */
	int leases;	      /* at once; 1 for a lock, too */
};

/* Give a recipe's options what it is to store in its nodes. */
#define LOCK_TAKE_DATA(to, from)                                            \
	do {                                                                \
		(to)->data = (from)->data;                                  \
		(to)->data_len = (from)->data ? strlen((from)->data) : 0;   \
		(to)->holder_record = !(from)->data && (from)->record != 0; \
		(to)->reason = (from)->reason;                              \
	} while (0)

/* Parse the command line into "o" and "j", which keep pointers to its strings.
   Returns false if the program is to end now, with the exit code in "tool". */
bool lock_parse(struct lock_options *o, struct job *j,
	const struct tool_subcommand *subcommand, int argc, char **argv);

#endif
