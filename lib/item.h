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

/* May an item of this kind have such data?  "len" -1 is null data. */
bool ku_item_fits(enum ku_item_kind kind, const char *data, int len);

/* Make an item of data for which ku_item_fits() returned true: one piece of
   memory, for kustos_item_free().  NULL if memory is short. */
struct kustos_item *ku_item_make(enum ku_item_kind kind,
	const struct ku_item *name, const char *data, int len,
	int64_t created_ms);

/* Return the data of an item as it was in its node, restored in place: the
   item's parts must not be read any more, so nobody may have been handed it.
   Needs no memory, and may be done again. */
struct ku_bytes ku_item_close(enum ku_item_kind kind, struct kustos_item *item);

#endif
