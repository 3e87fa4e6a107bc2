/*
 * signals.h - all signals as events of one descriptor.
 */
#ifndef KU_SIGNALS_H
#define KU_SIGNALS_H

#include <signal.h>
#include <sys/signalfd.h>

struct signals {
	int fd; /* readable when a signal has come */
	sigset_t old_mask;
	struct sigaction old_child; /* SIGCHLD as it was */
};

/* Take all signals but those that tell of a fault of this process, and those
   that were ignored before.  Do it before any thread is started.  Returns 0 or
   -1 with errno set. */
int signals_take(struct signals *s);

/* Return the number of a signal that has come, 0 if there is none. */
int signals_next(struct signals *s);

/* In a child, before it executes a program: everything as it was. */
void signals_restore(const struct signals *s);

/* Have the signal do to this process what it does by default: end or stop it.
   Returns if it does nothing, or once the process goes on. */
void signals_suffer(int sig);

/* The same for the whole process group, as a terminal does it. */
void signals_suffer_group(int sig);

#endif
