/*
 * shun.h - servers that a session does not go back to.
 *
 * If the connection to a follower ends while a write is unanswered, the write
 * may still be at the follower, or on the link to its leader.  While the
 * session is with another server the leader refuses such a late write.  But if
 * the session comes back to that follower, the leader carries it out.  By then
 * we have seen, through another server, that the write was not done, and have
 * acted on that.  So a late creation may make a node that we have made again
 * and deleted since, and a late deletion may delete what another client has
 * made in the place of our node.
 *
 * So as soon as the session is with another server, the handle's list leaves
 * that server out, and we do not steer to it, for longer than a leader waits
 * for a follower that it does not hear.  Going straight back to it is safe: a
 * late write comes before anything that is asked on the new connection, and
 * nothing was decided in between.  But if that connection is given up, too, the
 * follower's request to take the session over may reach the leader late as
 * well, right behind the late write: it gives the session back to that
 * follower, even if we have been elsewhere for long.  So a silent server that
 * has a write of ours is not tried once more in vain (ku_steer_owed()).
 *
 * Decisions and texts only.  Servers are written as in ku_address.text, and in
 * lists as ku_zk_open.addresses has them.
 */
#ifndef KU_SHUN_H
#define KU_SHUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KU_SHUN_MAX 8	 /* if one more is added, the oldest goes */
#define KU_SHUN_MS 30000 /* how long; a leader waits for syncLimit ticks */
#define KU_SHUN_TEXT 64	 /* KU_ADDRESS_SIZE */

struct ku_shun {
	int count;
	struct {
		char address[KU_SHUN_TEXT];
		int64_t until_ns;
	} list[KU_SHUN_MAX];
};

/* A write to "server" was not answered. */
void ku_shun_add(struct ku_shun *shun, const char *server, int64_t now);

/* "server" has answered a sync, so it has no earlier write of ours any more. */
void ku_shun_drop(struct ku_shun *shun, const char *server);

bool ku_shun_has(const struct ku_shun *shun, const char *server, int64_t now);

/* Return until when a server is to be avoided, the last of them; 0 if there is
   none. */
int64_t ku_shun_until(const struct ku_shun *shun, int64_t now);

/* Return the size of the buffers that the functions below need for a list. */
size_t ku_shun_room(const char *addresses);

/* Fill in the servers of "addresses", each once.  If two share an IP address
   the list stays empty, so that none is left out: libzookeeper_mt compares
   servers without their port (L23). */
void ku_shun_begin(char *list, const char *addresses);

/* Take the shunned servers out of "list", except "present".  If "present" is
   not in the list, the handle does not follow the list, which is left as it is.
   Returns whether it has changed. */
bool ku_shun_narrow(const struct ku_shun *shun, int64_t now,
	const char *present, char *list);

/* Write the list as ku_zk_open.addresses has it, of odd length (see
   ku_addresses_join()).  The server that is repeated for that is not "present",
   which would be tried again before others. */
void ku_shun_join(const char *list, const char *present, char *out);

#endif
