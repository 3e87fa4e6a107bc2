/* fid_script.c - random requests: most are valid, some are wrong in some
   way. */
#include "fid_script.h"

#include <stdio.h>
#include <string.h>

static const struct kustos_acl good = { KUSTOS_PERM_ALL, "world", "anyone" };
/* ACLs that are refused.  There is none that is valid and restricts access, as
   the model would not enforce it afterwards. */
static const struct kustos_acl odd[] = {
	{ KUSTOS_PERM_ALL, "world", "somebody" },
	{ KUSTOS_PERM_ALL, "nonsense", "anyone" },
	{ KUSTOS_PERM_ALL, "auth", "" },
	{ KUSTOS_PERM_ALL, "digest", "no-colon" },
};

static char paths[FID_OPS_MAX + 1][80];
static char values[FID_OPS_MAX + 1][24];

static unsigned below(struct fid_script *script, unsigned n)
{
	return (unsigned)sim_random_below(&script->random, n);
}

/* Containers ("z") get no children here: a container that is empty again is
   deleted whenever the server finds the time. */
static void make_path(struct fid_script *script, char *path)
{
	static const char *const wrong[] = { "/f//x", "f", "/f/x/", "/f/./x",
		"/f/../x", "/f/..", "/f/\x02", "//" };
	static const char *const special[] = { "/", "/zookeeper",
		"/zookeeper/quota", "/nowhere/at/all" };
	int depth = (int)below(script, 3) + 1;

	if (below(script, 50) == 0) {
		strcpy(path, wrong[below(script, 8)]);
		return;
	}
	if (below(script, 50) == 0) {
		strcpy(path, special[below(script, 4)]);
		return;
	}
	path += sprintf(path, "/f%d", script->root);
	while (depth-- > 0)
		path += sprintf(path, "/%c", 'a' + (int)below(script, 3));
	if (below(script, 4) == 0)
		sprintf(path, "/s-%010u",
			below(script, (unsigned)script->made / 4 + 2));
	else if (below(script, 15) == 0)
		strcpy(path, "/z");
}

static void make_create(struct fid_script *script,
	struct ku_zk_request *request, char *path, bool in_multi)
{
	request->mode = (enum ku_zk_mode)below(script, 4);
	request->acl = &good;
	request->acl_count = 1;
	if (below(script, 25) == 0) {
		request->acl = &odd[below(script, 4)];
		request->acl_count = below(script, 8) != 0;
	}
	if (request->mode == KU_ZK_PERSISTENT_SEQUENTIAL ||
		request->mode == KU_ZK_EPHEMERAL_SEQUENTIAL) {
		if (path[strlen(path) - 1] == 'z')
			path[strlen(path) - 2] = '\0';
		strcat(path, below(script, 3) == 0 ? "/" : "/s-");
		script->made++;
	} else if (path[strlen(path) - 1] == 'z') {
		request->mode = in_multi ? KU_ZK_PERSISTENT : KU_ZK_CONTAINER;
	}
}

static void make_value(struct fid_script *script, struct ku_zk_request *request,
	char *value)
{
	request->data = value;
	switch (below(script, 6)) {
	case 0:
		request->data = NULL;
		request->len = -1;
		break;
	case 1:
		request->len = 0;
		break;
	default:
		request->len = snprintf(value, sizeof(values[0]), "v%u",
			below(script, 100000));
	}
}

static void make_one(struct fid_script *script, struct ku_zk_request *request,
	enum ku_zk_kind kind, int slot)
{
	memset(request, 0, sizeof(*request));
	request->kind = kind;
	request->path = paths[slot];
	make_path(script, paths[slot]);
	request->version = below(script, 2) == 0 ? -1 : (int)below(script, 3);
	request->watch = below(script, 2) == 0;
	request->unwatch = below(script, 2) == 0 ? KU_ZK_WATCH_DATA
						 : KU_ZK_WATCH_CHILDREN;
	if (kind == KU_ZK_CREATE)
		make_create(script, request, paths[slot], slot > 0);
	if (kind == KU_ZK_CREATE || kind == KU_ZK_SET)
		make_value(script, request, values[slot]);
}

static void make_multi(struct fid_script *script, struct ku_zk_request *request)
{
	static const enum ku_zk_kind kinds[] = { KU_ZK_CREATE, KU_ZK_CREATE,
		KU_ZK_DELETE, KU_ZK_SET, KU_ZK_SET, KU_ZK_CHECK };
	static struct ku_zk_request ops[FID_OPS_MAX];
	int i;

	memset(request, 0, sizeof(*request));
	request->kind = KU_ZK_MULTI;
	request->ops = ops;
	request->op_count = (int)below(script, FID_OPS_MAX) + 1;
	for (i = 0; i < request->op_count; i++) {
		/* These paths are all well formed: if libzookeeper_mt refuses
		   one inside a multi, it frees what it never set. */
		do {
			make_one(script, &ops[i], kinds[below(script, 6)],
				i + 1);
		} while (strncmp(ops[i].path, "/f", 2) != 0 ||
			ops[i].path[2] == '/');
	}
}

const struct ku_zk_request *fid_request(struct fid_script *script)
{
	static const enum ku_zk_kind kinds[] = {
		KU_ZK_CREATE,
		KU_ZK_CREATE,
		KU_ZK_CREATE,
		KU_ZK_CREATE,
		KU_ZK_CREATE,
		KU_ZK_CREATE,
		KU_ZK_DELETE,
		KU_ZK_DELETE,
		KU_ZK_DELETE,
		KU_ZK_DELETE,
		KU_ZK_GET,
		KU_ZK_GET,
		KU_ZK_SET,
		KU_ZK_SET,
		KU_ZK_SET,
		KU_ZK_EXISTS,
		KU_ZK_EXISTS,
		KU_ZK_CHILDREN,
		KU_ZK_CHILDREN,
		KU_ZK_SYNC,
		KU_ZK_UNWATCH,
		KU_ZK_MULTI,
		KU_ZK_MULTI,
		KU_ZK_MULTI,
	};
	static struct ku_zk_request request;
	enum ku_zk_kind kind =
		kinds[below(script, sizeof(kinds) / sizeof(kinds[0]))];

	if (kind == KU_ZK_MULTI)
		make_multi(script, &request);
	else
		make_one(script, &request, kind, 0);
	return &request;
}

const struct ku_zk_request *fid_root(struct fid_script *script)
{
	static struct ku_zk_request request;

	memset(&request, 0, sizeof(request));
	request.kind = KU_ZK_CREATE;
	sprintf(paths[0], "/f%d", script->root);
	request.path = paths[0];
	request.len = -1;
	request.acl = &good;
	request.acl_count = 1;
	script->made = 0;
	return &request;
}
