/*
 * elect_options.h - the options of kustos elect.
 */
#ifndef KU_ELECT_OPTIONS_H
#define KU_ELECT_OPTIONS_H

#include "job.h"

extern const char elect_help[];
extern const char elect_codes[];

struct elect_options {
	struct tool tool;
	const char *id;	 /* NULL: the default */
	int64_t wait_ms; /* -1: for ever */
	bool lock_layout;
	bool has_dialect; /* --dialect was given */
	enum kustos_dialect dialect;
	bool restart;
	bool watch; /* and run nothing */
};

/* Parse the command line into "o" and "j", which keep pointers to its strings.
   Returns false if the program is to end now, with the exit code in "tool". */
bool elect_parse(struct elect_options *o, struct job *j, int argc, char **argv);

#endif
