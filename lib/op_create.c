/*
 * op_create.c - make a node, its missing parents, and find it again.
 *
 * A protected node carries a GUID in its name.  If the answer to its creation
 * is lost, the same session lists the parent and adopts the child with that
 * GUID.  The listing is not older than the creation: an answer is lost only
 * with its connection, and the next connection begins with a sync (beat.h).
 * A creation that the listing does not show is hardly ever applied later.  By
 * then the session has moved, and where it can tell servers apart it does not
 * go back (shun.h); what another server still passes on for it is refused.  In
 * case it is applied after all it is looked for again (stray.h), and the next
 * try has another GUID.  So there is at most one node with a GUID.
 *
 * An ephemeral node of another session is never adopted, even under our GUID:
 * it is about to vanish.  A new session means a new GUID and a new node.
 */

#include "client.h"

#include <stdlib.h>
#include <string.h>

/* The paths of its requests are written to op->out_path, which is long enough
   for each of them and for the answer. */
struct ku_create {
	char guid[KU_PROTECTION_SIZE]; /* "" until one is needed */
	bool parents_made;	       /* once, in this operation */
	bool as_containers;	       /* they were asked for as such */
	int parent_rc;		       /* why one could not be made */
	size_t guid_len;
	int64_t guid_session; /* in which one was last sent, or 0 */

	int levels; /* that may have to be made */
	int parent_count;
	struct ku_request *parents; /* as many, once they are needed */
};

static bool is(const struct ku_op *op, int flag)
{
	return (op->flags & flag) != 0;
}

static enum ku_zk_mode mode_of(const struct ku_op *op)
{
	enum ku_zk_mode mode = ku_op_mode(op->flags);

	if (mode == KU_ZK_CONTAINER && op->client->ops.no_containers)
		return KU_ZK_PERSISTENT;
	return mode;
}

/* Return where the levels begin that may have to be made: after the chroot. */
static const char *first_level(const struct ku_op *op)
{
	return op->path + op->client->config.chroot_len + 1;
}

/* Return where they end: at the last slash; or, without KUSTOS_CREATE_PARENTS,
   at the end of the name space, unless that itself is to be made. */
static const char *last_level(const struct ku_op *op)
{
	const char *slash = ku_path_leaf(op->path) - 1;
	const char *space = op->path + strlen(op->client->config.prefix);

	return is(op, KUSTOS_CREATE_PARENTS) || slash < space ? slash : space;
}

static int count_levels(const struct ku_op *op)
{
	int levels = 0;

	for (const char *c = first_level(op); c <= last_level(op); c++)
		if (*c == '/' || *c == '\0')
			levels++;
	return levels;
}

struct ku_zk_request ku_create_request(const struct kustos_client *client,
	const char *path, const char *data, int len, enum ku_zk_mode mode)
{
	return (struct ku_zk_request){
		.kind = KU_ZK_CREATE,
		.path = path,
		.data = data,
		.len = len,
		.version = -1,
		.mode = mode,
		.acl = client->config.acl,
		.acl_count = client->config.acl_count,
	};
}

enum kustos_err ku_create_init(struct ku_op *op)
{
	size_t size = strlen(op->path) + KU_PROTECTION_SIZE + 11;
	struct ku_create *create = calloc(1, sizeof(*create));

	if (create == NULL)
		return KUSTOS_ENOMEM;
	op->create = create;
	op->out_path = malloc(size);
	if (op->out_path == NULL)
		return KUSTOS_ENOMEM;
	create->levels = count_levels(op);
	return KUSTOS_OK;
}

enum kustos_err ku_create_new(struct kustos_client *client, const char *path,
	int flags, const void *data, size_t len, struct ku_op **out)
{
	enum kustos_err err = ku_op_new(client, KU_ZK_CREATE, path, flags, out);

	if (err == KUSTOS_OK)
		err = ku_op_data(*out, data, len);
	if (err == KUSTOS_OK)
		err = ku_create_init(*out);
	if (err != KUSTOS_OK)
		ku_op_let_go(out);
	return err;
}

void ku_create_free(struct ku_op *op)
{
	struct ku_create *create = op->create;

	if (create == NULL)
		return;
	for (int i = 0; create->parents != NULL && i < create->parent_count;
		i++)
		free((char *)create->parents[i].what.path);
	free(create->parents);
	free(create);
}

void ku_create_withdraw(struct ku_op *op)
{
	struct ku_create *create = op->create;

	for (int i = 0; i < create->parent_count; i++)
		if (ku_wire_withdraw(op->client, &create->parents[i]))
			op->in_flight--;
}

