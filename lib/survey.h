/*
 * survey.h - read the nodes of all who stand in a line, at once.
 */
#ifndef KU_SURVEY_H
#define KU_SURVEY_H

#include "op.h"
#include "rank.h"

/* One of them, and the read that tells about it: KUSTOS_ENONODE if it has left.  If we
   may not read it that is an exists instead of a get; which newer servers refuse as
   well, with KUSTOS_ENOAUTH, and then it may be there or not. */
struct ku_sighting {
	struct ku_contender contender;
	char *path; /* as the caller knows paths */
	struct ku_op *op;
};

/* May what its node says not be read? */
static inline bool ku_survey_hides(const struct ku_sighting *one)
{
	return one->op->kind != KU_ZK_GET && one->op->err != KUSTOS_ENONODE;
}

struct ku_survey {
	struct kustos_client *client;
	struct ku_sighting *list; /* in their order */
	size_t count;
	size_t foreign; /* names of nobody who stands there */
	size_t pending; /* reads that have not ended */
	enum kustos_err err;
	void (*done)(struct ku_survey *survey); /* with the client locked */
	void *owner;
};

/* Note those of "names", children of the node at "path", who take part as the
   rule says.  To be freed, also if this fails.  Returns KUSTOS_OK, or what
   making operations does. */
enum kustos_err ku_survey_init(struct ku_survey *survey,
	struct kustos_client *client, const struct ku_rule *rule,
	const char *path, const struct kustos_names *names);

/* The node has no line, but is a simple lock itself: note that one. */
enum kustos_err ku_survey_init_node(struct ku_survey *survey,
	struct kustos_client *client, const char *path);

/*
 * With the client locked.
 */

/* Read them all.  "done" is called when that has ended, perhaps from in here,
   and may free "survey". */
void ku_survey_read(struct ku_survey *survey);

/* Free it, whether it has ended or not; "done" is not called any more. */
void ku_survey_free(struct ku_survey *survey);

#endif
