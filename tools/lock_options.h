/*
 * lock_options.h - the options of kustos lock.
 */
#ifndef KU_LOCK_OPTIONS_H
#define KU_LOCK_OPTIONS_H

#include "tool.h"

#include <kustos/participant.h>

#include <stdbool.h>
#include <stdint.h>

extern const char lock_help[];
extern const char lock_codes[];

struct lock_options {
	struct tool tool;
	const char *path;
	char **argv;
	bool nonblock;
	int64_t wait_ms;   /* -1: for ever */
	int conflict_code; /* -1: ours */
	int64_t grace_ms;  /* -1: the default */
	const char *reason, *data;
	int record; /* -1: the default */
	enum kustos_dialect dialect;
	enum kustos_kind kind;
};

/* Read the command line, whose strings are lent.  Returns false if that ends
   the program, with the exit code of "tool". */
bool lock_parse(struct lock_options *o, int argc, char **argv);

#endif