/* Write a path to op->out_path: "guid" and "name" below the node's parent. */
static void name_child(struct ku_op *op, const char *guid, const char *name)
{
	size_t head = (size_t)(ku_path_leaf(op->path) - op->path);

	memcpy(op->out_path, op->path, head);
	stpcpy(stpcpy(op->out_path + head, guid), name);
}

static void renew_guid(struct ku_op *op)
{
	struct ku_create *create = op->create;

	if (op->bare)
		ku_protection_bare(&op->client->random, create->guid);
	else
		ku_protection(&op->client->random, create->guid);
	create->guid_len = strlen(create->guid);
}

static void create_answered(struct ku_op *op, const struct ku_zk_reply *reply)
{
	op->create->guid_session = op->request.session_id;
	/* By now no_containers may be set, so look at what was sent. */
	if (reply->rc == KU_ZK_UNIMPLEMENTED &&
		op->request.what.mode == KU_ZK_CONTAINER) {
		op->client->ops.no_containers = true;
		ku_op_try(op);
		return;
	}
	ku_op_answered(op, reply);
}

static void send_create(struct ku_op *op)
{
	if (op->unwanted) {
		ku_op_finish(op, KUSTOS_ECANCELED);
		return;
	}
	name_child(op, op->create->guid, ku_path_leaf(op->path));
	op->request.what = ku_create_request(op->client, op->out_path, op->data,
		op->len, mode_of(op));
	ku_op_send(op, create_answered);
}

/* No node of ours is there: send again, as if for the first time. */
static void send_anew(struct ku_op *op)
{
	op->ambiguous = false;
	renew_guid(op);
	send_create(op);
}

/* The node that was found was to be deleted.  Once it is gone, a new one is
   made under a new name. */
static void removed(struct ku_op *op, const struct ku_zk_reply *reply)
{
	if (ku_op_unanswered(op, reply))
		return;
	if (reply->rc == KU_ZK_OK || reply->rc == KU_ZK_NONODE) {
		send_anew(op);
		return;
	}
	ku_op_tell_unseen(op, ku_rc_err(reply->rc));
	ku_op_finish(op, KUSTOS_EUNKNOWN);
}

static void adopt(struct ku_op *op, const struct ku_zk_reply *reply)
{
	struct kustos_client *client = op->client;

	if (ku_op_unanswered(op, reply))
		return;
	/* The node is there, but we may not read its stat (newer servers
	   require the right to read).  Without its stat it is of no use. */
	if (reply->rc == KU_ZK_NOAUTH) {
		ku_op_ask(op, KU_ZK_DELETE, op->out_path, removed);
		return;
	}
	if (reply->rc != KU_ZK_OK) { /* found, and gone again */
		send_anew(op);
		return;
	}
	if (is(op, KUSTOS_CREATE_EPHEMERAL)) {
		if (reply->stat->ephemeral_owner != op->request.session_id) {
			send_anew(op);
			return;
		}
		ku_footprint_add(&client->footprint, op->out_path,
			reply->stat->czxid);
	}
	op->out_stat = *reply->stat;
	ku_op_finish(op, KUSTOS_OK);
}

bool ku_create_made(const char *name, const char *guid, const char *leaf,
	bool sequential)
{
	size_t guid_len = strlen(guid), len = strlen(leaf);

	if (strncmp(name, guid, guid_len) != 0 ||
		strncmp(name + guid_len, leaf, len) != 0)
		return false;
	name += guid_len + len;
	size_t digits = strlen(name);
	if (!sequential)
		return digits == 0;
	return (digits == 10 || digits == 11) &&
		strspn(name, "-0123456789") == digits;
}

static bool is_ours(const struct ku_op *op, const char *name)
{
	return ku_create_made(name, op->create->guid, ku_path_leaf(op->path),
		is(op, KUSTOS_CREATE_SEQUENTIAL));
}

bool ku_create_makes(const struct ku_op *op, const char *name)
{
	return op->kind == KU_ZK_CREATE && !op->done && op->create != NULL &&
		op->create->guid_len > 0 && is_ours(op, name);
}

static const char *find_guid(const struct ku_op *op,
	const struct ku_zk_reply *reply)
{
	for (int i = 0; i < reply->name_count; i++)
		if (is_ours(op, reply->names[i]))
			return reply->names[i];
	return NULL;
}

