/* fork.c - a page that the kernel empties in a child. */

#include "fork.h"

#include <sys/mman.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void ku_fork_guard_init(struct ku_fork_guard *guard)
{
	guard->owner = getpid();
	guard->page = NULL;
#ifdef MADV_WIPEONFORK
	void *page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	if (madvise(page, page_size(), MADV_WIPEONFORK) != 0) {
		munmap(page, page_size());
		return;
	}
	guard->page = page;
	guard->page[0] = 1;
#endif
}

void ku_fork_guard_free(struct ku_fork_guard *guard)
{
	if (guard->page != NULL)
		munmap((void *)guard->page, page_size());
	guard->page = NULL;
}
