/*
 * cli.c - run the kustos command from a test.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_openpt(), pipe2() */
#endif
#include "cli.h"

#include "support/net.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *cli_program(void)
{
	const char *name = getenv("KUSTOS");

	return name == NULL ? "./kustos" : name;
}

/* In the child. */
static void become(const char *const *argv) __attribute__((noreturn));
static void become(const char *const *argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(argv[0], (char *const *)argv);
	_exit(99);
}

void cli_start_argv(struct cli *c, const char *const *argv)
{
	int in[2], out[2], err[2];

	memset(c, 0, sizeof(*c));
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
	c->pid = fork();
	ck_assert_int_ge(c->pid, 0);
	if (c->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		setpgid(0, 0); /* as by a shell with job control */
		become(argv);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	c->in = in[1];
	c->out = out[0];
	c->err = err[0];
}

void cli_start_on_terminal(struct cli *c, const char *const *argv)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int fd;

	memset(c, 0, sizeof(*c));
	ck_assert_int_ge(terminal, 0);
	ck_assert(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	c->pid = fork();
	ck_assert_int_ge(c->pid, 0);
	if (c->pid == 0) {
		setsid();
		fd = open(ptsname(terminal), O_RDWR);
		ioctl(fd, TIOCSCTTY, 0);
		for (int i = 0; i < 3; i++)
			dup2(fd, i);
		if (fd > 2)
			close(fd);
		become(argv);
	}
	c->in = c->out = terminal;
	c->err = -1;
}

void cli_type(struct cli *c, const char *text)
{
	ck_assert_int_eq(write(c->in, text, strlen(text)),
		(ssize_t)strlen(text));
}

void cli_eof(struct cli *c)
{
	close(c->in);
	c->in = -1;
}

/* Read what is there.  Returns false at the end of the input; on a terminal
   that is an error. */
static bool take(int *fd, char *text, size_t size, size_t *len)
{
	ssize_t n = read(*fd, text + *len, size - *len - 1);

	if (n <= 0) {
		if (n < 0 && errno == EINTR)
			return true;
		close(*fd);
		*fd = -1;
		return false;
	}
	*len += (size_t)n;
	text[*len] = '\0';
	return true;
}

/* Read for "ms", or until something came. */
static void pump(struct cli *c, int ms)
{
	struct pollfd fds[2] = { { c->out, POLLIN, 0 }, { c->err, POLLIN, 0 } };

	ck_assert_msg(c->out_len < sizeof(c->out_text) - 1 &&
			c->err_len < sizeof(c->err_text) - 1,
		"it says too much");
	poll(fds, 2, ms);
	if (fds[0].revents != 0 &&
		!take(&c->out, c->out_text, sizeof(c->out_text), &c->out_len) &&
		c->err < 0)
		c->in = c->in == fds[0].fd ? -1 : c->in;
	if (fds[1].revents != 0)
		take(&c->err, c->err_text, sizeof(c->err_text), &c->err_len);
}

static const char *hear(struct cli *c, const char *in, const char *text)
{
	int64_t end = test_now_ms() + CLI_MS;
	const char *found;

	while ((found = strstr(in, text)) == NULL) {
		ck_assert_msg(test_now_ms() < end &&
				(c->out >= 0 || c->err >= 0),
			"it did not say \"%s\" but \"%s\" and \"%s\"", text,
			c->out_text, c->err_text);
		pump(c, 100);
	}
	return found + strlen(text);
}

const char *cli_hears(struct cli *c, const char *text)
{
	return hear(c, c->out_text, text);
}

const char *cli_hears_error(struct cli *c, const char *text)
{
	return hear(c, c->err_text, text);
}

bool cli_runs(const struct cli *c)
{
	siginfo_t info = { .si_pid = 0 };

	ck_assert_int_eq(
		waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT),
		0);
	return info.si_pid == 0;
}

bool cli_has_spoken(const struct cli *c)
{
	struct pollfd fd = { c->out, POLLIN, 0 };

	return poll(&fd, 1, 0) != 0;
}

int cli_children(const struct cli *c, pid_t *pids, int most)
{
	char path[64];
	FILE *file;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)c->pid,
		(int)c->pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	while (count < most && fscanf(file, "%d", &pids[count]) == 1)
		count++;
	fclose(file);
	return count;
}

int cli_end(struct cli *c)
{
	int64_t end = test_now_ms() + CLI_MS;
	int status;

	/* Read to the end first: with its pipes full the program would not
	   end. */
	while (c->out >= 0 || c->err >= 0) {
		ck_assert_msg(test_now_ms() < end,
			"it does not end; it said \"%s\" and \"%s\"",
			c->out_text, c->err_text);
		pump(c, 100);
	}
	while (waitpid(c->pid, &status, WNOHANG) != c->pid) {
		ck_assert_msg(test_now_ms() < end, "it does not end");
		test_pause_1ms();
	}
	if (c->in >= 0)
		close(c->in);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool cli_on_an_old_kernel(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]),
		filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
