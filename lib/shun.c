/* shun.c - servers that a session does not go back to. */

#include "shun.h"
#include "clock.h"

#include <string.h>

/* Is the address of "len" characters, which has no brackets, that of "server",
   which may have them? */
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

/* What is kept has no brackets. */
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

/* It may end with its first once more. */
size_t ku_shun_room(const char *addresses)
{
	return strlen(addresses) + 1 + KU_SHUN_TEXT;
}

/* libzookeeper_mt visits only every other server of an even list (L3). */
static void make_odd(char *list, int count)
{
	size_t first = strcspn(list, ",");
	size_t len = strlen(list);

	if (count % 2 != 0)
		return;
	list[len] = ',';
	memmove(list + len + 1, list, first);
	list[len + 1 + first] = '\0';
}

static bool is_there(const char *present, const char *addresses)
{
	bool there = false;

	while (*addresses != '\0' && !there) {
		size_t len = strcspn(addresses, ",");

		there = is_address_of(present, addresses, len);
		addresses += len + (addresses[len] == ',');
	}
	return there;
}

bool ku_shun_narrow(const struct ku_shun *shun, int64_t now,
	const char *present, char *addresses)
{
	const char *from = addresses;
	char *to = addresses;
	int all = 0, left = 0;

	if (!is_there(present, addresses))
		return false;
	for (; *from != '\0'; all++) {
		size_t len = strcspn(from, ",");

		if (is_address_of(present, from, len) ||
			!is_out(shun, now, from, len)) {
			if (left++ > 0)
				*to++ = ',';
			memmove(to, from, len);
			to += len;
		}
		from += len + (from[len] == ',');
	}
	*to = '\0';
	if (left < all)
		make_odd(addresses, left);
	return left < all;
}
