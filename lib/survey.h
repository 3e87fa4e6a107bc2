/*
 * survey.h - read the nodes of all contenders in a line, at once.
 */
#ifndef KU_SURVEY_H
#define KU_SURVEY_H

#include "op.h"
#include "rank.h"

/* A contender, and the read of its node, which ends with KUSTOS_ENONODE if the
   contender has left.  If we may not read the node, an exists replaces the get.
   Newer servers refuse that as well, with KUSTOS_ENOAUTH; then the node may be
   there or not. */
struct ku_sighting {
	struct ku_contender contender;
	char *path; /* as the caller knows paths */
	struct ku_op *op;
	bool known; /* the owner's: this client deals with that node already */
};

/* Are we not allowed to read the data of its node? */
static inline bool ku_survey_hides(const struct ku_sighting *one)
{
	return one->op->kind != KU_ZK_GET && one->op->err != KUSTOS_ENONODE;
}

struct ku_survey {
	struct kustos_client *client;
	struct ku_sighting *list; /* sorted by number */
	size_t count;
	size_t foreign; /* names that are no contender's */
	size_t pending; /* reads that have not ended */
	enum kustos_err err;
	void (*done)(struct ku_survey *survey); /* with the client locked */
	void *owner;
};

/* Note those of "names", the children of the node at "path", that are
   contenders by the rule.  Free the survey even if this fails.  Returns
   KUSTOS_OK, or an error of making operations. */
enum kustos_err ku_survey_init(struct ku_survey *survey,
	struct kustos_client *client, const struct ku_rule *rule,
	const char *path, const struct kustos_names *names);

/* The node has no line, but is a simple lock itself: note that node. */
enum kustos_err ku_survey_init_node(struct ku_survey *survey,
	struct kustos_client *client, const char *path);

/*
 * With the client locked.
 */

/* Read them all.  "done" is called when that has ended, perhaps from in here,
   and may free "survey". */
void ku_survey_read(struct ku_survey *survey);

/* Free it, whether it has ended or not; "done" is not called any more.  One of
   all zeros is allowed. */
void ku_survey_free(struct ku_survey *survey);

#endif
