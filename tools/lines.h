/*
 * lines.h - read the lines of a descriptor, which may be one that does not block.
 *
 * Whoever shares it may have made it so at any time, and would have it made
 * otherwise for itself as well: so it is waited for, and left as it is.
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
	size_t begin, stop; /* what was read, and not told yet */
};

/* Read the next line, without what ends it, which stays until the next call.
   Returns false when there are no more, or at an error: what was read of a line
   then is none. */
bool lines_next(struct lines *l, const char **line, size_t *len);

/* Free the memory, not the descriptor. */
void lines_free(struct lines *l);

#endif
