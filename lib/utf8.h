/*
 * utf8.h - what is a character of UTF-8.
 */
#ifndef KU_UTF8_H
#define KU_UTF8_H

#include <stddef.h>

/* Return the code point of a character of "n" bytes. */
static inline unsigned ku_utf8_code(const char *text, size_t n)
{
	unsigned char c = (unsigned char)*text;
	unsigned code = n == 1 ? c : c & (0x7fU >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* Return the length of the character at "text", of which "len" bytes may be
   read; 0 if it is not one. */
static inline size_t ku_utf8(const char *text, size_t len)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = len > 0 ? (unsigned char)*text : 0xff;
	size_t n = c < 0x80 ? 1
		: c < 0xc0  ? 0
		: c < 0xe0  ? 2
		: c < 0xf0  ? 3
			    : 4;

	if (n == 0 || n > len || c >= 0xf8)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
	unsigned code = ku_utf8_code(text, n);
	if (n > 1 &&
		(code < least[n] || code > 0x10ffff ||
			(code >= 0xd800 && code < 0xe000)))
		return 0;
	return n;
}

#endif
