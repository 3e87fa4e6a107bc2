/*
 * witness.h - parts of the core that are notified at once when the connection
 * or the session is lost, or when the client is being closed.
 *
 * Called with the client locked.
 */
#ifndef KU_WITNESS_H
#define KU_WITNESS_H

struct kustos_client;

struct ku_witness { /* a field of what is notified; any may be NULL */
	void (*away)(struct ku_witness *witness);
	void (*lost)(struct ku_witness *witness); /* NULL: as "away" */
	void (*closing)(struct ku_witness *witness);
	struct ku_witness *prev, *next;
};

struct ku_witnesses {
	struct ku_witness *first;
	struct ku_witness *upcoming; /* the next to be told, during a round */
};

void ku_witness_add(struct kustos_client *client, struct ku_witness *witness);

/* Any witness may be removed while any is being told. */
void ku_witness_remove(struct kustos_client *client,
	struct ku_witness *witness);

/* A loss may come without an "away" before it. */
enum ku_witnessed { KU_WITNESS_AWAY, KU_WITNESS_LOST, KU_WITNESS_CLOSING };
void ku_witnesses_tell(struct kustos_client *client, enum ku_witnessed what);

#endif
