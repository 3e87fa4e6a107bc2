/*
 * access.h - as whom the command acts, and whose the nodes are that it makes.
 */
#ifndef KU_ACCESS_H
#define KU_ACCESS_H

#include "tool.h"

struct access {
	char digest[1024];
	struct kustos_acl acl;
};

/* Put what --auth-file and --acl say into "options", which point into "access"
   then.  Returns TOOL_OK, or what to end with, having said why. */
int access_take(const struct tool *tool, struct access *access,
	struct kustos_client_options *options);

#endif
