/* shun.c - servers that a session does not go back to. */

#include "shun.h"
#include "clock.h"

#include <string.h>

/* Is "address", which has "len" characters and no brackets, that of "server",
   which may have brackets? */
static bool is_address_of(const char *server, const char *address, size_t len)
{
	for (; *server != '\0'; server++) {
		if (*server == '[' || *server == ']')
			continue;
		if (len == 0 || *server != *address)
			return false;
		address++;
		len--;
	}
	return len == 0;
}

/* The addresses that are kept have no brackets. */
static int find(const struct ku_shun *shun, const char *server)
{
	int i = 0;

	while (i < shun->count &&
		!is_address_of(server, shun->list[i].address,
			strlen(shun->list[i].address)))
		i++;
	return i;
}

static void drop_at(struct ku_shun *shun, int i)
{
	if (i == shun->count)
		return;
	shun->count--;
	memmove(&shun->list[i], &shun->list[i + 1],
		(size_t)(shun->count - i) * sizeof(shun->list[0]));
}

void ku_shun_drop(struct ku_shun *shun, const char *server)
{
	drop_at(shun, find(shun, server));
}

void ku_shun_add(struct ku_shun *shun, const char *server, int64_t now)
{
	if (server[0] == '\0' || strlen(server) >= KU_SHUN_TEXT)
		return;
	ku_shun_drop(shun, server);
	if (shun->count == KU_SHUN_MAX)
		drop_at(shun, 0);
	char *to = shun->list[shun->count].address;
	for (; *server != '\0'; server++)
		if (*server != '[' && *server != ']')
			*to++ = *server;
	*to = '\0';
	shun->list[shun->count++].until_ns = now + KU_SHUN_MS * KU_NS_PER_MS;
}

bool ku_shun_has(const struct ku_shun *shun, const char *server, int64_t now)
{
	int i = find(shun, server);

	return i < shun->count && now < shun->list[i].until_ns;
}

static bool is_out(const struct ku_shun *shun, int64_t now, const char *address,
	size_t len)
{
	for (int i = 0; i < shun->count; i++)
		if (now < shun->list[i].until_ns &&
			is_address_of(shun->list[i].address, address, len))
			return true;
	return false;
}

int64_t ku_shun_until(const struct ku_shun *shun, int64_t now)
{
	int64_t until = 0;

	for (int i = 0; i < shun->count; i++)
		if (now < shun->list[i].until_ns &&
			until < shun->list[i].until_ns)
			until = shun->list[i].until_ns;
	return until;
}

size_t ku_shun_room(const char *addresses)
{
	return strlen(addresses) + 1 + KU_SHUN_TEXT;
}

/* Take the next server of a list, and move "*from" past it.  Returns false at
   the end. */
static bool take_one(const char **from, const char **one, size_t *len)
{
	*one = *from;
	*len = strcspn(*from, ",");
	*from += *len + ((*from)[*len] == ',');
	return *len > 0;
}

static char *append(char *to, bool more, const char *one, size_t len)
{
	if (more)
		*to++ = ',';
	memmove(to, one, len);
	return to + len;
}

/* Return the length of what comes before the port. */
static size_t ip_len(const char *one, size_t len)
{
	while (len > 0 && one[len - 1] != ':')
		len--;
	return len;
}

/* Is "one" among the servers of "list" that come before "end"?  Sets "*shares"
   if one of those is another port of the same IP address. */
static bool is_in(const char *list, const char *end, const char *one,
	size_t len, bool *shares)
{
	const char *other;
	size_t n, ip = ip_len(one, len);

	while (list < end && take_one(&list, &other, &n)) {
		if (n == len && memcmp(other, one, len) == 0)
			return true;
		if (ip_len(other, n) == ip && memcmp(other, one, ip) == 0)
			*shares = true;
	}
	return false;
}

void ku_shun_begin(char *list, const char *addresses)
{
	const char *from = addresses, *one;
	char *to = list;
	size_t len;
	bool shares = false;

	for (const char *at = from; take_one(&from, &one, &len); at = from)
		if (!is_in(addresses, at, one, len, &shares))
			to = append(to, to > list, one, len);
	if (shares)
		to = list;
	*to = '\0';
}

bool ku_shun_narrow(const struct ku_shun *shun, int64_t now,
	const char *present, char *list)
{
	const char *from = list, *one;
	size_t len, was = strlen(list);
	char *to = list;
	bool there = false;

	while (!there && take_one(&from, &one, &len))
		there = is_address_of(present, one, len);
	if (!there)
		return false;
	from = list;
	while (take_one(&from, &one, &len))
		if (is_address_of(present, one, len) ||
			!is_out(shun, now, one, len))
			to = append(to, to > list, one, len);
	*to = '\0';
	return strlen(list) < was;
}

void ku_shun_join(const char *list, const char *present, char *out)
{
	const char *from = list, *one, *other = NULL;
	size_t len, other_len = 0;
	int count = 0;

	for (; take_one(&from, &one, &len); count++) {
		if (is_address_of(present, one, len))
			continue;
		other = one;
		other_len = len;
	}
	char *end = stpcpy(out, list);
	if (count % 2 == 0 && other != NULL)
		*append(end, true, other, other_len) = '\0';
}
