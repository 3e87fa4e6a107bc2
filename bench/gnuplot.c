/*
 * gnuplot.c - the program that draws.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2() */
#endif
#include "gnuplot.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gnuplot_found(void)
{
	const char *at = getenv("PATH");
	char name[1024];

	while (at != NULL && *at != '\0') {
		int len = (int)strcspn(at, ":");

		snprintf(name, sizeof(name), "%.*s/gnuplot", len, at);
		if (access(name, X_OK) == 0)
			return true;
		at += len;
		at += *at == ':';
	}
	tool_say("--plot needs gnuplot, which is not installed "
		 "(Debian: gnuplot-nox)");
	return false;
}

bool gnuplot_start(struct gnuplot *g, const struct signals *signals)
{
	static char name[] = "gnuplot", input[] = "-";
	static char *const argv[] = { name, input, NULL };
	static const char *const nothing[] = { NULL };
	int ends[2];

	g->script = NULL;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		tool_say("cannot start gnuplot: %s", strerror(errno));
		return false;
	}
	if (command_prepare(&g->command, signals, argv, ends[0]) == 0) {
		g->script = fdopen(ends[1], "w");
		if (g->script == NULL)
			command_abandon(&g->command);
		else
			command_start(&g->command, nothing);
	}
	close(ends[0]);
	if (g->script != NULL)
		return true;
	tool_say("cannot start gnuplot: %s", strerror(errno));
	close(ends[1]);
	return false;
}

bool gnuplot_end(struct gnuplot *g)
{
	bool told = fclose(g->script) == 0;
	int code = command_reap(&g->command);

	if (told && code == 0)
		return true;
	tool_say("gnuplot failed, with exit code %d", code);
	return false;
}
