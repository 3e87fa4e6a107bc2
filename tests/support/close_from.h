/*
 * close_from.h - close the descriptors that a process inherited from its
 * parent.
 */
#ifndef TEST_CLOSE_FROM_H
#define TEST_CLOSE_FROM_H

/* Close all descriptors from "first" on. */
void close_from(int first);

#endif
