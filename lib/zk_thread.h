/*
 * zk_thread.h - the conditions under which libzookeeper_mt makes its threads.
 */
#ifndef KU_ZK_THREAD_H
#define KU_ZK_THREAD_H

#include <signal.h>
#include <stdbool.h>

/* Block all signals, which the threads made until end() inherit, so that the
   program's handlers run on its own threads only.  Returns false, with nothing
   changed, if two threads cannot exist: libzookeeper_mt ends the process when
   it cannot make its two (P4). */
bool ku_zk_thread_begin(sigset_t *mask);
void ku_zk_thread_end(const sigset_t *mask);

#endif
