/*
 * signals.c - all signals as events of one descriptor.
 *
 * They are blocked and read, not handled: no disposition but that of SIGCHLD is
 * touched, so a command started later finds them as this process did.
 */
#include "signals.h"

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Signals of a fault cannot sensibly be blocked.  SIGPIPE stays blocked and
   unread: a write that fails says so itself. */
static const int never_read[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
	SIGSYS, SIGABRT, SIGPIPE, SIGKILL, SIGSTOP };

static bool was_ignored(int sig)
{
	struct sigaction old;

	return sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

int signals_take(struct signals *s)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t block;

	if (s->taken)
		return 0;
	/* If SIGCHLD was ignored the kernel would reap all children, and there
	   would be nothing to wait for. */
	sigemptyset(&plain.sa_mask);
	if (sigaction(SIGCHLD, &plain, &s->old_child) < 0)
		return -1;
	sigfillset(&s->read);
	for (size_t i = 0; i < sizeof(never_read) / sizeof(int); i++)
		sigdelset(&s->read, never_read[i]);
	block = s->read;
	sigaddset(&block, SIGPIPE);
	/* A blocked signal stays pending even if it is ignored, and would be
	   read. */
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGCHLD && was_ignored(sig))
			sigdelset(&s->read, sig);
	if (sigprocmask(SIG_BLOCK, &block, &s->old_mask) < 0)
		return -1;
	s->fd = signalfd(-1, &s->read, SFD_CLOEXEC | SFD_NONBLOCK);
	s->taken = s->fd >= 0;
	return s->taken ? 0 : -1;
}

void signals_admit(const struct signals *s, bool on)
{
	pthread_sigmask(on ? SIG_UNBLOCK : SIG_BLOCK, &s->read, NULL);
}

int signals_next(struct signals *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

static bool stops(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

bool signals_ends(int sig)
{
	return !stops(sig) && sig != SIGCHLD && sig != SIGCONT &&
		sig != SIGURG && sig != SIGWINCH;
}

int signals_obey(struct signals *s)
{
	int sig;

	while ((sig = signals_next(s)) != 0) {
		if (signals_ends(sig))
			return sig;
		if (stops(sig))
			signals_suffer(sig);
	}
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int signals_wait(struct signals *s, int ms)
{
	struct pollfd fd = { s->fd, POLLIN, 0 };
	int64_t end = now_ms() + ms;
	int sig;

	do {
		(void)poll(&fd, 1, ms);
		sig = signals_obey(s);
		ms = (int)(end - now_ms());
	} while (sig == 0 && ms > 0);
	return sig;
}

void signals_restore(const struct signals *s)
{
	sigaction(SIGCHLD, &s->old_child, NULL);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

/* Let a pending signal be delivered: to this thread, since all others block
   it. */
static void let_in(int sig)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t set;

	if (sig == SIGQUIT) /* the core, if any, is the command's affair */
		setrlimit(RLIMIT_CORE, &no_core);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void signals_suffer(int sig)
{
	raise(sig);
	let_in(sig);
}

void signals_suffer_group(int sig)
{
	kill(0, sig);
	let_in(sig);
}
