/*
 * driver.h - what bench/compare asks of a driver, whatever it drives.
 *
 * A driver is started as "DRIVER HOSTS" and serves until the end of its
 * standard input, so that what has warmed up stays warm.  A question is a line:
 *
 *	STYLE PATH SESSIONS WORKERS LEAD_MS MS
 *
 * WORKERS loops of lock and unlock, spread over SESSIONS sessions, contend for
 * PATH.  Once all of them stand in the line at the same time and LEAD_MS more
 * have passed, the locks that are granted within MS are counted.  A worker that
 * was served goes to the end of the line, so that the line keeps its length.
 * The answer is a line as well, with further figures if there are any:
 *
 *	ops=COUNT us=MICROSECONDS [NAME=VALUE...]
 *	error SENTENCE
 *
 * Styles that every driver of a lock knows:
 *
 *	own	each worker has a thread and a lock object of its own
 *	shared	each worker has a thread; they share one lock object, and the
 *		counting starts without waiting for them
 */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver_run {
	const char *hosts;
	char style[16];
	char path[128];
	int sessions;
	int workers;
	int lead_ms;
	int ms;
};

struct driver_result {
	long long ops;
	int64_t ns;
	/* The first failure; never freed.  Set by any thread. */
	_Atomic(const char *) error;
	char more[96]; /* further figures, as they are printed */
};

/* Do what "run" says; on failure set the result's error. */
typedef void driver_fn(const struct driver_run *run,
	struct driver_result *result);

/* Serve questions with "fn" until their end.  Returns the exit code. */
int driver_main(int argc, char **argv, driver_fn *fn);

/* Return the one of "count" styles, each of "size" bytes and beginning with a pointer
   to its name, that "run" asks for.  NULL, and an error of the result, if there is
   none. */
const void *driver_style(const struct driver_run *run, const void *styles,
	size_t count, size_t size, struct driver_result *result);

void driver_pause_ms(int ms);

/* Call "once" again and again.  The calls are counted after the run's lead_ms,
   for its ms.  Returns 0, or -1 as soon as "once" does. */
int driver_repeat(const struct driver_run *run, int (*once)(void *arg),
	void *arg, struct driver_result *result);

#endif
