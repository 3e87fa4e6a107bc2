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

/* Take over all signals, except those of a fault of this process and those that
   were ignored before.  Does nothing if "s", which is zero at first, has them
   already.  To be called before any thread is started.  Returns 0, or -1 with
   errno set. */
int signals_take(struct signals *s);

/* Let signals do to this process what they do by default ("on"), or be events
   again.  This is for waits for a server, which may take long, where the
   process can end at any time and leaves nothing undone.  Other threads must
   block signals. */
void signals_admit(const struct signals *s, bool on);

/* Return the number of a signal that has come, 0 if there is none. */
int signals_next(struct signals *s);

/* Return whether the signal ends a process by default. */
bool signals_ends(int sig);

/* Read the signals that have come, up to the first that ends processes, which
   is returned.  A signal that stops processes stops this one.  Returns 0 if
   none ends processes. */
int signals_obey(struct signals *s);

/* Wait for a signal that ends processes, for "ms" milliseconds.  Returns it, or
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
