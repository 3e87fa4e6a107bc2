/*
 * driver.c - reading questions and printing answers.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t driver_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void driver_pause_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static void answer(driver_fn *fn, const char *hosts, const char *line)
{
	struct driver_run run = { .hosts = hosts };
	struct driver_result result = { 0 };

	if (sscanf(line, "%15s %127s %d %d %d %d", run.style, run.path,
		    &run.sessions, &run.workers, &run.lead_ms, &run.ms) != 6 ||
		run.sessions < 1 || run.workers < 1)
		result.error = "a question has six words";
	else
		fn(&run, &result);
	if (result.error != NULL)
		printf("error %s\n", result.error);
	else
		printf("ops=%lld us=%.3f%s%s\n", result.ops,
			(double)result.ns / 1000, *result.more ? " " : "",
			result.more);
	fflush(stdout);
}

int driver_main(int argc, char **argv, driver_fn *fn)
{
	char line[256];

	if (argc != 2) {
		fprintf(stderr, "usage: %s HOSTS <QUESTIONS\n", argv[0]);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin) != NULL)
		answer(fn, argv[1], line);
	return 0;
}
