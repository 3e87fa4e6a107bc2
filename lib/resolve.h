/*
 * resolve.h - from host names to numeric addresses.
 *
 * libzookeeper_mt resolves names in the thread that should be sending its
 * heartbeats, so that a slow name server costs the session (S21).  It is
 * therefore given numeric addresses only, found here.
 */
#ifndef KU_RESOLVE_H
#define KU_RESOLVE_H

#include <kustos/base.h>

#include <stdbool.h>
#include <sys/socket.h>

struct ku_hosts;
struct ku_random;

#define KU_ADDRESS_SIZE 64

struct ku_address {
	struct sockaddr_storage storage;
	socklen_t len;
	char text[KU_ADDRESS_SIZE]; /* "10.0.0.1:2181", "[::1]:2181" */
};

struct ku_addresses {
	int count;
	struct ku_address *list; /* each once, in the order of the hosts */
};

/* Write "address" as in ku_address.text; "" if it is not an internet one. */
void ku_address_format(const struct sockaddr *address, socklen_t len,
	char text[KU_ADDRESS_SIZE]);

/* Write it as ZooKeeper's library wants it, in ku_zk_open.addresses and in
   ku_zk_api.steer: without brackets. */
void ku_address_bare(const struct ku_address *address,
	char text[KU_ADDRESS_SIZE]);

/* If all hosts are numeric addresses, fill in "*out" without asking anybody
   and return true.  False, with "*out" empty: use ku_resolve(). */
bool ku_resolve_numeric(const struct ku_hosts *hosts, struct ku_addresses *out);

/* Ask the resolver, which may take as long as it likes.  Names that cannot be
   resolved are left out.  Returns KUSTOS_OK; KUSTOS_EDISCONNECTED if none is
   left, with the reason for the last in "why"; or KUSTOS_ENOMEM. */
enum kustos_err ku_resolve(const struct ku_hosts *hosts,
	struct ku_addresses *out, const char **why);

/* Free what it holds.  One of all zeros is allowed. */
void ku_addresses_free(struct ku_addresses *addresses);

/* Return the index of the address written "text", or -1. */
int ku_addresses_find(const struct ku_addresses *addresses, const char *text);

/* Return whether both have the same addresses, in whatever order. */
bool ku_addresses_equal(const struct ku_addresses *a,
	const struct ku_addresses *b);

/* Return whether no two share their IP address.  libzookeeper_mt compares
   servers without their port (L23), so only then can it be steered. */
bool ku_addresses_distinct(const struct ku_addresses *addresses);

/* Return the malloc'ed list for ku_zk_open.addresses: shuffled, and of odd
   length, the first repeated if need be, because libzookeeper_mt visits only
   every other server of an even list (L3).  NULL: no memory. */
char *ku_addresses_join(const struct ku_addresses *addresses,
	struct ku_random *random);

#endif
