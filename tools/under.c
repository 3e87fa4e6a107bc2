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
#include <unistd.h>

bool under_prepare(struct under *u, char *const *argv)
{
	memset(u, 0, sizeof(*u));
	u->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (u->news < 0 || signals_take(&u->signals) < 0 ||
		guard_start(&u->guard) < 0 ||
		command_prepare(&u->command, &u->signals, argv) < 0) {
		tool_say("cannot start a process: %s", strerror(errno));
		return false;
	}
	return true;
}

void under_wake(struct under *u)
{
	eventfd_write(u->news, 1);
}

/* Wait for either; what woke us is no more to be read than this once. */
static void sleep_until_news(struct under *u, int ms)
{
	struct pollfd fds[2] = { { u->news, POLLIN, 0 },
		{ u->signals.fd, POLLIN, 0 } };
	eventfd_t count;

	if (poll(fds, 2, ms) > 0 && fds[0].revents != 0)
		eventfd_read(u->news, &count);
}

/* Returns whether the signal ends a process that does not know better. */
static bool ends(int sig)
{
	switch (sig) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
		return false;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		signals_suffer(sig);
		return false;
	default:
		return true;
	}
}

int under_wait(struct under *u, int ms)
{
	int sig;

	sleep_until_news(u, ms);
	while ((sig = signals_next(&u->signals)) != 0)
		if (ends(sig))
			return sig;
	return 0;
}

void under_abandon(struct under *u)
{
	guard_end(&u->guard);
	command_abandon(&u->command);
	close(u->signals.fd);
	close(u->news);
}

static void on_lost(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	under_wake(arg);
}

/* Tell the guard how long there is. */
static void feed(struct under *u, struct kustos_hold *hold)
{
	/* In this order: this process may be stopped between the two. */
	int64_t now_ns = guard_now();
	int64_t left_ms = kustos_hold_remaining_ms(hold);

	if (u->lost)
		return;
	if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST) {
		guard_feed(&u->guard, now_ns, left_ms);
		return;
	}
	u->lost = true;
	guard_lost(&u->guard);
}

/* Returns whether the command has ended. */
static bool follow(struct under *u, struct kustos_hold *hold)
{
	enum command_news news;
	pid_t other;

	while ((news = command_look(&u->command, &other)) != COMMAND_NOTHING) {
		feed(u, hold);
		if (news == COMMAND_ENDED)
			return true;
		if (news == COMMAND_STOPPED && !u->lost)
			command_resume(&u->command);
		if (news == COMMAND_OTHER && other == u->guard.pid) {
			tool_say("the guard was killed, and so is the command");
			command_signal(&u->command, SIGKILL);
			u->lost = true;
		}
	}
	return false;
}

static void pass_on(struct under *u, struct kustos_hold *hold)
{
	int sig;

	while ((sig = signals_next(&u->signals)) != 0) {
		feed(u, hold);
		if (sig == SIGCHLD || (sig == SIGCONT && u->lost))
			continue;
		if (sig == SIGCONT)
			command_resume(&u->command);
		else
			command_signal(&u->command, sig);
	}
}

int under_run(struct under *u, struct kustos_hold *hold,
	const char *const *environment, int64_t grace_ms, int tick_ms)
{
	int code;

	feed(u, hold);
	if (u->lost) {
		under_abandon(u);
		return TOOL_LOST;
	}
	kustos_hold_on_lost(hold, on_lost, u);
	guard_arm(&u->guard, u->command.pid, grace_ms);
	command_start(&u->command, environment);
	u->started = true;
	while (!follow(u, hold)) {
		sleep_until_news(u, tick_ms);
		feed(u, hold);
		pass_on(u, hold);
	}
	u->lost = u->lost || guard_acted(&u->guard);
	if (u->lost) /* what is left of its group */
		command_signal(&u->command, SIGKILL);
	guard_end(&u->guard);
	code = command_reap(&u->command);
	kustos_hold_on_lost(hold, NULL, NULL);
	close(u->signals.fd);
	close(u->news);
	return code;
}
