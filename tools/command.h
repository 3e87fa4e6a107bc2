/*
 * command.h - run a program in a process group of its own, as a shell would.
 *
 * The child is forked early, before this process has threads, and descriptors
 * that the program must not inherit.  It waits, and executes the program when
 * it is told to.
 */
#ifndef KU_COMMAND_H
#define KU_COMMAND_H

#include "signals.h"

#include <stdbool.h>
#include <sys/types.h>

struct command {
	const struct signals *signals;
	pid_t pid;	   /* and the id of its process group */
	int go;		   /* a pipe to the child, which waits for it */
	int word;	   /* a pipe from it, to say that it cannot execute */
	int input;	   /* its standard input; 0: ours */
	int tty;	   /* the controlling terminal, or -1 */
	bool given;	   /* the terminal is the command's */
	bool not_executed; /* set by command_reap(); its exit code may be a
			      command's as well */
};

/* Have commands inherit no other descriptors than those that are open now.  To
   be called before a client is opened that is still open at
   command_prepare(). */
void command_limit_descriptors(void);

/* Fork the process that will execute "argv", with "input" as its standard
   input.  Returns 0, or -1 with errno set. */
int command_prepare(struct command *c, const struct signals *signals,
	char *const *argv, int input);

/* Execute it, with the lines "NAME=VALUE" of "environment", up to NULL, added
   to its environment. */
void command_start(struct command *c, const char *const *environment);

/* End the child without executing the program. */
void command_abandon(struct command *c);

/* Send a signal to its process group. */
void command_signal(struct command *c, int sig);

enum command_news {
	COMMAND_NOTHING,
	COMMAND_STOPPED, /* this process was stopped with it, and goes on */
	COMMAND_ENDED,	 /* to be reaped */
	COMMAND_OTHER,	 /* another child has ended, and is reaped */
	COMMAND_OTHER_STOPPED
};

/* Return what has happened to the command since the last look; in the last two
   cases, to the child "*other".  Call it again until it returns
   COMMAND_NOTHING. */
enum command_news command_look(struct command *c, pid_t *other);

/* Continue the command after it was stopped, in the foreground if this process
   is there. */
void command_resume(struct command *c);

/* Reap it when it has ended.  Returns its exit code, or 128 and the number of
   the signal that it died of. */
int command_reap(struct command *c);

/* If the command was ended by a key whose signal only the command got, end this
   process in the same way: that is how a shell knows that it has to stop a
   loop. */
void command_imitate(const struct command *c, int code);

#endif
