/*
 * reaper.c - the test's side of the reaper: start it, and ask things of it.
 */
#include "reaper.h"
#include "reaper_loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct reaper {
	struct reaper *outer; /* the reaper of the parent process */
	pid_t owner;
	pid_t pid;
	int fd;
	char dir[REAPER_PATH];
};

/* Guards these variables, and keeps a question and its answer together. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reaper *mine;
static int questions;

/*
 * Send a question and receive the answer into the same place.  If a forked
 * process was killed between the two, its answer is left, and is passed over.
 */
static int exchange(int fd, struct reaper_message *m, size_t text_len)
{
	const size_t head = offsetof(struct reaper_message, text);
	const int64_t serial = m->serial;
	ssize_t n;

	if (send(fd, m, head + text_len, MSG_NOSIGNAL) !=
		(ssize_t)(head + text_len))
		return -1;
	do {
		n = recv(fd, m, sizeof(*m), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)head)
			return -1;
	} while (n < 0 || m->serial != serial);
	return 0;
}

static int ask(struct reaper *reaper, enum reaper_op op, int slot, int value,
	const char *text, size_t text_len)
{
	struct reaper_message m;
	int err;

	if (text_len > sizeof(m.text))
		return -1;
	memset(&m, 0, sizeof(m));
	m.op = op;
	m.slot = slot;
	m.value = value;
	if (text_len > 0)
		memcpy(m.text, text, text_len);
	pthread_mutex_lock(&lock);
	m.serial = (int64_t)getpid() << 32 | (uint32_t)++questions;
	err = exchange(reaper->fd, &m, text_len);
	pthread_mutex_unlock(&lock);
	return err < 0 ? -1 : m.value;
}

/* If the owner exits in order, it waits until everything is cleaned up. */
static void quit(void)
{
	struct reaper *outer;

	if (mine == NULL || mine->owner != getpid())
		return;
	ask(mine, REAPER_QUIT, 0, 0, NULL, 0);
	waitpid(mine->pid, NULL, 0);
	close(mine->fd);
	outer = mine->outer;
	free(mine);
	mine = outer;
}

static struct reaper *start(void)
{
	struct reaper *reaper = calloc(1, sizeof(*reaper));
	struct reaper_message hello;
	pid_t owner = getpid();
	int pair[2];

	if (reaper == NULL)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		goto fail;
	reaper->pid = fork();
	if (reaper->pid == 0)
		reaper_loop(pair[1], owner);
	close(pair[1]);
	memset(&hello, 0, sizeof(hello));
	if (reaper->pid < 0 || recv(pair[0], &hello, sizeof(hello), 0) <= 0 ||
		hello.value != 0) {
		close(pair[0]);
		goto fail;
	}
	reaper->owner = owner;
	reaper->fd = pair[0];
	memcpy(reaper->dir, hello.text, sizeof(reaper->dir) - 1);
	return reaper;
fail:
	free(reaper);
	return NULL;
}

struct reaper *reaper_get(void)
{
	struct reaper *reaper;

	pthread_mutex_lock(&lock);
	/* A forked process has inherited its parent's reaper, which does not
	   watch the forked process. */
	if (mine == NULL || mine->owner != getpid()) {
		reaper = start();
		if (reaper != NULL) {
			reaper->outer = mine;
			mine = reaper;
			atexit(quit);
		}
	} else {
		reaper = mine;
	}
	pthread_mutex_unlock(&lock);
	return reaper;
}

pid_t reaper_self(const struct reaper *reaper)
{
	return reaper->pid;
}

const char *reaper_dir(const struct reaper *reaper)
{
	return reaper->dir;
}

int reaper_slot(struct reaper *reaper)
{
	return ask(reaper, REAPER_SLOT, 0, 0, NULL, 0);
}

int reaper_reserve(struct reaper *reaper, int slot, const char *ip)
{
	return ask(reaper, REAPER_RESERVE, slot, 0, ip, strlen(ip) + 1);
}

int reaper_spawn(struct reaper *reaper, int slot, const char *const *argv)
{
	char text[REAPER_TEXT];
	size_t len = 0;
	int argc;

	for (argc = 0; argv[argc] != NULL; argc++) {
		size_t n = strlen(argv[argc]) + 1;

		if (len + n > sizeof(text) || argc == REAPER_ARGS)
			return -1;
		memcpy(text + len, argv[argc], n);
		len += n;
	}
	return ask(reaper, REAPER_SPAWN, slot, argc, text, len);
}

pid_t reaper_pid(struct reaper *reaper, int slot)
{
	int pid = ask(reaper, REAPER_PID, slot, 0, NULL, 0);

	return pid < 0 ? 0 : pid;
}

int reaper_signal(struct reaper *reaper, int slot, int sig)
{
	return ask(reaper, REAPER_SIGNAL, slot, sig, NULL, 0);
}

void reaper_drop(struct reaper *reaper, int slot)
{
	ask(reaper, REAPER_DROP, slot, 0, NULL, 0);
}
