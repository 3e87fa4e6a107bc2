/*
 * under.c - run a command under a hold.
 */
#include "under.h"
#include "tool.h"

#include <kustos/hold.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER_MS (INT64_C(1) << 40) /* no hold, no end */

/* An eventfd that is never closed: a callback may still write to it when the
   command has ended. */
static int waker = -1;

/* Start both processes, or none; then errno says why. */
static bool start_both(struct under *u, char *const *argv, int input)
{
	if (guard_start(&u->guard) < 0)
		return false;
	if (command_prepare(&u->command, u->signals, argv, input) == 0)
		return true;
	int why = errno;
	guard_end(&u->guard);
	errno = why;
	return false;
}

bool under_prepare(struct under *u, struct signals *signals, char *const *argv,
	int input)
{
	memset(u, 0, sizeof(*u));
	u->signals = signals;
	if (waker < 0)
		waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (waker >= 0 && signals_take(signals) == 0 &&
		start_both(u, argv, input))
		return true;
	tool_say("cannot start a process: %s", strerror(errno));
	return false;
}

void under_wake(void)
{
	eventfd_write(waker, 1);
}

void under_ask(struct under *u)
{
	atomic_store(&u->asked, true);
	under_wake();
}

/* Wait for under_wake() or a signal; a wake-up is used up by that. */
static void sleep_until_news(struct under *u, int ms)
{
	struct pollfd fds[2] = { { waker, POLLIN, 0 },
		{ u->signals->fd, POLLIN, 0 } };
	eventfd_t count;

	if (poll(fds, 2, ms) > 0 && fds[0].revents != 0)
		eventfd_read(waker, &count);
}

void under_reap_orphans(const struct under *u)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
			info.si_pid == 0 || info.si_pid == u->command.pid ||
			info.si_pid == u->guard.pid)
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

int under_wait(struct under *u, int ms)
{
	under_reap_orphans(u);
	sleep_until_news(u, ms);
	return signals_obey(u->signals);
}

void under_abandon(struct under *u)
{
	guard_end(&u->guard);
	command_abandon(&u->command);
	u->command.pid = u->guard.pid = 0;
}

static void on_lost(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	under_wake();
}

/* Tell the guard how long the command may certainly run. */
static void feed(struct under *u)
{
	/* The clock is read first: if this process is stopped between the two,
	   the guard must not count on more time than there is. */
	int64_t now_ns = guard_now();
	int64_t left_ms = NEVER_MS;
	bool lost = false;

	for (int i = 0; i < u->count; i++) {
		int64_t ms = kustos_hold_remaining_ms(u->holds[i]);

		if (ms < left_ms)
			left_ms = ms;
		lost = lost ||
			kustos_hold_state(u->holds[i]) == KUSTOS_HOLD_LOST;
	}
	if (u->lost)
		return;
	if (!lost) {
		guard_feed(&u->guard, now_ns, left_ms);
		return;
	}
	u->lost = true;
	guard_lost(&u->guard);
}

/* Has somebody asked for the hold by now? */
static bool is_asked(struct under *u)
{
	if (!atomic_exchange(&u->asked, false))
		return false;
	u->revoked = true;
	return true;
}

/* Returns whether the command has ended. */
static bool follow(struct under *u)
{
	enum command_news news;
	pid_t other;

	while ((news = command_look(&u->command, &other)) != COMMAND_NOTHING) {
		feed(u);
		if (news == COMMAND_ENDED)
			return true;
		if (news == COMMAND_STOPPED && !u->lost)
			command_resume(&u->command);
		if (news == COMMAND_OTHER_STOPPED && other == u->guard.pid)
			guard_resume(&u->guard);
		if (news == COMMAND_OTHER && other == u->guard.pid) {
			tool_say("the guard was killed, and so is the command");
			command_signal(&u->command, SIGKILL);
			u->lost = true;
		}
	}
	return false;
}

static void pass_on(struct under *u)
{
	int sig;

	while ((sig = signals_next(u->signals)) != 0) {
		feed(u);
		if (sig == SIGCHLD || (sig == SIGCONT && u->lost))
			continue;
		if (signals_ends(sig))
			u->passed = sig;
		if (sig == SIGCONT)
			command_resume(&u->command);
		else
			command_signal(&u->command, sig);
	}
}

static void listen_for_loss(struct under *u, bool on)
{
	for (int i = 0; i < u->count; i++)
		kustos_hold_on_lost(u->holds[i], on ? on_lost : NULL, NULL);
}

int under_run(struct under *u, struct kustos_hold *const *holds, int count,
	const char *const *environment, int64_t grace_ms, int tick_ms)
{
	int code;

	u->holds = holds;
	u->count = count;
	feed(u);
	if (u->lost || is_asked(u)) {
		u->lost = true;
		under_abandon(u);
		return TOOL_LOST;
	}
	listen_for_loss(u, true);
	guard_arm(&u->guard, u->command.pid, grace_ms);
	command_start(&u->command, environment);
	u->started = true;
	while (!follow(u)) {
		sleep_until_news(u, tick_ms);
		feed(u);
		if (is_asked(u))
			guard_ask(&u->guard);
		pass_on(u);
	}
	u->lost = u->lost || guard_acted(&u->guard);
	if (u->lost) /* what is left of its group */
		command_signal(&u->command, SIGKILL);
	guard_end(&u->guard);
	code = command_reap(&u->command);
	u->command.pid = u->guard.pid = 0;
	listen_for_loss(u, false);
	return code;
}
