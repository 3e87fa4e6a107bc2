/* recipe.c - small services for recipes. */

#define _GNU_SOURCE /* program_invocation_short_name */

#include "recipe.h"
#include "client.h"
#include "utf8.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum kustos_err ku_recipe_check(const struct kustos_client *client)
{
	if (client == NULL)
		return KUSTOS_EINVAL;
	return ku_forked(&client->fork) ? KUSTOS_EFORKED : KUSTOS_OK;
}

bool ku_options_known(const void *from, size_t size)
{
	const unsigned char *bytes = from;
	size_t theirs;

	memcpy(&theirs, from, sizeof(theirs));
	for (size_t i = size; i < theirs; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

bool ku_recipe_options(void *to, size_t size, const void *from)
{
	size_t known;

	if (from == NULL)
		return true;
	memcpy(&known, from, sizeof(known));
	if (known < sizeof(known) || !ku_options_known(from, size))
		return false;
	memcpy(to, from, known < size ? known : size);
	return true;
}

bool ku_recipe_dialect(enum kustos_dialect dialect)
{
	return dialect == KUSTOS_DIALECT_CURATOR ||
		dialect == KUSTOS_DIALECT_KAZOO;
}

/* Split "10.0.0.1:2181" or "[::1]:2181" in place.  Returns the host. */
static char *split_address(char *address, char **port)
{
	char *colon = strrchr(address, ':');

	if (colon == NULL)
		return NULL;
	*colon = '\0';
	*port = colon + 1;
	if (address[0] != '[')
		return address;
	address[strcspn(address, "]")] = '\0';
	return address + 1;
}

/* Find the address from which the kernel would talk to "server".  Nothing is
   sent: connecting a datagram socket only chooses a route. */
static bool local_address(const char *server, char out[INET6_ADDRSTRLEN])
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_DGRAM };
	struct addrinfo *info = NULL;
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	char copy[64];
	char *port = NULL;
	bool found = false;

	snprintf(copy, sizeof(copy), "%s", server);
	const char *host = split_address(copy, &port);
	if (host == NULL || getaddrinfo(host, port, &hints, &info) != 0)
		return false;
	int fd = socket(info->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		found = connect(fd, info->ai_addr, info->ai_addrlen) == 0 &&
			getsockname(fd, (struct sockaddr *)&local, &len) == 0 &&
			getnameinfo((struct sockaddr *)&local, len, out,
				INET6_ADDRSTRLEN, NULL, 0, NI_NUMERICHOST) == 0;
		close(fd);
	}
	freeaddrinfo(info);
	return found;
}

static enum kustos_err hand_out(const char *text, size_t len, char **out,
	size_t *out_len)
{
	char *copy = malloc(len + 1);

	if (copy == NULL)
		return KUSTOS_ENOMEM;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*out = copy;
	*out_len = len;
	return KUSTOS_OK;
}

enum kustos_err ku_recipe_data(struct kustos_client *client, char **out,
	size_t *len)
{
	const struct ku_config *config = &client->config;
	char server[64];
	char address[INET6_ADDRSTRLEN] = "127.0.0.1";

	if (config->node_data_len > 0)
		return hand_out(config->node_data, config->node_data_len, out,
			len);
	ku_lock(client);
	memcpy(server, client->session.server, sizeof(server));
	/* Before the first connection any server will do. */
	if (server[0] == '\0' && client->addresses != NULL)
		snprintf(server, sizeof(server), "%.*s",
			(int)strcspn(client->addresses, ","),
			client->addresses);
	ku_unlock(client);
	if (!client->env.threads || !local_address(server, address))
		strcpy(address, "127.0.0.1");
	return hand_out(address, strlen(address), out, len);
}

/* The most bytes that one byte may take as JSON. */
#define JSON_MAX 6

/* Append "text" as a JSON string, with quotes.  Nobody makes sure that it is
   UTF-8, and one byte that is not would spoil the record: such a byte becomes
   U+FFFD. */
static char *put_json(char *end, const char *text)
{
	size_t len = strlen(text);

	*end++ = '"';
	while (len > 0) {
		unsigned char c = (unsigned char)*text;
		size_t n = ku_utf8(text, len);

		if (c == '"' || c == '\\')
			*end++ = '\\';
		if (n == 0)
			end = stpcpy(end, "\\ufffd");
		else if (c < 0x20 || c == 0x7f)
			end += sprintf(end, "\\u%04x", c);
		else
			end = mempcpy(end, text, n);
		n += n == 0;
		text += n;
		len -= n;
	}
	*end++ = '"';
	*end = '\0';
	return end;
}

enum kustos_err ku_recipe_record(const char *reason, char **out, size_t *len)
{
	const char *program = program_invocation_short_name;
	char host[256] = "";
	char since[32] = "";
	struct tm utc;
	time_t now = time(NULL); /* for people to read; nothing depends on it */

	(void)gethostname(host, sizeof(host) - 1);
	if (gmtime_r(&now, &utc) != NULL)
		(void)strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ",
			&utc);
	size_t text = strlen(host) + strlen(program) + strlen(since) +
		(reason != NULL ? strlen(reason) : 0);
	char *record = malloc(JSON_MAX * text + 128);
	if (record == NULL)
		return KUSTOS_ENOMEM;
	char *end = stpcpy(record, "{\"host\":");
	end = put_json(end, host);
	end += sprintf(end, ",\"pid\":%ld,\"program\":", (long)getpid());
	end = put_json(end, program);
	end = put_json(stpcpy(end, ",\"since\":"), since);
	if (reason != NULL)
		end = put_json(stpcpy(end, ",\"reason\":"), reason);
	end = stpcpy(end, "}");
	*out = record;
	*len = (size_t)(end - record);
	return KUSTOS_OK;
}
