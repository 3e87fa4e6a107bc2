/*
 * inject.h - faults inside this process, under libzookeeper.
 *
 * A program linked with this archive has its own send(), recv(), connect(),
 * getaddrinfo(), clock_gettime(), pthread_create(), malloc(), calloc(),
 * realloc() and strdup(), which shared libraries then call instead of the C
 * library's (link with -rdynamic).  They pass everything through until told
 * otherwise here.
 *
 * Frames are seen only in what libzookeeper sends and receives.
 *
 * Threads: every call is safe from any thread.
 */
#ifndef TEST_INJECT_H
#define TEST_INJECT_H

#include "zkproto.h"

#include <stdint.h>
#include <time.h>

/* Whose calls: told apart by the code that makes the call. */
enum inject_caller {
	INJECT_ZOOKEEPER, /* libzookeeper_mt, or _st */
	INJECT_PROGRAM	  /* all else: Kustos, the test, the C library */
};

enum inject_fault {
	INJECT_NOTHING,

	/* The request fails to be sent: not applied. */
	INJECT_FAIL_SEND,

	/* The server answers the request, and reading the answer fails:
	   applied, but the client does not know. */
	INJECT_LOSE_REPLY,

	/* The answer, and everything behind it, stays unread until
	   inject_release(). */
	INJECT_HOLD_REPLY,

	/* The n-th watch event is lost; the op code is ignored. */
	INJECT_DROP_EVENT
};

/* Undo everything that the calls below do, and reset all counts. */
void inject_reset(void);

/* Arm one fault, for the n-th (from 1) frame with the code "op" from now on.
   It replaces a fault that was armed before. */
void inject_frame(enum inject_fault fault, int op, int n);

/* End INJECT_HOLD_REPLY, even if it has not begun. */
void inject_release(void);

/* Return how often a frame's fault has happened. */
int inject_fired(void);

/* Return the first of "count" codes of which no frame has met INJECT_FAIL_SEND,
   or none has met INJECT_LOSE_REPLY, in all processes that were forked from the
   program's first one; 0 if there is none.  In some tests the frame that is to
   fail may never be sent.  With this call the last of many tests can check that
   each fault has happened. */
int inject_untried(const int *codes, int count);

/* Return how many frames of the code libzookeeper has sent. */
int inject_sent(int op);

/* Let getaddrinfo() of a name take "delay_ms", and then fail with "rc"
   (EAI_AGAIN, ...) unless that is 0.  This is for both kinds of caller. */
void inject_resolver(int rc, int delay_ms);

/* Return how many calls of getaddrinfo() there were. */
int inject_resolver_calls(void);

/* Resolve all names to this address, "ip:port", whatever port is asked for; or
   none if it is "".  Numeric addresses are not changed.  NULL ends it. */
void inject_names(const char *address);

/* Return how many calls of getaddrinfo() there were for names. */
int inject_names_calls(void);

/* Let libzookeeper's connect() fail with "err" until it is set to 0. */
void inject_connect(int err);

/* Move one clock by "jump_ms" for the program, and the timer descriptors that
   it sets from now on.  Timed waits do not move with it. */
void inject_clock(clockid_t id, int64_t jump_ms);

/* Let the n-th (from 1) pthread_create() of the caller fail with EAGAIN, or all
   of them if "n" is negative.  0 disarms it.  libzookeeper itself aborts if it
   fails. */
void inject_thread(enum inject_caller caller, int n);

/* Let the n-th (from 1) allocation of the caller fail.  0 disarms it. */
void inject_alloc(enum inject_caller caller, int n);

/* Return how many allocations the caller has made. */
int inject_allocs(enum inject_caller caller);

#endif
