/*
 * fault.h - make the system refuse memory or a mutex to a call.
 *
 * A program that uses this is linked with fault.c and
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=pthread_mutex_init
 */
#ifndef FAULT_H
#define FAULT_H

/* Refuse one request of the calling thread for memory or for a mutex: the first
   after "skip" more have been granted.  libcheck's assertions need memory, too,
   so call fault_end() before the next assertion. */
void fault_after(int skip);

/* Grant everything again.  Returns whether a request was refused meanwhile. */
int fault_end(void);

#endif
