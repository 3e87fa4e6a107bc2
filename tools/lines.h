/*
 * lines.h - read the lines of a descriptor, which may be non-blocking.
 *
 * A process that shares the descriptor can make it non-blocking at any time,
 * and would be affected if we changed that back.  So the descriptor is left as
 * it is, and polled.
 */
#ifndef KU_LINES_H
#define KU_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines { /* zero at first, but for the first two */
	int fd;
	char end;  /* of each line, but perhaps of the last */
	int error; /* why there are no more, or 0 */
	char *text;
	size_t size;
	size_t begin, stop; /* what was read, and not returned yet */
};

/* Read the next line, without its end; it is valid until the next call.
   Returns false when there are no more, or at an error: a line that was read in
   part then is not returned. */
bool lines_next(struct lines *l, const char **line, size_t *len);

/* Free the memory, not the descriptor. */
void lines_free(struct lines *l);

#endif
