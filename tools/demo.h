/*
 * demo.h - what the parts of kustos-demo share.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>

#define DEMO_WORKERS 8
#define DEMO_MS 3000	  /* for which is counted */
#define DEMO_LEAD_MS 1000 /* that go before it, so that all is warm */

/* What is told about one contestant; less than 0 is not known. */
struct demo_figures {
	double per_second;
	double handoff_ms;
	double p50_ms, p90_ms, p99_ms, max_ms; /* waiting for the lock */
	double fewest, most;		       /* locks of one process */
	double jain; /* Jain's index of these: 1 is even */
};

/* Have Curator do the same on the server at "address", where "dir" is for its
   files and is removed by whoever made it.  Returns NULL, or a sentence that
   says why there are no figures. */
const char *demo_curator(const char *address, const char *dir,
	struct demo_figures *out);

/* Is there something of Curator's to measure?  NULL, or why not. */
const char *demo_curator_missing(void);

#endif
