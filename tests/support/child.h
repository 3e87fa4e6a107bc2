/*
 * child.h - run part of a test in a process of its own, to pause or kill it.
 *
 * The child dies with the test.  Start it before the test opens a client:
 * libzookeeper's threads do not survive a fork.
 */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int fd; /* the test's end of a socket to the child */
};

/* Run fn(fd, arg) in a new process, which exits with what it returns.  "fd" is
   its end of the socket.  Returns 0 or -1. */
int child_start(struct child *c, int (*fn)(int fd, void *arg), void *arg);

/* Write one line, without its end, to the other side.  Returns 0 or -1. */
int child_say(int fd, const char *line);

/* Read one line, without its end.  Returns 0, or -1 if none came in "ms". */
int child_hear(int fd, char *line, size_t size, int ms);

/* Read lines until "wanted" comes.  Returns whether it came in "ms". */
bool child_expect(int fd, const char *wanted, int ms);

/* Wait for its end.  Returns the exit code, 128 + the signal that killed it,
   or -1 if it still runs after "ms". */
int child_wait(struct child *c, int ms);

/* Kill it, if it still runs, and free what it had. */
void child_end(struct child *c);

/* Run fn(arg) in a copy of the test with whatever it has open, such as clients.
   The copy is killed if it hangs.  Returns what fn returned, 128 + the signal
   that killed the copy, or -1. */
int child_run(int (*fn)(void *arg), void *arg);

#endif
