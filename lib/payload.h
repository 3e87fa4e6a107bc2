/*
 * payload.h - what a recipe stores in its nodes: data of the program, or a
 * record of the holder, or the default data.
 */
#ifndef KU_PAYLOAD_H
#define KU_PAYLOAD_H

#include <kustos/base.h>
#include <stdbool.h>

struct kustos_client;

/* A record, with "reason", which may be NULL; else "data"; else what
   ku_recipe_data() returns, or nothing if "empty". */
struct ku_payload_wish {
	bool record;
	const char *reason;
	const void *data;
	size_t len;
	bool empty;
};

struct ku_payload {
	char *data; /* NULL: a record is made each time */
	size_t len;
	char *reason;
};

/* Copy what is wished.  The client is not locked.  On failure there is nothing
   to free. */
enum kustos_err ku_payload_init(struct ku_payload *payload,
	struct kustos_client *client, const struct ku_payload_wish *wish);
void ku_payload_free(struct ku_payload *payload);

/* Return the data for one node.  "*record" is to be freed after the data was
   used. */
enum kustos_err ku_payload_get(const struct ku_payload *payload,
	const char **data, size_t *len, char **record);

#endif
