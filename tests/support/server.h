/*
 * server.h - a real ZooKeeper server under the control of a test.
 *
 * It has its own port on a loopback address, its own directory, and a JVM that
 * starts in about half a second.  It never outlives the process that started
 * it (reaper.h).  A process forked from that one, as libcheck does for each
 * test, may stop, pause and restart it.
 *
 * Threads: one at a time for each server.
 */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct server;

/* Fields that are 0 or NULL take the value named.  Strings are copied. */
struct server_options {
	int tick_ms;	    /* 200 */
	int min_session_ms; /* 400 */
	int max_session_ms; /* 60000 */
	const char *ip;	    /* 127.0.0.1 */
	const char *config; /* further lines for the configuration file */
	const char *jvm;    /* further arguments of java: "-Da=1 -Db=2" */
	bool log;	    /* have it log warnings besides errors */
	bool shipped;	    /* settings as shipped: slow to start, and waits
			       for the disk before it answers */
};

/* Return NULL if servers can be started on this machine, else a sentence
   that says what is missing: a reason to skip a test program (exit 77). */
const char *server_missing(void);

/* Start one and wait until it answers.  "options" may be NULL.  Returns NULL,
   having said why on standard error, if it does not come up. */
struct server *server_start(const struct server_options *options);

/* Kill it and remove all it had.  NULL is allowed. */
void server_free(struct server *server);

/* Return "ip:port", the same for as long as the server is not freed. */
const char *server_address(const struct server *server);

/* Return its directory: zoo.cfg, data/, log. */
const char *server_dir(const struct server *server);

/* Return the process id, 0 if it is down. */
pid_t server_pid(const struct server *server);

/* End it with SIGTERM, or at once with SIGKILL; on return it is gone.  Both
   return 0, also if it was down, or -1. */
int server_stop(struct server *server);
int server_kill(struct server *server);

/* SIGSTOP and SIGCONT.  A paused server keeps its connections.  0 or -1. */
int server_pause(struct server *server);
int server_resume(struct server *server);

/* Start it again with the data that it had stored, and wait until it answers.
   If it is up, kill it first.  Returns 0 or -1. */
int server_restart(struct server *server);

/* Remove what it stored; it must be down.  Returns 0 or -1. */
int server_wipe(struct server *server);

/* Wait until it answers as a server in service.  Returns 0, or -1 if it died
   or "ms" have passed. */
int server_wait(struct server *server, int ms);

#endif
