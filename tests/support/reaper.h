/*
 * reaper.h - a small process that owns the servers and files that a test must
 * not leave behind.
 *
 * A test process may be killed at any moment: libcheck does so on a timeout.
 * So servers are not its children but those of its reaper, which watches the
 * test process and, as soon as that is gone, kills every server, removes the
 * directory they worked in, and ends.  If the reaper itself is killed, the
 * kernel kills the servers.
 *
 * The reaper, not the caller, remembers what runs in which slot.  A process
 * forked from the owner can therefore stop and restart a server, and the owner
 * sees it; but what belongs to the owner lives as long as the owner.
 *
 * Ports are reserved: from reaper_reserve() until the slot is dropped nobody
 * else on the machine gets the port, not even while the server is down.
 *
 * Threads: every call is safe from any thread.
 */
#ifndef TEST_REAPER_H
#define TEST_REAPER_H

#include <sys/types.h>

struct reaper;

/* Return the reaper of this process, or NULL with errno set.  The first call
   starts it.  It is never freed, but ends with the process. */
struct reaper *reaper_get(void);

/* Return the reaper's own process id. */
pid_t reaper_self(const struct reaper *reaper);

/* Return the directory under $TMPDIR that will be removed at the end. */
const char *reaper_dir(const struct reaper *reaper);

/* Get a slot for one process, numbered from 0, with the empty directory
   "<reaper_dir>/<number>".  Returns -1 if there is none. */
int reaper_slot(struct reaper *reaper);

/* Reserve a port of "ip" for the slot and return it, or -1. */
int reaper_reserve(struct reaper *reaper, int slot, const char *ip);

/* Run "argv" (NULL at its end) in the slot's directory, with its output added
   to the file "log" there.  Returns 0, or -1 if the slot is busy. */
int reaper_spawn(struct reaper *reaper, int slot, const char *const *argv);

/* Return the process id of what runs in the slot, 0 if nothing does. */
pid_t reaper_pid(struct reaper *reaper, int slot);

/* Send a signal; after SIGKILL, wait until the process is gone.  Returns 0, or
   -1 if nothing runs there. */
int reaper_signal(struct reaper *reaper, int slot, int sig);

/* Kill what runs in the slot, remove its directory, give its ports back. */
void reaper_drop(struct reaper *reaper, int slot);

/* Remove a directory and all that is in it.  Returns 0 or -1. */
int remove_tree(const char *path);

#endif
