/*
 * fault.h - let the system refuse what a call asks for.
 *
 * A program that uses this is linked with fault.c and
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=pthread_mutex_init
 */
#ifndef FAULT_H
#define FAULT_H

/* Refuse one request for memory or for a mutex: the first after "skip" more
   have been granted.  Of the calling thread only.  libcheck's assertions need
   memory, too, so end this before the next. */
void fault_after(int skip);

/* Grant everything again.  Returns whether one was refused meanwhile. */
int fault_end(void);

#endif
