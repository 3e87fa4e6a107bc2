/*
 * close_from.h - leave behind what a process was given by the one that forked it.
 */
#ifndef TEST_CLOSE_FROM_H
#define TEST_CLOSE_FROM_H

/* Close all descriptors from "first" on. */
void close_from(int first);

#endif
