/*
 * item_sort.h - what an item of a queue is like, by its name.  Pure.
 */
#ifndef KU_ITEM_SORT_H
#define KU_ITEM_SORT_H

#include <kustos/item.h>

#include <stdbool.h>

enum item_sort {
	ITEM_OTHER, /* it is none */
	ITEM_SIMPLE,
	ITEM_KAZOO,
	ITEM_FRAMED,
	ITEM_WITH_PRIORITY,
	ITEM_AT_ANY_TIME, /* a due time of 0, or an id that is so */
	ITEM_AT_A_TIME,
	ITEM_WITH_ID
};

/* Return that of a node with this name.  The library reads the same names. */
enum item_sort item_sort_of(const char *name);

/* Which of two items of a queue of this kind is the next, by their names?  As for
   qsort(): less than 0 if it is "a".  The library takes them in this order. */
int item_compare(enum kustos_queue_kind kind, const char *a, const char *b);

/* Return whether it is the "%010d" of a signed number of 32 bits, which a server
   appends. */
bool item_is_number(const char *text);

#endif
