/*
 * reaper_loop.c - the reaper process itself: one thread, one loop.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw() */
#endif
#include "reaper_loop.h"
#include "close_from.h"
#include "net.h"
#include "reaper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 64
#define PORTS 8 /* the most that a slot can reserve */

struct slot {
	bool used;
	pid_t pid;
	int ports[PORTS]; /* descriptors that hold the reservation */
	int port_count;
};

static struct slot slots[SLOTS];
static char base[REAPER_PATH];

static int remove_one(const char *path, const struct stat *st, int type,
	struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int remove_tree(const char *path)
{
	return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void slot_dir(int slot, char *out, size_t size)
{
	snprintf(out, size, "%s/%d", base, slot);
}

static void collect_dead(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int i = 0; i < SLOTS; i++)
			if (slots[i].pid == pid)
				slots[i].pid = 0;
}

static void kill_slot(struct slot *slot)
{
	if (slot->pid == 0)
		return;
	kill(slot->pid, SIGKILL);
	while (waitpid(slot->pid, NULL, 0) < 0 && errno == EINTR)
		;
	slot->pid = 0;
}

static void drop(int i)
{
	char dir[REAPER_PATH + 16];

	kill_slot(&slots[i]);
	for (int p = 0; p < slots[i].port_count; p++)
		close(slots[i].ports[p]);
	slot_dir(i, dir, sizeof(dir));
	remove_tree(dir);
	memset(&slots[i], 0, sizeof(slots[i]));
}

static int take_slot(void)
{
	char dir[REAPER_PATH + 16];
	int i = 0;

	while (i < SLOTS && slots[i].used)
		i++;
	if (i == SLOTS)
		return -1;
	slot_dir(i, dir, sizeof(dir));
	if (mkdir(dir, 0700) < 0)
		return -1;
	slots[i].used = true;
	return i;
}

static int reserve(struct slot *slot, const char *ip)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd;

	if (slot->port_count == PORTS ||
		inet_pton(AF_INET, ip, &a.sin_addr) != 1)
		return -1;
	fd = net_reserve(&a);
	if (fd < 0)
		return -1;
	slot->ports[slot->port_count++] = fd;
	return ntohs(a.sin_port);
}

static void run(int slot, char **argv) __attribute__((noreturn));
static void run(int slot, char **argv)
{
	char dir[REAPER_PATH + 16];
	sigset_t none;
	int log;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	slot_dir(slot, dir, sizeof(dir));
	if (chdir(dir) < 0)
		_exit(127);
	log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(127);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static int spawn(int slot, int argc, char *text)
{
	char *argv[REAPER_ARGS + 1];
	pid_t parent = getpid();
	pid_t pid;

	if (slots[slot].pid != 0 || argc < 1 || argc > REAPER_ARGS)
		return -1;
	for (int i = 0; i < argc; i++) {
		argv[i] = text;
		text += strlen(text) + 1;
	}
	argv[argc] = NULL;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		run(slot, argv);
	}
	if (pid < 0)
		return -1;
	slots[slot].pid = pid;
	return 0;
}

static int send_signal(struct slot *slot, int sig)
{
	if (slot->pid == 0)
		return -1;
	if (sig == SIGKILL)
		kill_slot(slot);
	else
		kill(slot->pid, sig);
	return 0;
}

static int answer(struct reaper_message *m)
{
	struct slot *slot;

	if (m->op == REAPER_SLOT)
		return take_slot();
	if (m->slot < 0 || m->slot >= SLOTS || !slots[m->slot].used)
		return -1;
	slot = &slots[m->slot];
	switch (m->op) {
	case REAPER_RESERVE:
		return reserve(slot, m->text);
	case REAPER_SPAWN:
		return spawn(m->slot, m->value, m->text);
	case REAPER_PID:
		return slot->pid;
	case REAPER_SIGNAL:
		return send_signal(slot, m->value);
	case REAPER_DROP:
		drop(m->slot);
		return 0;
	default:
		return -1;
	}
}

static void clean(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].used)
			drop(i);
	remove_tree(base);
}

static void reply(int fd, struct reaper_message *m, int value)
{
	m->value = value;
	send(fd, m, offsetof(struct reaper_message, text), MSG_NOSIGNAL);
}

/* Returns false when the owner wants no more. */
static bool serve(int fd)
{
	struct reaper_message m;
	ssize_t n;

	memset(&m, 0, sizeof(m));
	n = recv(fd, &m, sizeof(m), 0);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	collect_dead();
	if (m.op == REAPER_QUIT) {
		clean();
		reply(fd, &m, 0);
		return false;
	}
	reply(fd, &m, answer(&m));
	return true;
}

/* Returns false when it is time to end. */
static bool take_signal(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return true;
	collect_dead();
	return info.ssi_signo == SIGCHLD;
}

/*
 * Leave the owner's terminal, and its process group, which libcheck kills as a
 * whole.  Close the descriptors that were inherited: a socket would stay open
 * when the owner closes it, if there was a copy here.
 */
static int detach(int fd)
{
	sigset_t set;
	int null;

	setsid();
	prctl(PR_SET_NAME, "test-reaper");
	if (fd != 3 && (dup2(fd, 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) < 0))
		_exit(1);
	close_from(4);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	close(null);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int make_base(void)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || tmp[0] == '\0')
		tmp = "/tmp";
	snprintf(base, sizeof(base), "%s/kustos-test-XXXXXX", tmp);
	return mkdtemp(base) == NULL ? -1 : 0;
}

/* Return a descriptor that can be read when the process has ended, or -1.  Not
   every libc has a function for the call. */
static int watch_end(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0U);
#else
	(void)pid;
	return -1;
#endif
}

void reaper_loop(int fd, pid_t owner)
{
	struct reaper_message hello = { .op = REAPER_SLOT };
	struct pollfd fds[3];
	bool on = true;

	fds[1].fd = detach(fd);
	fds[0].fd = 3;
	/* Without pidfds only the end of the socket tells that the owner is
	   gone; a forked process may keep it open longer.  poll() skips a
	   negative descriptor. */
	fds[2].fd = watch_end(owner);
	hello.value = make_base();
	memcpy(hello.text, base, sizeof(base));
	send(3, &hello, sizeof(hello), MSG_NOSIGNAL);
	if (hello.value < 0)
		_exit(1);
	for (int i = 0; i < 3; i++)
		fds[i].events = POLLIN;
	on = getppid() == owner;
	while (on) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[2].revents != 0)
			on = false;
		else if (fds[1].revents != 0)
			on = take_signal(fds[1].fd);
		else if (fds[0].revents != 0)
			on = serve(fds[0].fd);
	}
	clean();
	_exit(0);
}
