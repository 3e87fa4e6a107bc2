/*
 * guard.c - a process that ends a command when the time of its lock runs out.
 *
 * Invariants
 *   G1  The group is sent SIGKILL before the time that was last fed is over.
 *   G2  Once it was sent SIGTERM there is no way back: the command is ending,
 *       and what is fed is ignored.  The time of its SIGKILL is fixed then, but
 *       for a loss that is told of later, which makes it earlier, once.
 *   G3  No other group can have got the group's id: its owner reaps the
 *       group's leader only after guard_end().
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2() */
#endif
#include "guard.h"
#include "support/close_from.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS ((int64_t)1000000)

/* This part of the grace is left, one in ten, for the kernel to carry SIGKILL
   out. */
#define KILL_PART 10

/* How long the command may take to end if its lock was lost from one moment to
   the next: another may have the lock already. */
#define SUDDEN_NS (500 * MS)

enum { QUIT = 'q', LOOK = 'l' };

struct guard_page {
	_Atomic int64_t until_ns; /* of the boot-time clock */
	_Atomic int64_t grace_ns;
	_Atomic int group;	 /* 0: nothing to guard yet */
	_Atomic int64_t look_ns; /* when the guard looks by itself; 0: never */
	atomic_bool lost;
	atomic_bool asked;
	atomic_bool acted;
};

int64_t guard_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* In the guard's process: what it has done so far. */
struct watch {
	struct guard_page *page;
	bool orphaned;
	bool killed;
	bool hurried;	 /* "kill_ns" is that of a lock that is lost */
	int64_t kill_ns; /* 0 before SIGTERM */
};

static void begin(struct watch *w, int64_t now, int64_t until, int64_t grace)
{
	struct guard_page *page = w->page;
	bool lost = atomic_load(&page->lost);
	int64_t patience = lost ? earlier(grace, SUDDEN_NS) : grace;

	atomic_store(&page->acted, true);
	w->hurried = lost;
	w->kill_ns = earlier(until - grace / KILL_PART, now + patience);
	if (now >= w->kill_ns)
		return;
	kill(-atomic_load(&page->group), SIGTERM);
	/* A command that is stopped gets SIGTERM only when it is continued.
	   But if it has lost the lock it had better stay stopped. */
	if (!lost)
		kill(-atomic_load(&page->group), SIGCONT);
}

/* The group was asked to end while the lock was held, and now it is lost. */
static void hurry(struct watch *w, int64_t now)
{
	w->hurried = true;
	w->kill_ns = earlier(w->kill_ns, now + SUDDEN_NS);
}

/* Do what is due and return when to look again, 0 for never. */
static int64_t act(struct watch *w)
{
	struct guard_page *page = w->page;
	int64_t until = atomic_load(&page->until_ns);
	int64_t grace = atomic_load(&page->grace_ns);
	int64_t now = guard_now();

	if (atomic_load(&page->group) == 0 || w->killed)
		return 0;
	if (w->kill_ns == 0) {
		if (now < until - grace && !w->orphaned &&
			!atomic_load(&page->lost) && !atomic_load(&page->asked))
			return until - grace;
		begin(w, now, until, grace);
	}
	if (!w->hurried && atomic_load(&page->lost))
		hurry(w, now);
	if (now < w->kill_ns)
		return w->kill_ns;
	w->killed = true;
	kill(-atomic_load(&page->group), SIGKILL);
	return 0;
}

/* The same, and tell the owner when that is.  If the owner feeds before it can
   know, do it again: the owner did not see that it had to wake us. */
static int64_t act_and_tell(struct watch *w)
{
	struct guard_page *page = w->page;
	int64_t until, at;

	do {
		until = atomic_load(&page->until_ns);
		at = act(w);
		atomic_store(&page->look_ns, at);
	} while (atomic_load(&page->until_ns) != until);
	return at;
}

