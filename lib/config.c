/* config.c - check the options, and copy them. */

#include "client.h"
#include "name.h"
#include "recipe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A server grants no less than two ticks, which are 2 s each by default. */
#define MIN_TIMEOUT_MS 100
#define MAX_TIMEOUT_MS (24 * 60 * 60 * 1000)

/* The same limit as for any node's data; servers accept far less. */
#define MAX_NODE_DATA (INT_MAX / 2)

static char *copy(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

static enum kustos_err invalid(char why[128], const char *reason)
{
	snprintf(why, 128, "%s", reason);
	return KUSTOS_EINVAL;
}

/* Read the caller's options, whose struct may be older than ours. */
static enum kustos_err read_options(struct kustos_client_options *to,
	const struct kustos_client_options *from, char why[128])
{
	static const struct kustos_client_options defaults =
		KUSTOS_CLIENT_OPTIONS_INIT;

	*to = defaults;
	if (from->size < offsetof(struct kustos_client_options, name_space))
		return invalid(why,
			"size is not set "
			"(use KUSTOS_CLIENT_OPTIONS_INIT)");
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	if (!ku_options_known(from, sizeof(*to)))
		return invalid(why, "an option is newer than this library");
	return KUSTOS_OK;
}

static enum kustos_err check(const struct kustos_client_options *o,
	char why[128])
{
	if (o->hosts == NULL)
		return invalid(why, "hosts is missing");
	if (o->session_timeout_ms < MIN_TIMEOUT_MS ||
		o->session_timeout_ms > MAX_TIMEOUT_MS)
		return invalid(why, "session_timeout_ms is out of range");
	if (o->name_space != NULL && o->name_space[0] != '\0' &&
		!ku_path_valid(o->name_space, false))
		return invalid(why, "name_space is not an absolute path");
	if (!ku_retry_valid(&o->retry))
		return invalid(why, "retry is not a policy");
	if (o->digest != NULL && strchr(o->digest, ':') == NULL)
		return invalid(why, "digest is not \"user:password\"");
	if (o->acl_count > INT_MAX || (o->acl_count > 0 && o->acl == NULL))
		return invalid(why, "acl_count does not fit acl");
	for (size_t i = 0; i < o->acl_count; i++)
		if (o->acl[i].scheme == NULL || o->acl[i].id == NULL ||
			o->acl[i].perms < 0 ||
			o->acl[i].perms > KUSTOS_PERM_ALL)
			return invalid(why, "acl has a malformed entry");
	if (o->dispatch != KUSTOS_DISPATCH_THREAD &&
		o->dispatch != KUSTOS_DISPATCH_FD)
		return invalid(why, "dispatch is not a mode");
	if (o->node_data == NULL && o->node_data_len > 0)
		return invalid(why, "node_data is missing");
	if (o->node_data_len > MAX_NODE_DATA)
		return invalid(why, "node_data_len is out of range");
	return KUSTOS_OK;
}

static enum kustos_err copy_acl(struct ku_config *config,
	const struct kustos_acl *acl, int count)
{
	static const struct kustos_acl open_to_all = { KUSTOS_PERM_ALL, "world",
		"anyone" };

	if (count == 0) {
		acl = &open_to_all;
		count = 1;
	}
	config->acl = calloc((size_t)count, sizeof(*config->acl));
	if (config->acl == NULL)
		return KUSTOS_ENOMEM;
	config->acl_count = count;
	for (int i = 0; i < count; i++) {
		config->acl[i].perms = acl[i].perms;
		config->acl[i].scheme = strdup(acl[i].scheme);
		config->acl[i].id = strdup(acl[i].id);
		if (config->acl[i].scheme == NULL || config->acl[i].id == NULL)
			return KUSTOS_ENOMEM;
	}
	return KUSTOS_OK;
}

/* The chroot and the name space become one prefix of our own: the ZooKeeper
   library's chroot lets malformed paths through, and knows no name space. */
static enum kustos_err make_prefix(struct ku_config *config,
	const char *name_space)
{
	const char *chroot = config->hosts.chroot;

	if (name_space == NULL || strcmp(name_space, "/") == 0)
		name_space = "";
	config->chroot_len = strlen(chroot);
	config->prefix = malloc(config->chroot_len + strlen(name_space) + 1);
	if (config->prefix == NULL)
		return KUSTOS_ENOMEM;
	strcpy(config->prefix, chroot);
	strcat(config->prefix, name_space);
	return KUSTOS_OK;
}

static enum kustos_err copy_strings(struct ku_config *config,
	const struct kustos_client_options *o)
{
	config->digest = copy(o->digest);
	if (config->digest == NULL && o->digest != NULL)
		return KUSTOS_ENOMEM;
	config->node_data = malloc(o->node_data_len + 1);
	if (config->node_data == NULL)
		return KUSTOS_ENOMEM;
	if (o->node_data_len > 0)
		memcpy(config->node_data, o->node_data, o->node_data_len);
	config->node_data_len = o->node_data_len;
	return KUSTOS_OK;
}

enum kustos_err ku_config_init(struct ku_config *config,
	const struct kustos_client_options *options, char why[128])
{
	struct kustos_client_options o;
	enum kustos_err err = read_options(&o, options, why);

	/* First: the caller logs what is refused. */
	config->log = o.log;
	config->log_arg = o.log_arg;
	config->log_level = o.log_level;
	if (err != KUSTOS_OK)
		return err;
	config->timeout_ms = o.session_timeout_ms;
	config->retry = o.retry;
	config->on_request = o.on_request;
	config->on_request_arg = o.on_request_arg;
	if (o.resume != NULL) {
		config->resume.id = o.resume->session_id;
		memcpy(config->resume.password, o.resume->password,
			sizeof(config->resume.password));
	}
	config->dispatch = o.dispatch;
	if ((err = check(&o, why)) != KUSTOS_OK ||
		(err = ku_hosts_parse(&config->hosts, o.hosts, why)) !=
			KUSTOS_OK)
		return err;
	if ((err = make_prefix(config, o.name_space)) != KUSTOS_OK ||
		(err = copy_acl(config, o.acl, (int)o.acl_count)) != KUSTOS_OK)
		return err;
	return copy_strings(config, &o);
}

void ku_config_free(struct ku_config *config)
{
	for (int i = 0; i < config->acl_count; i++) {
		free((char *)config->acl[i].scheme);
		free((char *)config->acl[i].id);
	}
	free(config->acl);
	ku_hosts_free(&config->hosts);
	free(config->prefix);
	free(config->digest);
	free(config->node_data);
}
