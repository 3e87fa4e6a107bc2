/*
 * reaper_loop.h - the messages between the reaper and the process that uses it.
 * One message is one packet; the answer is in "value" and "text".
 */
#ifndef TEST_REAPER_LOOP_H
#define TEST_REAPER_LOOP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REAPER_PATH 256
#define REAPER_TEXT 16384
#define REAPER_ARGS 64

enum reaper_op {
	REAPER_SLOT,	/* answer: slot number */
	REAPER_RESERVE, /* text: ip; answer: port */
	REAPER_SPAWN,	/* value: argc; text: the arguments, each with its 0 */
	REAPER_PID,	/* answer: pid or 0 */
	REAPER_SIGNAL,	/* value: signal */
	REAPER_DROP,
	REAPER_QUIT /* answered when all is clean */
};

struct reaper_message {
	int64_t serial; /* an answer has its question's */
	int op;
	int slot;
	int value;
	char text[REAPER_TEXT];
};

/* Be the reaper of "owner", and answer what comes from "fd". */
void reaper_loop(int fd, pid_t owner) __attribute__((noreturn));

#endif
