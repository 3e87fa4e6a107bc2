/*
 * printed.c - read the figures in the JSON that kustos bench prints.
 */
#include "printed.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double printed_next(const char **at, const char *name)
{
	const char *text = *at;
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "\"%s\":", name);
	*at = strstr(text, wanted);
	ck_assert_msg(*at != NULL, "no \"%s\" in %s", name, text);
	*at += strlen(wanted);
	return strtod(*at, NULL);
}

double printed_first(const char *text, const char *name)
{
	return printed_next(&text, name);
}
