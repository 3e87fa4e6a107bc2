/*
 * list.h - doubly linked lists of structs that have "prev" and "next".  Of a
 * list only the first struct is known, of a row the last one, too.
 */
#ifndef KU_LIST_H
#define KU_LIST_H

#include <stddef.h>

#define KU_LIST_PUSH(first, it)                  \
	do {                                     \
		(it)->prev = NULL;               \
		(it)->next = (first);            \
		if ((it)->next != NULL)          \
			(it)->next->prev = (it); \
		(first) = (it);                  \
	} while (0)

#define KU_LIST_REMOVE(first, it)                      \
	do {                                           \
		if ((it)->prev != NULL)                \
			(it)->prev->next = (it)->next; \
		else                                   \
			(first) = (it)->next;          \
		if ((it)->next != NULL)                \
			(it)->next->prev = (it)->prev; \
	} while (0)

#define KU_ROW_APPEND(first, last, it)           \
	do {                                     \
		(it)->next = NULL;               \
		(it)->prev = (last);             \
		if ((it)->prev != NULL)          \
			(it)->prev->next = (it); \
		else                             \
			(first) = (it);          \
		(last) = (it);                   \
	} while (0)

#define KU_ROW_REMOVE(first, last, it)       \
	do {                                 \
		if ((it)->next == NULL)      \
			(last) = (it)->prev; \
		KU_LIST_REMOVE(first, it);   \
	} while (0)

#endif
