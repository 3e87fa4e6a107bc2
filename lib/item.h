/*
 * item.h - an item as the program gets it: its name taken apart, its frame
 * opened.
 *
 * Pure functions.
 */
#ifndef KU_ITEM_H
#define KU_ITEM_H

#include "item_frame.h"
#include "item_name.h"

#include <kustos/item.h>

/* Are the items of this kind frames? */
static inline bool ku_item_framed(enum ku_item_kind kind)
{
	return kind >= KU_ITEM_FRAMED && kind <= KU_ITEM_ID;
}

/* Is this what the data of an item should be like?  "len" -1 is null data. */
bool ku_item_fits(enum ku_item_kind kind, const char *data, int len);

/* Make an item of data that fits: one piece of memory, for kustos_item_free().
   NULL if memory is short. */
struct kustos_item *ku_item_make(enum ku_item_kind kind,
	const struct ku_item *name, const char *data, int len,
	const struct kustos_stat *stat);

/* Give an item that nobody was handed its data back, as it was in its node: nothing is
   to be read of its parts any more.  Needs no memory, and may be done again. */
struct ku_bytes ku_item_close(enum ku_item_kind kind, struct kustos_item *item);

#endif
