/*
 * shun.h - servers that a session does not go back to.
 *
 * If the connection to a follower ends while a write is unanswered, the follower
 * may have it still, or the link to its leader.  While the session is elsewhere the
 * leader refuses such a write; but if the session comes back to that follower it
 * is the session's again, and is done then: after we have seen, elsewhere, that it
 * was not, and have acted on that (it was sent again, and what it made has been
 * deleted since; or it deletes what another has made in the place of ours).
 *
 * So that server is left out of the list of the handle, as soon as the session is
 * with another one, and is not steered to, for longer than a leader waits for a
 * follower that it does not hear.  Straight back to it is well: what it has comes
 * before what is asked there, and nothing was decided meanwhile.  But what a
 * connection there asks of the leader may be late as well: so a silent server is
 * not tried once more in vain (ku_steer_owed()).
 *
 * Decisions and texts only.  Servers are written as in ku_address.text, and in
 * lists as ku_zk_open.addresses has them.
 */
#ifndef KU_SHUN_H
#define KU_SHUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KU_SHUN_MAX 8	 /* the one that was added first makes room */
#define KU_SHUN_MS 30000 /* so long; a leader waits for syncLimit ticks */
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

/* It has answered a sync, so it has nothing any more that was before that. */
void ku_shun_drop(struct ku_shun *shun, const char *server);

bool ku_shun_has(const struct ku_shun *shun, const char *server, int64_t now);

/* What follows is of lists with so much room. */
size_t ku_shun_room(const char *addresses);

/* Fill in the servers of "addresses", each once; none, of which none is left out, if two
   share their IP address: libzookeeper_mt compares servers without their port (L23). */
void ku_shun_begin(char *list, const char *addresses);

/* Leave those out that are shunned, but not "present"; if that is not in the list the
   handle does not heed it, and it is left as it is.  Returns whether it has changed. */
bool ku_shun_narrow(const struct ku_shun *shun, int64_t now,
	const char *present, char *list);

/* Write it as ku_zk_open.addresses has it: of odd length, as ku_addresses_join() says.
   What is repeated is not "present", which would be tried again before others. */
void ku_shun_join(const char *list, const char *present, char *out);

#endif
