/*
 * mntr.h - what the servers have counted themselves, which the command "mntr"
 * asks for.
 *
 * A server answers that only if its 4lw.commands.whitelist allows it.
 */
#ifndef BENCH_MNTR_H
#define BENCH_MNTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mntr {
	int64_t packets; /* that came in; pings are among them */
	int64_t bytes;	 /* that came in; -1: this version does not tell */
};

/* Add up what all of "hosts" ("a:2181,b:2181/chroot") answer.  Returns false,
   with the reason in "why", if one of them does not answer. */
bool mntr_ask(const char *hosts, struct mntr *out, char *why, size_t size);

/* Read the number in the line of "answer" that begins with "name"; -1 if there is
   none.  Pure. */
int64_t mntr_number(const char *answer, const char *name);

#endif
