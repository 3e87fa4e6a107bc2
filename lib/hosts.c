/*
 * hosts.c - take apart "host:port,host:port/chroot".
 */
#include "hosts.h"
#include "name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT "2181"

static enum kustos_err wrong(char why[KU_HOSTS_WHY], const char *what,
	const char *text, size_t len)
{
	if (len > 60)
		len = 60;
	snprintf(why, KU_HOSTS_WHY, "%s in hosts: \"%.*s\"", what, (int)len,
		text);
	return KUSTOS_EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool parse_port(char port[6], const char *text, size_t len)
{
	int number = 0;
	size_t i;

	if (len > 5)
		return false;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (text[i] - '0');
	}
	if (number < 1 || number > 65535)
		return false;
	snprintf(port, 6, "%d", number);
	return true;
}

/* Find the name and what follows it.  Returns false if brackets do not match
   or a bare IPv6 address would be taken for a name and a port. */
static bool split(const char *text, size_t len, const char **name,
	size_t *name_len, size_t *used)
{
	const char *end;

	if (*text == '[') {
		end = memchr(text, ']', len);
		if (!end)
			return false;
		*name = text + 1;
		*name_len = (size_t)(end - *name);
		*used = *name_len + 2;
		return true;
	}
	end = memchr(text, ':', len);
	*name = text;
	*name_len = end ? (size_t)(end - text) : len;
	*used = *name_len;
	return !end || !memchr(end + 1, ':', len - *name_len - 1);
}

/* The resolver checks names, so only characters that would change the meaning
   of the list are rejected here. */
static bool name_ok(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)name[i] <= ' ' || strchr("[]/,", name[i]))
			return false;
	return len > 0;
}

static enum kustos_err parse_host(struct ku_host *host, const char *text,
	size_t len, char why[KU_HOSTS_WHY])
{
	const char *name;
	size_t name_len, used;

	while (len > 0 && is_blank(text[0]))
		text++, len--;
	while (len > 0 && is_blank(text[len - 1]))
		len--;
	if (len == 0)
		return wrong(why, "an empty host", text, len);
	if (!split(text, len, &name, &name_len, &used))
		return wrong(why, "brackets missing or unmatched", text, len);
	if (!name_ok(name, name_len))
		return wrong(why, "a malformed host name", text, len);
	if (used == len)
		strcpy(host->port, DEFAULT_PORT);
	else if (text[used] != ':' ||
		!parse_port(host->port, text + used + 1, len - used - 1))
		return wrong(why, "a malformed port", text, len);
	host->name = strndup(name, name_len);
	return host->name ? KUSTOS_OK : KUSTOS_ENOMEM;
}

static enum kustos_err parse_list(struct ku_hosts *hosts, const char *text,
	size_t len, char why[KU_HOSTS_WHY])
{
	const char *end = text + len, *comma;
	enum kustos_err err = KUSTOS_OK;
	size_t n = 1, i;

	for (i = 0; i < len; i++)
		n += text[i] == ',';
	hosts->list = calloc(n, sizeof(*hosts->list));
	if (!hosts->list)
		return KUSTOS_ENOMEM;
	for (i = 0; i < n && err == KUSTOS_OK; i++) {
		comma = memchr(text, ',', (size_t)(end - text));
		if (!comma)
			comma = end;
		err = parse_host(&hosts->list[i], text, (size_t)(comma - text),
			why);
		if (err == KUSTOS_OK)
			hosts->count++;
		text = comma + 1;
	}
	return err;
}

enum kustos_err ku_hosts_parse(struct ku_hosts *hosts, const char *text,
	char why[KU_HOSTS_WHY])
{
	const char *slash = strchr(text, '/');
	enum kustos_err err;

	memset(hosts, 0, sizeof(*hosts));
	why[0] = '\0';
	if (strstr(text, "://") != NULL)
		return wrong(why, "a URL instead of host:port", text,
			strlen(text));
	err = parse_list(hosts, text,
		slash ? (size_t)(slash - text) : strlen(text), why);
	if (err == KUSTOS_OK && slash && !ku_path_valid(slash, false))
		err = wrong(why, "a malformed chroot", slash, strlen(slash));
	if (err == KUSTOS_OK) {
		hosts->chroot = strdup(slash && slash[1] ? slash : "");
		if (!hosts->chroot)
			err = KUSTOS_ENOMEM;
	}
	if (err != KUSTOS_OK)
		ku_hosts_free(hosts);
	return err;
}

void ku_hosts_free(struct ku_hosts *hosts)
{
	int i;

	for (i = 0; i < hosts->count; i++)
		free(hosts->list[i].name);
	free(hosts->list);
	free(hosts->chroot);
	memset(hosts, 0, sizeof(*hosts));
}
