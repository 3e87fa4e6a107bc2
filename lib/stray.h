/*
 * stray.h - nodes that a creation may make late.
 *
 * The answer to a creation was lost with its connection, and through another
 * server the node was not found.  It is made again then, under another GUID.
 * The first creation may still be on its way from the server that was left, and
 * mostly the leader refuses it, since the session has moved.  But if the handle
 * had gone straight back to that server, and given that up as well, the server
 * also asks the leader to take the session over.  Then the first creation is
 * done after all (shun.h), and the leader refuses the next write on the
 * connection that the session has now, which is closed.
 *
 * So the client lists the folders of such nodes after each reconnect, for as
 * long as the creations may be on their way, and deletes what has come.
 * Nothing else has these GUIDs.  But a connection to another follower lasts for
 * as long as the client only reads and syncs through it.  So the client also
 * looks after a heartbeat: after the next one, and later less and less often.
 */
#ifndef KU_STRAY_H
#define KU_STRAY_H

#include <stdbool.h>
#include <stdint.h>

struct kustos_client;
struct ku_nest;
struct ku_op;

struct ku_strays {
	struct ku_nest *nests;
	uint64_t found; /* how many were ever found */
};

/* The creation "op" was sent under this GUID and looked for in vain.  Does
   nothing unless another server may still have it, or if memory is short. */
void ku_stray_add(const struct ku_op *op, const char *guid);

/* Is the node at "path", a full path, one of them?  This includes a node that
   was found and is being deleted. */
bool ku_strays_have(const struct kustos_client *client, const char *path);

/* There is a new connection: look for all of them. */
void ku_strays_look(struct kustos_client *client);

/* A heartbeat was answered: look for those that it is time for. */
void ku_strays_mind(struct kustos_client *client);

/* The session is over, and with it the creations that are on their way. */
void ku_strays_forget(struct kustos_client *client);

#endif
