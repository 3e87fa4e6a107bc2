/*
 * command.c - run a program in a process group of its own, as a shell would.
 *
 * The command gets the terminal from the start if that is both its input and
 * its output.  Otherwise, in a pipeline, the foreground stays with the whole
 * pipeline, and the command gets it only once it reads from the terminal.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2() */
#endif
#include "command.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: read one byte; exit if there is none. */
static char next_byte(int fd)
{
	char c;
	ssize_t n;

	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(TOOL_FAILED); /* not started: nobody looks at the code */
	return c;
}

/* In the child: get zeroed memory.  Not from malloc(): another thread of the
   parent may have been in there.  (The C library allows for that, but the
   sanitizers do not.) */
static void *get_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		return memory;
	tool_say("out of memory");
	_exit(TOOL_FAILED);
}

/* More than this no program could be given. */
#define ENVIRONMENT_MAX ((size_t)8 << 20)

/* In the child: read lines up to an empty one.  Stores how many there are,
   without that. */
static char *read_lines(int fd, size_t *count)
{
	char *text = get_memory(ENVIRONMENT_MAX);
	size_t len = 0, start;

	for (*count = 0;; (*count)++) {
		start = len;
		while (len < ENVIRONMENT_MAX - 1 &&
			(text[len] = next_byte(fd)) != '\0')
			len++;
		if (len == start)
			return text;
		len++;
	}
}

/* Is a variable of the same name as in "line" among these lines? */
static bool is_set(const char *line, char *const *lines, size_t count)
{
	size_t len = strcspn(line, "=") + 1;

	for (size_t i = 0; i < count; i++)
		if (strncmp(lines[i], line, len) == 0)
			return true;
	return false;
}

/* In the child: take lines into the environment, up to an empty one. */
static void take_environment(int fd)
{
	size_t lines, count = 0, old = 0;
	char *line = read_lines(fd, &lines);

	while (environ[old] != NULL)
		old++;
	char **all = get_memory((lines + old + 1) * sizeof(*all));
	for (; count < lines; line += strlen(line) + 1)
		all[count++] = line;
	for (size_t i = 0; i < old; i++)
		if (!is_set(environ[i], all, lines))
			all[count++] = environ[i];
	environ = all;
}

#define FD_FIRST 3   /* the first that is no standard one */
#define FD_MOST 1024 /* those from here on are left as they are */

static bool limited;
static bool were_open[FD_MOST];

