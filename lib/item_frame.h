/*
 * item_frame.h - the data of an item in Curator's queues: a frame of several.
 *
 *   00010001  { 01 length[4] bytes }...  02      all numbers big-endian
 *
 * Pure functions.
 */
#ifndef KU_ITEM_FRAME_H
#define KU_ITEM_FRAME_H

#include <kustos/base.h>
#include <stdbool.h>

/* It begins with so many bytes; the codes before an item, and at the end. */
#define KU_FRAME_BEGINNING 4
#define KU_FRAME_ITEM 1
#define KU_FRAME_END 2

struct ku_bytes {
	const char *data;
	size_t len;
};

/* Return the length of the frame of these, or SIZE_MAX if one of them cannot
   stand in one. */
size_t ku_frame_size(const struct ku_bytes *items, size_t count);

/* Write it; "out" has that room. */
void ku_frame_write(const struct ku_bytes *items, size_t count, char *out);

/* Count the items of a frame.  Returns false if it is not one, from its first
   byte to its end: as nothing is handed out of a frame that breaks off.  What
   follows the end is not looked at; nor do Curator's. */
bool ku_frame_check(const char *data, size_t len, size_t *count);

/* Step through a frame that was checked: store its first item and move "*rest"
   behind it.  Begin with all of it.  Returns false at the end. */
bool ku_frame_next(struct ku_bytes *rest, struct ku_bytes *item);

#endif
