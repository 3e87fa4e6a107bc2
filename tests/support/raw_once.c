/*
 * raw_once.c - single requests, each in a session of its own.
 */
#include "raw.h"

#include <stdio.h>
#include <string.h>

#define SESSION_MS 10000
#define PATH_SIZE 4096

int raw_create(const char *address, const char *path, const char *data)
{
	struct raw *raw = raw_open(address, SESSION_MS);
	int rc = RAW_BROKEN;

	if (raw != NULL)
		rc = raw_do_create(raw, path, data, RAW_PERSISTENT, NULL, 0);
	raw_close(raw);
	return rc;
}

int raw_delete(const char *address, const char *path)
{
	struct raw *raw = raw_open(address, SESSION_MS);
	int rc = RAW_BROKEN;

	if (raw != NULL)
		rc = raw_do_delete(raw, path, -1);
	raw_close(raw);
	return rc;
}

int raw_set(const char *address, const char *path, const char *data)
{
	struct raw *raw = raw_open(address, SESSION_MS);
	int rc = RAW_BROKEN;

	if (raw != NULL)
		rc = raw_do_set(raw, path, data, -1);
	raw_close(raw);
	return rc;
}

int raw_exists(const char *address, const char *path, struct raw_stat *stat)
{
	struct raw *raw = raw_open(address, SESSION_MS);
	int rc = RAW_BROKEN;

	if (raw != NULL)
		rc = raw_do_exists(raw, path, stat);
	raw_close(raw);
	return rc;
}

int raw_children(const char *address, const char *path, struct raw_names *names)
{
	struct raw *raw = raw_open(address, SESSION_MS);
	int rc = RAW_BROKEN;

	memset(names, 0, sizeof(*names));
	if (raw != NULL)
		rc = raw_do_children(raw, path, names);
	raw_close(raw);
	return rc;
}

int raw_count_children(const char *address, const char *path)
{
	struct raw_stat stat;
	int rc = raw_exists(address, path, &stat);

	return rc == 0 ? stat.num_children : rc;
}

static int delete_below(struct raw *raw, const char *path)
{
	struct raw_names names;
	char child[PATH_SIZE];
	int rc = raw_do_children(raw, path, &names);

	for (int i = 0; rc == 0 && i < names.count; i++) {
		snprintf(child, sizeof(child), "%s/%s",
			strcmp(path, "/") == 0 ? "" : path, names.names[i]);
		if (strcmp(child, "/zookeeper") != 0)
			rc = delete_below(raw, child);
	}
	raw_names_free(&names);
	if (rc == RAW_NOAUTH)
		rc = 0; /* perhaps it has no children: go on */
	if (rc == 0 && strcmp(path, "/") != 0)
		rc = raw_do_delete(raw, path, -1);
	return rc == RAW_NONODE ? 0 : rc;
}

int raw_delete_tree(const char *address, const char *path)
{
	struct raw *raw = raw_open(address, SESSION_MS);
	int rc = RAW_BROKEN;

	/* Somebody may make a node there meanwhile. */
	for (int i = 0; raw != NULL && i < 100; i++) {
		rc = delete_below(raw, path);
		if (rc != RAW_NOTEMPTY)
			break;
	}
	raw_close(raw);
	return rc;
}
