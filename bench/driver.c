/*
 * driver.c - reading questions and printing answers.
 */
#include "driver.h"
#include "clocks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void driver_pause_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

const void *driver_style(const struct driver_run *run, const void *styles,
	size_t count, size_t size, struct driver_result *result)
{
	for (size_t i = 0; i < count; i++) {
		const void *style = (const char *)styles + i * size;

		if (strcmp(*(const char *const *)style, run->style) == 0)
			return style;
	}
	result->error = "no such style";
	return NULL;
}

static int repeat(int ms, int (*once)(void *arg), void *arg,
	struct driver_result *result)
{
	int64_t start = clocks_now_ns();
	int64_t end = start + ms * INT64_C(1000000);

	result->ops = 0;
	while (clocks_now_ns() < end) {
		if (once(arg) < 0)
			return -1;
		result->ops++;
	}
	result->ns = clocks_now_ns() - start;
	return 0;
}

int driver_repeat(const struct driver_run *run, int (*once)(void *arg),
	void *arg, struct driver_result *result)
{
	if (repeat(run->lead_ms, once, arg, result) < 0)
		return -1;
	return repeat(run->ms, once, arg, result);
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