static void set_timer(int fd, int64_t at_ns)
{
	struct itimerspec when = { { 0, 0 }, { 0, 0 } };

	when.it_value.tv_sec = (time_t)(at_ns / 1000000000);
	when.it_value.tv_nsec = (long)(at_ns % 1000000000);
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Read what the owner wrote.  Returns false if the guard is to end. */
static bool hear(struct watch *w, struct pollfd *from_owner)
{
	char c;
	ssize_t n = read(from_owner->fd, &c, 1);

	if (n == 1)
		return c != QUIT;
	if (n < 0 && errno == EINTR)
		return true;
	/* The owner is gone, but its session, and with that the lock, is
	   not. */
	w->orphaned = true;
	from_owner->fd = -1;
	return atomic_load(&w->page->group) != 0;
}

static void guard_loop(int fd, struct guard_page *page)
	__attribute__((noreturn));
static void guard_loop(int fd, struct guard_page *page)
{
	struct watch w = { .page = page };
	struct pollfd fds[2] = { { fd, POLLIN, 0 }, { -1, POLLIN, 0 } };
	int64_t at = 0;

	fds[1].fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	if (fds[1].fd < 0)
		_exit(1);
	while (!w.orphaned || !w.killed) {
		set_timer(fds[1].fd, at);
		if (poll(fds, 2, -1) > 0 && fds[0].revents != 0 &&
			!hear(&w, &fds[0]))
			break;
		at = act_and_tell(&w);
	}
	_exit(0);
}

/* Close all descriptors of the owner but the pipe, and get out of reach of its
   terminal. */
static void detach(int fd)
{
	sigset_t all;
	int null;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "kustos-guard");
	if (fd != 3 && dup2(fd, 3) < 0)
		_exit(1);
	close_from(4);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (null > 3)
		close(null);
}

int guard_start(struct guard *g)
{
	int ends[2];

	g->page = mmap(NULL, sizeof(*g->page), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->page == MAP_FAILED)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		munmap(g->page, sizeof(*g->page));
		return -1;
	}
	g->pipe = ends[1];
	g->pid = fork();
	if (g->pid == 0) {
		detach(ends[0]);
		guard_loop(3, g->page);
	}
	int why = errno;
	close(ends[0]);
	if (g->pid > 0)
		return 0;
	close(ends[1]);
	munmap(g->page, sizeof(*g->page));
	errno = why;
	return -1;
}

static void tell(struct guard *g, char what)
{
	while (write(g->pipe, &what, 1) < 0 && errno == EINTR)
		;
}

void guard_arm(struct guard *g, pid_t group, int64_t grace_ms)
{
	atomic_store(&g->page->grace_ns, grace_ms * MS);
	atomic_store(&g->page->group, group);
	tell(g, LOOK);
}

void guard_feed(struct guard *g, int64_t now_ns, int64_t left_ms)
{
	struct guard_page *page = g->page;
	int64_t until = now_ns + left_ms * MS;

	atomic_store(&page->until_ns, until);
	/* The guard sleeps until the time that it saw when it last looked.
	   Wake it if the new time is earlier, as it is if another server has
	   granted the session a shorter timeout. */
	if (until - atomic_load(&page->grace_ns) <
			atomic_load(&page->look_ns) &&
		!guard_acted(g))
		tell(g, LOOK);
}

void guard_lost(struct guard *g)
{
	atomic_store(&g->page->lost, true);
	tell(g, LOOK);
}

void guard_ask(struct guard *g)
{
	atomic_store(&g->page->asked, true);
	tell(g, LOOK);
}

bool guard_acted(const struct guard *g)
{
	return atomic_load(&g->page->acted);
}

void guard_resume(const struct guard *g)
{
	kill(g->pid, SIGCONT);
}

int guard_end(struct guard *g)
{
	pid_t pid;
	int status;

	tell(g, QUIT);
	close(g->pipe);
	do {
		pid = waitpid(g->pid, &status, WUNTRACED);
		if (pid > 0 && WIFSTOPPED(status))
			guard_resume(g); /* so that it reads QUIT */
	} while (pid > 0 ? WIFSTOPPED(status) : errno == EINTR);
	munmap(g->page, sizeof(*g->page));
	g->page = NULL;
	return pid > 0 && WIFEXITED(status) ? 0 : -1;
}
