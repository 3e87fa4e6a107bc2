/*
 * manager.h - the one thread that a client has of its own.
 *
 * It keeps the time: timers, among them the one that declares LOST.  It closes
 * handles, looks up names, and chooses servers.  It runs no code of the
 * program's and waits for no server, so nothing can make it late.
 */
#ifndef KU_MANAGER_H
#define KU_MANAGER_H

#include <kustos/base.h>

struct kustos_client;
struct ku_manager;

/* Start it.  Stores it in the client. */
enum kustos_err ku_manager_start(struct kustos_client *client);

/* Wake it now.  From any thread, locked or not. */
void ku_manager_wake(struct ku_manager *manager);

/* Have it wake up at "at_ns" at the latest; it may sleep until then.
   Locked. */
void ku_manager_wake_by(struct ku_manager *manager, int64_t at_ns);

/* Wait for its end, which follows the client's, and free it.  Does nothing
   for a client without one. */
void ku_manager_join(struct kustos_client *client);

#endif
