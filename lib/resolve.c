/*
 * resolve.c - from host names to numeric addresses.
 */
#define _GNU_SOURCE
#include "resolve.h"
#include "hosts.h"
#include "random.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ku_address_format(const struct sockaddr *address, socklen_t len,
	char text[KU_ADDRESS_SIZE])
{
	char host[NI_MAXHOST], port[NI_MAXSERV];

	text[0] = '\0';
	if ((address->sa_family == AF_INET || address->sa_family == AF_INET6) &&
		!getnameinfo(address, len, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, KU_ADDRESS_SIZE,
			strchr(host, ':') ? "[%.54s]:%.5s" : "%.54s:%.5s", host,
			port);
}

/* The library takes what follows the last colon for the port, and all that
   comes before it for the address: "[::1]" would be looked up as a name. */
void ku_address_bare(const struct ku_address *address,
	char text[KU_ADDRESS_SIZE])
{
	for (const char *c = address->text; *c != '\0'; c++)
		if (*c != '[' && *c != ']')
			*text++ = *c;
	*text = '\0';
}

static enum kustos_err append(struct ku_addresses *to,
	const struct addrinfo *info)
{
	struct ku_address *grown, *new;

	grown = realloc(to->list, (size_t)(to->count + 1) * sizeof(*to->list));
	if (!grown)
		return KUSTOS_ENOMEM;
	to->list = grown;
	new = &to->list[to->count];
	memset(new, 0, sizeof(*new));
	memcpy(&new->storage, info->ai_addr, info->ai_addrlen);
	new->len = info->ai_addrlen;
	ku_address_format(info->ai_addr, info->ai_addrlen, new->text);
	if (new->text[0] && ku_addresses_find(to, new->text) < 0)
		to->count++;
	return KUSTOS_OK;
}

/* Returns KUSTOS_EDISCONNECTED if "host" has no address now. */
static enum kustos_err lookup(const struct ku_host *host, int flags,
	struct ku_addresses *to, const char **why)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags | AI_NUMERICSERV };
	struct addrinfo *found = NULL, *info;
	enum kustos_err err = KUSTOS_OK;
	int rc = getaddrinfo(host->name, host->port, &hints, &found);

	if (rc == EAI_MEMORY)
		return KUSTOS_ENOMEM;
	if (rc) {
		*why = gai_strerror(rc);
		return KUSTOS_EDISCONNECTED;
	}
	for (info = found; info && err == KUSTOS_OK; info = info->ai_next)
		err = append(to, info);
	freeaddrinfo(found);
	return err;
}

bool ku_resolve_numeric(const struct ku_hosts *hosts, struct ku_addresses *out)
{
	const char *why;
	int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < hosts->count; i++)
		if (lookup(&hosts->list[i], AI_NUMERICHOST, out, &why) !=
			KUSTOS_OK) {
			ku_addresses_free(out);
			return false;
		}
	return true;
}

enum kustos_err ku_resolve(const struct ku_hosts *hosts,
	struct ku_addresses *out, const char **why)
{
	enum kustos_err err;
	int i;

	*why = "";
	memset(out, 0, sizeof(*out));
	for (i = 0; i < hosts->count; i++) {
		err = lookup(&hosts->list[i], 0, out, why);
		if (err == KUSTOS_ENOMEM) {
			ku_addresses_free(out);
			return err;
		}
	}
	if (out->count > 0)
		return KUSTOS_OK;
	ku_addresses_free(out);
	return KUSTOS_EDISCONNECTED;
}

void ku_addresses_free(struct ku_addresses *addresses)
{
	free(addresses->list);
	memset(addresses, 0, sizeof(*addresses));
}

int ku_addresses_find(const struct ku_addresses *addresses, const char *text)
{
	int i;

	for (i = 0; i < addresses->count; i++)
		if (!strcmp(addresses->list[i].text, text))
			return i;
	return -1;
}

bool ku_addresses_equal(const struct ku_addresses *a,
	const struct ku_addresses *b)
{
	int i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (ku_addresses_find(b, a->list[i].text) < 0)
			return false;
	return true;
}

static bool same_ip(const struct ku_address *a, const struct ku_address *b)
{
	const struct sockaddr_in *a4 = (const void *)&a->storage;
	const struct sockaddr_in *b4 = (const void *)&b->storage;
	const struct sockaddr_in6 *a6 = (const void *)&a->storage;
	const struct sockaddr_in6 *b6 = (const void *)&b->storage;

	if (a->storage.ss_family != b->storage.ss_family)
		return false;
	if (a->storage.ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

bool ku_addresses_distinct(const struct ku_addresses *addresses)
{
	int i, j;

	for (i = 0; i < addresses->count; i++)
		for (j = 0; j < i; j++)
			if (same_ip(&addresses->list[i], &addresses->list[j]))
				return false;
	return true;
}

char *ku_addresses_join(const struct ku_addresses *addresses,
	struct ku_random *random)
{
	int n = addresses->count, i, other, swap;
	int *order = malloc(((size_t)n + 1) * sizeof(*order));
	char *text = malloc(((size_t)n + 1) * (KU_ADDRESS_SIZE + 1)), *end;
	char bare[KU_ADDRESS_SIZE];

	if (!order || !text) {
		free(order);
		free(text);
		return NULL;
	}
	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--) {
		other = (int)ku_random_below(random, (uint64_t)i + 1);
		swap = order[i];
		order[i] = order[other];
		order[other] = swap;
	}
	if (n > 0 && n % 2 == 0)
		order[n++] = order[0];
	*text = '\0';
	for (end = text, i = 0; i < n; i++) {
		ku_address_bare(&addresses->list[order[i]], bare);
		end += sprintf(end, "%s%s", i ? "," : "", bare);
	}
	free(order);
	return text;
}
