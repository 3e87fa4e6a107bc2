/*
 * fork.h - find out that this process is a fork of the one that opened the
 * client.
 *
 * After fork() none of the client's threads exist, its mutex may be locked for
 * ever, and its socket is shared with the parent.  A page that the kernel
 * empties in the child shows this at the price of a load; where the kernel
 * cannot do that, the process id is compared.
 */
#ifndef KU_FORK_H
#define KU_FORK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

struct ku_fork_guard {
	volatile unsigned char *page; /* NULL: compare "owner" instead */
	pid_t owner;
};

void ku_fork_guard_init(struct ku_fork_guard *guard);

/* Compare the process id only.  For objects of which there may be very many: a
   page for each would use up the mappings that a process may have. */
static inline void ku_fork_guard_init_small(struct ku_fork_guard *guard)
{
	guard->page = NULL;
	guard->owner = getpid();
}

void ku_fork_guard_free(struct ku_fork_guard *guard);

/* Return whether this is a child of the process that called init. */
static inline bool ku_forked(const struct ku_fork_guard *guard)
{
	if (guard->page != NULL)
		return guard->page[0] == 0;
	return getpid() != guard->owner;
}

#endif
