/* log.c - one line to the program's log. */

#include "client.h"

#include <stdarg.h>
#include <stdio.h>

void ku_log(const struct kustos_client *client, enum kustos_log_level level,
	const char *format, ...)
{
	const struct ku_config *config = &client->config;
	char line[512];
	va_list args;

	if (config->log == NULL || level > config->log_level)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* Text from outside the program, such as a path, may contain line
	   ends. */
	for (char *c = line; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = '?';
	config->log(config->log_arg, level, line);
}
