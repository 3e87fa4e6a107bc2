/*
 * item_sort.h - what sort of item a node of a queue is, by its name.  Pure.
 */
#ifndef KU_ITEM_SORT_H
#define KU_ITEM_SORT_H

#include <kustos/item.h>

#include <stdbool.h>

enum item_sort {
	ITEM_OTHER, /* no item */
	ITEM_SIMPLE,
	ITEM_KAZOO,
	ITEM_FRAMED,
	ITEM_WITH_PRIORITY,
	ITEM_AT_ANY_TIME, /* a due time of 0, or an id that looks so */
	ITEM_AT_A_TIME,
	ITEM_WITH_ID
};

/* Return the sort of a node with this name.  The library reads names in the
   same way. */
enum item_sort item_sort_of(const char *name);

/* Compare two items of a queue of this kind by their names, as for qsort():
   less than 0 if "a" comes before "b".  The library takes items in this
   order. */
int item_compare(enum kustos_queue_kind kind, const char *a, const char *b);

/* Return whether "text" is the "%010d" of a signed number of 32 bits, as a
   server appends it. */
bool item_is_number(const char *text);

#endif
