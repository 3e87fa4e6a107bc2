/*
 * name.c - paths and node names.
 */
#include "name.h"

#include "random.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

/* Read one character of UTF-8 and move "*p" behind it.  Returns -1 for what is
   not UTF-8 (a stray or missing continuation, more bytes than needed), and for
   four bytes: such characters are two surrogates to the server, which is
   written in Java, and it forbids those. */
static int32_t next_char(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	int32_t c;

	if (s[0] < 0x80) {
		*p += 1;
		return s[0];
	}
	if ((s[0] & 0xe0) == 0xc0 && (s[1] & 0xc0) == 0x80) {
		*p += 2;
		c = (s[0] & 0x1f) << 6 | (s[1] & 0x3f);
		return c >= 0x80 ? c : -1;
	}
	if ((s[0] & 0xf0) == 0xe0 && (s[1] & 0xc0) == 0x80 &&
		(s[2] & 0xc0) == 0x80) {
		*p += 3;
		c = (s[0] & 0x0f) << 12 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f);
		return c >= 0x800 ? c : -1;
	}
	return -1;
}

static bool char_allowed(int32_t c)
{
	return c >= 0x20 && !(c >= 0x7f && c <= 0x9f) &&
		!(c >= 0xd800 && c <= 0xf8ff) && c < 0xfff0;
}

/* Return the slash or zero that ends the component at "name", or NULL if a
   character of it is not allowed. */
static const char *component_end(const char *name)
{
	while (*name != '\0' && *name != '/')
		if (!char_allowed(next_char(&name)))
			return NULL;
	return name;
}

static bool is_no_name(const char *name, size_t len)
{
	return len == 0 || (len <= 2 && memcmp(name, "..", len) == 0);
}

bool ku_path_valid(const char *path, bool prefix)
{
	const char *name, *end;

	if (path == NULL || path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;
	for (name = path + 1;; name = end + 1) {
		end = component_end(name);
		if (end == NULL)
			return false;
		/* With the server's digits any last component is a name. */
		if (*end == '\0' && prefix)
			return true;
		if (is_no_name(name, (size_t)(end - name)))
			return false;
		if (*end == '\0')
			return true;
	}
}

bool ku_name_valid(const char *name)
{
	const char *end = name != NULL ? component_end(name) : NULL;

	return end != NULL && *end == '\0' &&
		!is_no_name(name, (size_t)(end - name));
}

char *ku_path_join(const char *prefix, const char *path)
{
	size_t prefix_len = strlen(prefix), len = strlen(path);
	char *joined;

	if (prefix_len != 0 && len == 1)
		len = 0; /* "/" */
	joined = malloc(prefix_len + len + 1);
	if (joined == NULL)
		return NULL;
	memcpy(joined, prefix, prefix_len);
	memcpy(joined + prefix_len, path, len);
	joined[prefix_len + len] = '\0';
	return joined;
}

const char *ku_path_behind(const char *path, size_t prefix_len)
{
	return path[prefix_len] != '\0' ? path + prefix_len : "/";
}

char *ku_path_child(const char *parent, const char *name)
{
	char *path = malloc(strlen(parent) + strlen(name) + 2);

	if (path == NULL)
		return NULL;
	char *end = stpcpy(path, parent);
	if (end[-1] != '/')
		*end++ = '/';
	strcpy(end, name);
	return path;
}

const char *ku_path_leaf(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int bytewise(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void ku_names_sort(struct kustos_names *names)
{
	qsort(names->names, names->count, sizeof(*names->names), bytewise);
}

bool ku_names_have(const struct kustos_names *names, const char *name)
{
	return bsearch(&name, names->names, names->count, sizeof(*names->names),
		       bytewise) != NULL;
}

size_t ku_path_parent_len(const char *path)
{
	const char *leaf = ku_path_leaf(path);

	return leaf > path + 1 ? (size_t)(leaf - path) - 1 : 1;
}

void ku_protection(struct ku_random *random, char out[KU_PROTECTION_SIZE])
{
	/* "4" is the version; "y" has the variant in its two upper bits. */
	static const char form[KU_PROTECTION_SIZE] =
		"_c_xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx-";
	uint64_t bits = 0;
	unsigned digit;
	int i, left = 0;

	for (i = 0; i < KU_PROTECTION_SIZE; i++) {
		out[i] = form[i];
		if (form[i] != 'x' && form[i] != 'y')
			continue;
		if (left-- == 0) {
			bits = ku_random_next(random);
			left = 15;
		}
		digit = bits & 0xf;
		bits >>= 4;
		if (form[i] == 'y')
			digit = 8 | (digit & 3);
		out[i] = "0123456789abcdef"[digit];
	}
}

void ku_protection_bare(struct ku_random *random, char out[KU_PROTECTION_SIZE])
{
	char *end = out;

	ku_protection(random, out);
	for (const char *c = out + 3; *c != '\0'; c++)
		if (*c != '-')
			*end++ = *c;
	*end = '\0';
}

/* Return whether the minus sign at "name[at]", before ten digits that are
   "value", is a sign and not the end of the prefix.  The server pads with
   zeros to ten characters, sign included, so ten digits of a negative number
   never begin with zero; and a value above INT32_MAX is no positive number.
   In between, the character before the minus sign decides: it is a sign if
   there is no such character, or if that is another minus sign. */
static bool is_sign(const char *name, size_t at, int64_t value)
{
	if (value > INT32_MAX)
		return true;
	return value >= 1000000000 && (at == 0 || name[at - 1] == '-');
}

bool ku_name_sequence(const char *name, int32_t *out)
{
	size_t prefix;

	return ku_name_split(name, &prefix, out);
}

bool ku_name_split(const char *name, size_t *prefix, int32_t *out)
{
	size_t len = strlen(name), start = len;
	int64_t value = 0, unit = 1;
	bool minus;

	while (start > 0 && len - start < 10 && name[start - 1] >= '0' &&
		name[start - 1] <= '9') {
		value += unit * (name[--start] - '0');
		unit *= 10;
	}
	minus = start > 0 && name[start - 1] == '-';
	if (len - start == 9) {
		if (!minus || value == 0)
			return false;
	} else if (len - start == 10) {
		minus = minus && is_sign(name, start - 1, value);
	} else {
		return false;
	}
	if (minus)
		value = -value;
	if (value > INT32_MAX || value < INT32_MIN)
		return false;
	*out = (int32_t)value;
	*prefix = minus ? start - 1 : start;
	return true;
}
