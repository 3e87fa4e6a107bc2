/*
 * command.h - run a program in a process group of its own, as a shell would.
 *
 * Its process is forked before this one has threads and descriptors that are
 * none of its business, waits, and executes the program when it is told to.
 */
#ifndef KU_COMMAND_H
#define KU_COMMAND_H

#include "signals.h"

#include <stdbool.h>
#include <sys/types.h>

struct command {
	const struct signals *signals;
	pid_t pid;	   /* and the id of its process group */
	int go;		   /* what to wait for goes in here */
	int word;	   /* and here comes that it could not be executed */
	int input;	   /* its standard input; 0: ours */
	int tty;	   /* the controlling terminal, or -1 */
	bool given;	   /* the terminal is the command's */
	bool not_executed; /* set by command_reap(); its exit code may be a
			      command's as well */
};

/* Where a client is open when command_prepare() is called: before that is opened,
   have what is a descriptor now be all that commands inherit. */
void command_limit_descriptors(void);

/* Fork the process that will execute "argv", with "input" as its standard input.
   Returns 0, or -1 with errno set. */
int command_prepare(struct command *c, const struct signals *signals,
	char *const *argv, int input);

/* Execute it, with the lines "NAME=VALUE" of "environment", up to NULL, added
   to its environment. */
void command_start(struct command *c, const char *const *environment);

/* Instead of starting it: have its process end. */
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

/* Return what has become of it since the last look; of "*other" in the last
   two cases.  Look again until there is nothing. */
enum command_news command_look(struct command *c, pid_t *other);

/* Let it go on after it was stopped, in the foreground if this process is. */
void command_resume(struct command *c);

/* Reap it when it has ended.  Returns its exit code, or 128 and the number of
   the signal that it died of. */
int command_reap(struct command *c);

/* End this process as the command ended, if that was by a key that only the
   command has heard: the shell waits for such an end to stop a loop. */
void command_imitate(const struct command *c, int code);

#endif
