/*
 * signals.h - all signals as events of one descriptor.
 */
#ifndef KU_SIGNALS_H
#define KU_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

struct signals {
	bool taken;
	int fd; /* readable when a signal has come */
	sigset_t old_mask;
	sigset_t read;		    /* those that are events of it */
	struct sigaction old_child; /* SIGCHLD as it was */
};

/* Take all signals but those that tell of a fault of this process, and those
   that were ignored before; nothing if "s", which is zero at first, has them.  Do
   it before any thread is started.  Returns 0 or -1 with errno set. */
int signals_take(struct signals *s);

/* Have them do to this process what they do by default, or be events again: while
   it waits for a server, which may take long, and an end leaves nothing undone.
   Other threads must block them. */
void signals_admit(const struct signals *s, bool on);

/* Return the number of a signal that has come, 0 if there is none. */
int signals_next(struct signals *s);

/* Return whether the signal ends a process that does not know better. */
bool signals_ends(int sig);

/* Take all that have come, up to one that ends processes, which is returned; be
   stopped by those that stop them.  Returns 0 if there is none. */
int signals_obey(struct signals *s);

/* Wait for one that ends processes, for so many milliseconds.  Returns it or
   0. */
int signals_wait(struct signals *s, int ms);

/* In a child, before it executes a program: everything as it was. */
void signals_restore(const struct signals *s);

/* Have the signal do to this process what it does by default: end or stop it.
   Returns if it does nothing, or once the process goes on. */
void signals_suffer(int sig);

/* The same for the whole process group, as a terminal does it. */
void signals_suffer_group(int sig);

#endif
