/*
 * zk_st_calls.h - what libzookeeper_st calls instead of functions of the C
 * library, and of one of its own.
 */
#ifndef KU_ZK_ST_CALLS_H
#define KU_ZK_ST_CALLS_H

#include "zk_flow.h"

/* That of the handle with which this thread calls the library; or NULL. */
extern _Thread_local struct ku_zk_flow *ku_zk_flow;

#endif