void command_limit_descriptors(void)
{
	limited = true;
	for (int fd = FD_FIRST; fd < FD_MOST; fd++)
		were_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* In the child: have the program inherit only what was open at
   command_limit_descriptors().  Not all descriptors that libzookeeper has
   opened since are close-on-exec. */
static void keep_to_limit(void)
{
	for (int fd = FD_FIRST; limited && fd < FD_MOST; fd++)
		if (!were_open[fd])
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* In the child: wait for the environment, which comes from "fd", and execute
   "argv".  That closes "word"; if it fails, a byte is written there. */
static void become(const struct command *c, int fd, int word, char *const *argv)
	__attribute__((noreturn));
static void become(const struct command *c, int fd, int word, char *const *argv)
{
	setpgid(0, 0);
	take_environment(fd);
	keep_to_limit();
	signals_restore(c->signals);
	if (c->input == 0 || dup2(c->input, 0) == 0)
		execvp(argv[0], argv);
	int err = errno;
	tool_say("cannot execute %s: %s", argv[0], strerror(err));
	(void)!write(word, "", 1);
	_exit(err == ENOENT ? TOOL_NOTFOUND : TOOL_NOEXEC);
}

/* Close those that are not -1, and keep errno. */
static void close_all(const int *fds, int count)
{
	int why = errno;

	for (int i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	errno = why;
}

int command_prepare(struct command *c, const struct signals *signals,
	char *const *argv, int input)
{
	int ends[5] = { -1, -1, -1, -1, -1 }; /* of two pipes; the terminal */

	memset(c, 0, sizeof(*c));
	c->signals = signals;
	c->input = input;
	ends[4] = c->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	c->pid = -1;
	if (pipe2(ends, O_CLOEXEC) == 0 && pipe2(ends + 2, O_CLOEXEC) == 0)
		c->pid = fork();
	if (c->pid == 0) {
		close(ends[1]);
		close(ends[2]);
		become(c, ends[0], ends[3], argv);
	}
	if (c->pid < 0) {
		close_all(ends, 5);
		return -1;
	}
	close(ends[0]);
	close(ends[3]);
	c->go = ends[1];
	c->word = ends[2];
	setpgid(c->pid, c->pid); /* both do: either may be first */
	return 0;
}

static bool in_foreground(const struct command *c)
{
	return c->tty >= 0 && tcgetpgrp(c->tty) == getpgrp();
}

static void give_terminal(struct command *c)
{
	if (in_foreground(c) && tcsetpgrp(c->tty, c->pid) == 0)
		c->given = true;
}

/* SIGTTOU, which would stop a process in the background, is blocked. */
static void take_terminal_back(struct command *c)
{
	if (c->given && tcgetpgrp(c->tty) == c->pid)
		tcsetpgrp(c->tty, getpgrp());
	c->given = false;
}

static void send_text(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return; /* the child was killed, which is seen later */
		text += n;
		len -= (size_t)n;
	}
}

void command_start(struct command *c, const char *const *environment)
{
	if (c->input == 0 && isatty(0) && isatty(1))
		give_terminal(c);
	for (; *environment != NULL; environment++)
		send_text(c->go, *environment, strlen(*environment) + 1);
	send_text(c->go, "", 1);
	close(c->go);
}

void command_abandon(struct command *c)
{
	pid_t pid;
	int status;

	close(c->go);
	do {
		pid = waitpid(c->pid, &status, WUNTRACED);
		if (pid > 0 && WIFSTOPPED(status))
			kill(c->pid, SIGCONT); /* to see the end of the pipe */
	} while (pid > 0 ? WIFSTOPPED(status) : errno == EINTR);
	close(c->word);
	if (c->tty >= 0)
		close(c->tty);
}

void command_signal(struct command *c, int sig)
{
	kill(-c->pid, sig);
}

/* Whether this process was stopped and then continued. */
static bool was_continued(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT);
}

/* The command was stopped by "sig": stop this process as well, as a shell
   expects of a job.  Without job control these signals do nothing, and we go on
   at once.  SIGSTOP is meant for the command alone. */
static enum command_news follow(struct command *c, int sig)
{
	bool reads = sig == SIGTTIN || sig == SIGTTOU;

	if (sig == SIGSTOP)
		return COMMAND_NOTHING;
	if (reads && in_foreground(c)) {
		give_terminal(c);
		return COMMAND_STOPPED;
	}
	take_terminal_back(c);
	signals_suffer_group(sig);
	if (reads && !was_continued()) {
		tool_say("the command waits for a terminal it cannot have");
		return COMMAND_NOTHING;
	}
	return COMMAND_STOPPED;
}

enum command_news command_look(struct command *c, pid_t *other)
{
	siginfo_t info;
	enum command_news news = COMMAND_NOTHING;

	do {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info,
			    WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0 ||
			info.si_pid == 0)
			return COMMAND_NOTHING;
		if (info.si_pid != c->pid) {
			int status = 0;
			bool stopped = info.si_code == CLD_STOPPED;

			*other = info.si_pid;
			/* One that was stopped may have been killed by now. */
			if (waitpid(*other, &status, WNOHANG | WUNTRACED) > 0)
				stopped = WIFSTOPPED(status);
			return stopped ? COMMAND_OTHER_STOPPED : COMMAND_OTHER;
		}
		if (info.si_code != CLD_STOPPED)
			return COMMAND_ENDED;
		waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG);
		if (info.si_pid != 0)
			news = follow(c, info.si_status);
	} while (news == COMMAND_NOTHING);
	return news;
}

void command_resume(struct command *c)
{
	if (isatty(0) && isatty(1))
		give_terminal(c);
	command_signal(c, SIGCONT);
}

int command_reap(struct command *c)
{
	int status = 0;
	char byte;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->not_executed = read(c->word, &byte, 1) == 1; /* or its end */
	close(c->word);
	if (c->given && tcgetpgrp(c->tty) == c->pid)
		tcsetpgrp(c->tty, getpgrp());
	if (c->tty >= 0)
		close(c->tty);
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : TOOL_SIGNAL + WTERMSIG(status);
}

void command_imitate(const struct command *c, int code)
{
	if (c->given && code == TOOL_SIGNAL + SIGINT)
		signals_suffer(SIGINT);
}
