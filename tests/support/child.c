/*
 * child.c - run part of a test in a process of its own.
 */
#include "child.h"
#include "net.h"
#include "process.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int child_start(struct child *c, int (*fn)(int fd, void *arg), void *arg)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	c->pid = fork();
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		_exit(getppid() == parent ? fn(pair[1], arg) : 1);
	}
	close(pair[1]);
	c->fd = pair[0];
	if (c->pid < 0) {
		close(c->fd);
		return -1;
	}
	return 0;
}

int child_say(int fd, const char *line)
{
	if (net_write(fd, line, strlen(line)) < 0)
		return -1;
	return net_write(fd, "\n", 1);
}

int child_hear(int fd, char *line, size_t size, int ms)
{
	int64_t end = test_now_ms() + ms;
	size_t len = 0;

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		int64_t left = end - test_now_ms();
		char c;

		line[len] = '\0';
		if (left < 0 || poll(&p, 1, (int)left) <= 0 ||
			read(fd, &c, 1) != 1)
			return -1;
		if (c == '\n')
			return 0;
		if (len + 1 < size)
			line[len++] = c;
	}
}

bool child_expect(int fd, const char *wanted, int ms)
{
	int64_t end = test_now_ms() + ms;
	char line[256];

	while (child_hear(fd, line, sizeof(line), (int)(end - test_now_ms())) ==
		0)
		if (strcmp(line, wanted) == 0)
			return true;
	return false;
}

int child_wait(struct child *c, int ms)
{
	int64_t end = test_now_ms() + ms;
	int status;
	pid_t pid;

	while ((pid = waitpid(c->pid, &status, WNOHANG)) == 0) {
		if (test_now_ms() > end)
			return -1;
		test_pause_1ms();
	}
	if (pid < 0)
		return -1;
	c->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void child_end(struct child *c)
{
	if (c->pid > 0)
		process_kill(c->pid);
	if (c->fd >= 0)
		close(c->fd);
	c->pid = 0;
	c->fd = -1;
}

/* End with this code, as another program: a client's copy leaves memory that it
   cannot free, and valgrind would report that and change the exit code. */
static _Noreturn void end_elsewhere(int code)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", code & 0xff);
	execl("/bin/sh", "sh", "-c", "exit \"$0\"", text, (char *)NULL);
	_exit(127);
}

int child_run(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		alarm(60);
		end_elsewhere(fn(arg));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
