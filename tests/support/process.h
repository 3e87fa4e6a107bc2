/*
 * process.h - watch, stop and measure processes by way of /proc.
 */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Return whether the process exists and is no zombie. */
bool process_alive(pid_t pid);

/* Stop every thread of the process (SIGSTOP), and return when all of them
   have stopped: 0, or -1 if it is gone. */
int process_pause(pid_t pid);

/* Let it run on (SIGCONT).  Returns 0 or -1. */
int process_resume(pid_t pid);

/* Kill it and wait until it is gone; it may be a child or not. */
void process_kill(pid_t pid);

/* Return whether it has a descriptor of such a thing, as /proc names it. */
bool process_holds(pid_t pid, const char *what);

/* Of the calling process: resident memory; that part of it which is no file's,
   and so does not depend on how much of a program was read ahead; threads; open
   descriptors.  -1 if they cannot be read. */
long rss_kb(void);
long private_kb(void);
int thread_count(void);
int fd_count(void);

/* Return the number of the calling thread; and whether such a thread of the
   calling process sleeps, because it waits for something. */
int thread_id(void);
bool thread_sleeps(int id);

/* Return thread_count(), as a base for later counts.  It includes the thread
   that a sanitizer starts for itself as soon as the program has a second
   thread. */
int thread_count_before(void);

#endif
