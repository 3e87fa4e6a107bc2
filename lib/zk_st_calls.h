/*
 * zk_st_calls.h - what libzookeeper_st calls instead of functions of the C
 * library, and of one of its own.
 */
#ifndef KU_ZK_ST_CALLS_H
#define KU_ZK_ST_CALLS_H

#include <stdbool.h>

/* Set by a thread while it makes a request; then this is set to true if
   something is left to be sent. */
extern _Thread_local bool *ku_zk_unsent;

#endif
