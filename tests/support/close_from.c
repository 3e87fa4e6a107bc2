/*
 * close_from.c - descriptors are closed at once, by a call that not every libc has a
 * name for.
 */
#include "close_from.h"

#include <sys/syscall.h>
#include <unistd.h>

#define FD_MOST 65536 /* that are closed one by one, if need be */

/* An old kernel, or a sandbox, may not know the call. */
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
