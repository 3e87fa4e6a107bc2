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

/* The length of its beginning; the codes before an item, and at the end. */
#define KU_FRAME_BEGINNING 4
#define KU_FRAME_ITEM 1
#define KU_FRAME_END 2

struct ku_bytes {
	const char *data;
	size_t len;
};

/* Return the length of a frame of these items, or SIZE_MAX if there cannot be
   such a frame. */
size_t ku_frame_size(const struct ku_bytes *items, size_t count);

/* Write that frame; "out" has room for it. */
void ku_frame_write(const struct ku_bytes *items, size_t count, char *out);

/* Count the items of a frame.  Returns false if the data is not a whole frame,
   from its first byte to its end code, as nothing is handed out of a frame that
   breaks off.  Bytes that follow the end code are ignored, as Curator's queues
   do. */
bool ku_frame_check(const char *data, size_t len, size_t *count);

/* Step through a frame that was checked: store its first item and move "*rest"
   behind it.  Begin with all of it.  Returns false at the end. */
bool ku_frame_next(struct ku_bytes *rest, struct ku_bytes *item);

#endif
