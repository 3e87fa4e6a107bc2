/*
 * every_say.h - how every_call.c and every_free.c make a call and note its
 * outcome.
 */
#ifndef TEST_EVERY_SAY_H
#define TEST_EVERY_SAY_H

#include "every_call.h"

/* Note that "call" was made, and whether its outcome was right. */
void every_said(const char *call, bool right);

/* Return how many outcomes were wrong since the last time. */
int every_wrong(void);

#define SAYS(err, call) every_said(#call, (call) == (err))
#define GIVES(value, call) every_said(#call, (call) == (value))
#define ENDS(call)                       \
	do {                             \
		call;                    \
		every_said(#call, true); \
	} while (0)

#endif
