/*
 * rows.c - find and check rows in the output of kustos top.
 */
#include "rows.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

const char *rows_find(const char *printed, const char *path)
{
	static char text[512];
	char wanted[128];
	const char *at, *begin;

	snprintf(wanted, sizeof(wanted), "  %s", path);
	for (at = printed; (at = strstr(at, wanted)) != NULL; at++)
		if (strchr(" \n", at[strlen(wanted)]) != NULL)
			break;
	ck_assert_msg(at != NULL, "no %s in \"%s\"", path, printed);
	for (begin = at; begin > printed && begin[-1] != '\n'; begin--)
		;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(begin, "\n"), begin);
	return text;
}

void rows_check(const char *printed, const char *path, const char *kind,
	int holds, int waits, const char *rest)
{
	const char *line = rows_find(printed, path);
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "%-9s %6d %6d        -        -  %s%s",
		kind, holds, waits, path, rest);
	ck_assert_msg(strncmp(line, wanted, strlen(wanted)) == 0,
		"\"%s\", not \"%s\"", line, wanted);
}
