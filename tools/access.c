/*
 * access.c - the command's credentials, and the ACL of the nodes that it makes.
 *
 * The password is read from a file: everybody can see the arguments of a
 * process.
 */
#include "access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* May others read the credentials in this file, or change them?  As with psql,
   a group may read a file that belongs to root.  What is no regular file, such
   as a pipe, is the user's own responsibility. */
static bool is_open_to_others(int fd)
{
	struct stat is;

	if (fstat(fd, &is) < 0 || !S_ISREG(is.st_mode))
		return false;
	return (is.st_mode & (is.st_uid == 0 ? 037 : 077)) != 0;
}

/* Read the first line.  Returns NULL, or what is wrong. */
static const char *read_line(FILE *file, char *line, int size)
{
	if (is_open_to_others(fileno(file)))
		return "others may read or write it; see chmod(1)";
	if (fgets(line, size, file) == NULL)
		return ferror(file) ? strerror(errno) : "it is empty";
	size_t len = strcspn(line, "\r\n");
	if (line[len] == '\0' && !feof(file))
		return "its first line is too long";
	line[len] = '\0';
	return strchr(line, ':') > line ? NULL
					: "its first line is not USER:PASSWORD";
}

static int read_digest(const char *path, struct access *access)
{
	FILE *file = fopen(path, "re");
	const char *wrong = file == NULL
		? strerror(errno)
		: read_line(file, access->digest, sizeof(access->digest));

	if (file != NULL)
		fclose(file);
	if (wrong == NULL)
		return TOOL_OK;
	tool_say("the credentials in %s are not used: %s", path, wrong);
	return TOOL_FAILED;
}

int access_take(const struct tool *tool, struct access *access,
	struct kustos_client_options *options)
{
	if (tool->creator_only) {
		access->acl = (struct kustos_acl){ KUSTOS_PERM_ALL, "auth",
			"" };
		options->acl = &access->acl;
		options->acl_count = 1;
	}
	if (tool->auth_file != NULL) {
		options->digest = access->digest;
		return read_digest(tool->auth_file, access);
	}
	return tool->creator_only
		? tool_usage(tool, "--acl creator needs an --auth-file")
		: TOOL_OK;
}
