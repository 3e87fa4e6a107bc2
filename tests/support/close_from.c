/*
 * close_from.c - close many descriptors with one system call, for which not
 * every libc has a function.
 */
#include "close_from.h"

#include <sys/syscall.h>
#include <unistd.h>

#define FD_MOST 65536 /* limit when they are closed one by one */

/* An old kernel, or a sandbox, may not have the call: then close one by one. */
void close_from(int first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
		return;
#endif
	long most = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < most && fd < FD_MOST; fd++)
		close(fd);
}
