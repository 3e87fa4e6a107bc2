/*
 * kustos.c - the command: finds the subcommand and hands over to it.
 */
#include "tool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const struct tool_subcommand *const subcommands[] = {
	&tool_lock,
	&tool_semaphore,
	&tool_elect,
	&tool_barrier,
	&tool_latch,
	&tool_queue,
	&tool_ls,
	&tool_top,
	&tool_break,
	&tool_server,
	&tool_bench,
};
#define COUNT (sizeof(subcommands) / sizeof(subcommands[0]))

static const struct tool_subcommand *find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(subcommands[i]->name, name) == 0)
			return subcommands[i];
	return NULL;
}

static int overview(void)
{
	puts("Usage: kustos SUBCOMMAND [OPTION]... [ARGUMENT]...\n"
	     "\n"
	     "Locks for shell scripts and operators, kept by ZooKeeper.\n");
	for (size_t i = 0; i < COUNT; i++)
		printf("  kustos %-9s  %s\n", subcommands[i]->name,
			subcommands[i]->summary);
	puts("\n"
	     "'kustos help SUBCOMMAND' describes one of them, kustos(1) all.\n"
	     "Servers are named by --hosts or $KUSTOS_HOSTS.");
	return tool_flush(TOOL_OK);
}

static int no_such(const char *name)
{
	if (*name == '-')
		tool_say("%s is before the subcommand, but options go after "
			 "it; see 'kustos help'",
			name);
	else
		tool_say("there is no subcommand '%s'; see 'kustos help'",
			name);
	return TOOL_USAGE;
}

static int help(int argc, char **argv)
{
	const struct tool_subcommand *s;

	if (argc < 2)
		return overview();
	s = find(argv[1]);
	if (s == NULL)
		return no_such(argv[1]);
	return tool_help(s);
}

/* Open those standard descriptors that this process was started without.
   Otherwise a connection could get such a number, and messages would be written
   into it.  Reading from these or writing to them fails, as it does without
   them; and commands do not inherit them. */
static bool fill_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++) {
		int how = fd == 0 ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", how | O_CLOEXEC) != fd)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static char name[64]; /* what getopt_long() begins its complaints with */
	const struct tool_subcommand *s;

	if (!fill_descriptors() || !tool_wait_for_output())
		return TOOL_FAILED;
	if (argc < 2) {
		tool_say("no subcommand; see 'kustos help'");
		return TOOL_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("kustos %s\n", kustos_version());
		return tool_flush(TOOL_OK);
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
		strcmp(argv[1], "-h") == 0)
		return help(argc - 1, argv + 1);
	s = find(argv[1]);
	if (s == NULL)
		return no_such(argv[1]);
	snprintf(name, sizeof(name), "kustos: %s", s->name);
	argv[1] = name;
	return s->run(argc - 1, argv + 1);
}
