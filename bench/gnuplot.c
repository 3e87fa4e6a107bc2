/*
 * gnuplot.c - the program that draws.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif
#include "gnuplot.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 20

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

FILE *gnuplot_script(void)
{
	int fd = memfd_create("gnuplot", MFD_CLOEXEC);
	FILE *script = fd < 0 ? NULL : fdopen(fd, "w");

	if (script != NULL)
		return script;
	tool_say("cannot start gnuplot: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Wait for the end of gnuplot, or for a signal, which is returned: gnuplot is
   in a process group of its own, so that the terminal's keys do not reach
   it. */
static int await_end(const struct command *command, struct signals *signals)
{
	siginfo_t info = { .si_pid = 0 };
	int sig = 0;

	while (waitid(P_PID, (id_t)command->pid, &info,
		       WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == 0 && sig == 0)
		sig = signals_wait(signals, LOOK_MS);
	return sig;
}

int gnuplot_draw(FILE *script, struct signals *signals)
{
	static char name[] = "gnuplot", input[] = "-";
	static char *const argv[] = { name, input, NULL };
	static const char *const nothing[] = { NULL };
	struct command command;
	int sig, code;

	/* The whole script is written before gnuplot is started: if that does
	   not read it, no write here blocks. */
	if (fflush(script) != 0 || lseek(fileno(script), 0, SEEK_SET) != 0 ||
		command_prepare(&command, signals, argv, fileno(script)) < 0) {
		tool_say("cannot start gnuplot: %s", strerror(errno));
		fclose(script);
		return TOOL_FAILED;
	}
	command_start(&command, nothing);
	fclose(script);
	sig = await_end(&command, signals);
	if (sig != 0)
		command_signal(&command, SIGKILL);
	code = command_reap(&command);
	if (sig != 0)
		return TOOL_SIGNAL + sig;
	if (code == 0)
		return TOOL_OK;
	tool_say("gnuplot failed, with exit code %d", code);
	return TOOL_FAILED;
}