static void listed(struct ku_op *op, const struct ku_zk_reply *reply)
{
	const char *name;

	if (ku_op_unanswered(op, reply))
		return;
	if (reply->rc != KU_ZK_OK && reply->rc != KU_ZK_NONODE) {
		ku_op_tell_unseen(op, ku_rc_err(reply->rc));
		ku_op_finish(op, KUSTOS_EUNKNOWN); /* we may not look */
		return;
	}
	name = reply->rc == KU_ZK_OK ? find_guid(op, reply) : NULL;
	if (name == NULL) {
		/* Not applied.  If it is later, its GUID tells. */
		ku_stray_add(op, op->create->guid);
		send_anew(op);
		return;
	}
	name_child(op, "", name);
	ku_op_ask(op, KU_ZK_EXISTS, op->out_path, adopt);
}

static void search(struct ku_op *op)
{
	size_t head = ku_path_parent_len(op->path);

	memcpy(op->out_path, op->path, head);
	op->out_path[head] = '\0';
	ku_op_ask(op, KU_ZK_CHILDREN, op->out_path, listed);
}

void ku_create_try(struct ku_op *op)
{
	struct ku_create *create = op->create;
	bool moved = create->guid_session != op->client->session.id;

	if (!is(op, KUSTOS_CREATE_PROTECTED) && op->unwanted && op->ambiguous &&
		op->session_id == op->client->session.id) {
		ku_op_look_created(op);
	} else if (!is(op, KUSTOS_CREATE_PROTECTED)) {
		send_create(op);
	} else if (create->guid[0] == '\0' ||
		(is(op, KUSTOS_CREATE_EPHEMERAL) && moved)) {
		send_anew(op);
	} else if (op->ambiguous) {
		search(op);
	} else {
		send_create(op);
	}
}

/* Is it of no use to try again?  If the parent of a level below the first is
   missing, its creation was lost, or it was reaped: that is worth another
   try. */
static bool is_final_for_parent(const struct ku_op *op,
	const struct ku_request *request, int rc)
{
	if (rc == KU_ZK_NONODE)
		return request == &op->create->parents[0];
	return ku_outcome(rc) == KU_OUTCOME_REFUSED && rc != KU_ZK_NODEEXISTS;
}

static void parent_made(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_op *op = request->owner;

	if (reply->rc == KU_ZK_UNIMPLEMENTED)
		op->client->ops.no_containers = true;
	else if (is_final_for_parent(op, request, reply->rc))
		op->create->parent_rc = reply->rc;
	ku_op_request_over(op);
}

/* Create every level at once, the topmost first.  Most exist already: refusing
   them costs the server less than it would cost us to ask first. */
static bool send_parents(struct ku_op *op)
{
	struct ku_create *create = op->create;
	const char *end = first_level(op);

	create->as_containers = !op->plain && !op->client->ops.no_containers;
	if (create->parents == NULL) {
		create->parents = calloc((size_t)create->levels,
			sizeof(*create->parents));
		if (create->parents == NULL)
			return false;
		create->parent_count = create->levels;
	}
	for (int i = 0; i < create->parent_count; i++, end++) {
		struct ku_request *parent = &create->parents[i];

		end += strcspn(end, "/");
		if (ku_request_busy(parent))
			return false; /* still under way */
		if (parent->what.path == NULL)
			parent->what.path = strndup(op->path,
				(size_t)(end - op->path));
		if (parent->what.path == NULL)
			return false;
		parent->owner = op;
		parent->done = parent_made;
		parent->what = ku_create_request(op->client, parent->what.path,
			"", 0,
			create->as_containers ? KU_ZK_CONTAINER
					      : KU_ZK_PERSISTENT);
		ku_op_send_also(op, parent);
	}
	return true;
}

/* Were the parents asked for as containers, and has it turned out since that
   the server does not know those? */
static bool must_be_plain(const struct ku_op *op)
{
	return op->create->as_containers && op->client->ops.no_containers;
}

bool ku_create_parents(struct ku_op *op)
{
	struct ku_create *create = op->create;

	if (create->levels == 0)
		return false;
	if (op->unwanted) { /* and so are its parents */
		ku_op_finish(op, KUSTOS_ECANCELED);
		return true;
	}
	if (create->parents_made && !must_be_plain(op)) {
		/* Made, and missing again: a container may have been reaped in
		   between.  Without KUSTOS_CREATE_PARENTS the missing one is
		   below the name space, where we must not make it. */
		if (!is(op, KUSTOS_CREATE_PARENTS))
			return false;
		if (create->parent_rc != 0) {
			ku_op_finish(op, ku_rc_err(create->parent_rc));
			return true;
		}
		create->parents_made = false;
		ku_op_again(op, KUSTOS_ENONODE);
		return true;
	}
	create->parent_rc = 0;
	create->parents_made = send_parents(op);
	if (!create->parents_made) {
		ku_op_again(op, KUSTOS_ENOMEM);
		return true;
	}
	send_create(op);
	return true;
}
