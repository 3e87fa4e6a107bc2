/*
 * demo.h - what the parts of kustos-demo share.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>

#define DEMO_WORKERS 8

/* For how long locks are counted, and to warm up before that. */
struct demo_time {
	int ms, lead_ms;
};

/* The figures of one contestant; a value less than 0 is unknown. */
struct demo_figures {
	double per_second;
	double handoff_ms;
	double p50_ms, p90_ms, p99_ms, max_ms; /* waiting for the lock */
	double fewest, most;		       /* locks of one process */
	double jain; /* Jain's index of these: 1 is even */
};

/* Have Curator do the same on the server at "address".  Its files are put into
   "dir", and stay there.  Returns NULL, or a sentence that says why there are
   no figures. */
const char *demo_curator(const char *address, const char *dir,
	struct demo_time asked, struct demo_figures *out);

/* Return NULL if Curator can be measured here, else why not. */
const char *demo_curator_missing(void);

#endif
