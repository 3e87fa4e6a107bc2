/*
 * lines.c - read the lines of a descriptor.
 */
#include "lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MIN 65536

/* Have room after what was read.  Returns false if memory is short. */
static bool make_room(struct lines *l)
{
	if (l->begin > 0) {
		memmove(l->text, l->text + l->begin, l->stop - l->begin);
		l->stop -= l->begin;
		l->begin = 0;
	}
	if (l->stop < l->size)
		return true;
	size_t size = l->size == 0 ? SIZE_MIN : 2 * l->size;
	char *text = size < l->size ? NULL : realloc(l->text, size);

	if (text == NULL)
		return false;
	l->text = text;
	l->size = size;
	return true;
}

/* Read more.  Returns how much; 0 at the end, or at an error. */
static size_t read_more(struct lines *l)
{
	struct pollfd fd = { l->fd, POLLIN, 0 };
	ssize_t n;

	if (!make_room(l)) {
		l->error = ENOMEM;
		return 0;
	}
	do {
		n = read(l->fd, l->text + l->stop, l->size - l->stop);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) &&
			poll(&fd, 1, -1) >= 0)
			errno = EINTR;
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		l->error = errno;
		return 0;
	}
	l->stop += (size_t)n;
	return (size_t)n;
}

bool lines_next(struct lines *l, const char **line, size_t *len)
{
	size_t seen = 0, more = 1;
	const char *end = NULL;

	while (more > 0) {
		if (l->stop > l->begin + seen)
			end = memchr(l->text + l->begin + seen, l->end,
				l->stop - l->begin - seen);
		if (end != NULL)
			break;
		seen = l->stop - l->begin;
		more = read_more(l);
	}
	if (l->error != 0 || (end == NULL && seen == 0))
		return false;
	*line = l->text + l->begin;
	*len = end != NULL ? (size_t)(end - *line) : seen;
	l->begin += *len + (end != NULL);
	return true;
}

void lines_free(struct lines *l)
{
	free(l->text);
	l->text = NULL;
}
