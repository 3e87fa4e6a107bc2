/*
 * hosts.h - take apart "host:port,host:port/chroot".
 */
#ifndef KU_HOSTS_H
#define KU_HOSTS_H

#include <kustos/base.h>

#define KU_HOSTS_WHY 128

struct ku_host {
	char *name;   /* a name or a numeric address, without brackets */
	char port[6]; /* decimal */
};

struct ku_hosts {
	int count; /* at least 1 */
	struct ku_host *list;
	char *chroot; /* "" or "/a/b" */
};

/* Parse "text": hosts separated by commas, blanks around them allowed, each
   with an optional ":port" (2181) and IPv6 addresses in brackets, and then
   optionally a path.  On KUSTOS_EINVAL "why" is a sentence about the mistake;
   else KUSTOS_OK or KUSTOS_ENOMEM. */
enum kustos_err ku_hosts_parse(struct ku_hosts *hosts, const char *text,
	char why[KU_HOSTS_WHY]);

/* Free what it holds.  One of all zeros is allowed. */
void ku_hosts_free(struct ku_hosts *hosts);

#endif
