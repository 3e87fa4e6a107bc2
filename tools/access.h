/*
 * access.h - the command's credentials, and the ACL of the nodes that it makes.
 */
#ifndef KU_ACCESS_H
#define KU_ACCESS_H

#include "tool.h"

struct access {
	char digest[1024];
	struct kustos_acl acl;
};

/* Put what --auth-file and --acl say into "options", which then point into
   "access".  Returns TOOL_OK; or, having printed why, the exit code to end
   with. */
int access_take(const struct tool *tool, struct access *access,
	struct kustos_client_options *options);

#endif
