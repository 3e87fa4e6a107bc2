/*
 * json.c - write JSON, and read holder records.
 *
 * Anybody may have written what is read: nothing in it is trusted, and what is
 * nested deeper than any record of ours is refused.
 */
#include "json.h"
#include "utf8.h"

#include <string.h>

#define MAX_DEPTH 32

/* Write one character, of "n" bytes; a control character as \uXXXX. */
static void put_char(FILE *out, const char *text, size_t n)
{
	unsigned code = ku_utf8_code(text, n);

	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		fprintf(out, "\\u%04x", code);
	else
		fwrite(text, 1, n, out);
}

void json_string(FILE *out, const char *text, size_t len)
{
	putc('"', out);
	while (len > 0) {
		size_t n = ku_utf8(text, len);

		if (*text == '"' || *text == '\\')
			putc('\\', out);
		if (n > 0)
			put_char(out, text, n);
		else
			fputs("\\ufffd", out);
		n += n == 0;
		text += n;
		len -= n;
	}
	putc('"', out);
}

/* A reader's place in the text.  The functions that read return false at what
   is not JSON, and then the place means nothing. */
struct reader {
	const char *at, *end;
};

static bool value(struct reader *r, int depth);

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void blanks(struct reader *r)
{
	while (r->at < r->end && is_blank(*r->at))
		r->at++;
}

/* Pass over "c", perhaps after blanks.  Returns whether it was there. */
static bool mark(struct reader *r, char c)
{
	blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool word(struct reader *r, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, w, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool hex4(struct reader *r, unsigned *out)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	*out = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		const char *d = r->at < r->end && *r->at != '\0'
			? strchr(digits, *r->at)
			: NULL;

		if (d == NULL)
			return false;
		*out = *out << 4 | (unsigned)(d - digits) % 16;
	}
	return true;
}

/* The buffer that text is decoded into; what does not fit is left off.  A sink
   that is NULL takes nothing. */
struct sink {
	char *out;
	size_t size, len;
};

static void sink_put(struct sink *s, const char *text, size_t len)
{
	if (s == NULL || s->len + len >= s->size) {
		if (s != NULL)
			s->size = 0; /* no text after a gap */
		return;
	}
	memcpy(s->out + s->len, text, len);
	s->len += len;
	s->out[s->len] = '\0';
}

static void sink_code(struct sink *s, unsigned code)
{
	char b[4];
	size_t n = 0;

	if (code < 0x80) {
		b[n++] = (char)code;
	} else if (code < 0x800) {
		b[n++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		b[n++] = (char)(0xe0 | code >> 12);
		b[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		b[n++] = (char)(0xf0 | code >> 18);
		b[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		b[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (code >= 0x80)
		b[n++] = (char)(0x80 | (code & 0x3f));
	sink_put(s, b, n);
}

static bool escape(struct reader *r, struct sink *s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *e = r->at < r->end && *r->at != '\0' ? strchr(from, *r->at)
							 : NULL;
	unsigned code, low;

	if (e != NULL) {
		r->at++;
		sink_put(s, to + (e - from), 1);
		return true;
	}
	if (r->at == r->end || *r->at++ != 'u' || !hex4(r, &code))
		return false;
	struct reader next = *r;
	if (code >= 0xd800 && code < 0xdc00 && word(&next, "\\u") &&
		hex4(&next, &low) && low >= 0xdc00 && low < 0xe000) {
		*r = next;
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
	}
	sink_code(s, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
	return true;
}

static bool string(struct reader *r, struct sink *s)
{
	if (!mark(r, '"'))
		return false;
	while (r->at < r->end && *r->at != '"') {
		size_t n = ku_utf8(r->at, (size_t)(r->end - r->at));

		if (n == 0 || (unsigned char)*r->at < 0x20)
			return false;
		if (*r->at == '\\') {
			r->at++;
			if (!escape(r, s))
				return false;
			continue;
		}
		sink_put(s, r->at, n);
		r->at += n;
	}
	return mark(r, '"');
}

static bool digits(struct reader *r)
{
	const char *start = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > start;
}

static bool number(struct reader *r)
{
	if (r->at < r->end && *r->at == '-')
		r->at++;
	if (r->at < r->end && *r->at == '0')
		r->at++;
	else if (!digits(r))
		return false;
	if (r->at < r->end && *r->at == '.') {
		r->at++;
		if (!digits(r))
			return false;
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		return digits(r);
	}
	return true;
}

/* Read the rest of an array or object, up to its "close". */
static bool members(struct reader *r, char close, int depth)
{
	if (depth >= MAX_DEPTH)
		return false;
	if (mark(r, close))
		return true;
	do {
		if (close == '}' && (!string(r, NULL) || !mark(r, ':')))
			return false;
		if (!value(r, depth + 1))
			return false;
	} while (mark(r, ','));
	return mark(r, close);
}

static bool value(struct reader *r, int depth)
{
	blanks(r);
	switch (r->at < r->end ? *r->at : '\0') {
	case '{':
		r->at++;
		return members(r, '}', depth);
	case '[':
		r->at++;
		return members(r, ']', depth);
	case '"':
		return string(r, NULL);
	case 't':
		return word(r, "true");
	case 'f':
		return word(r, "false");
	case 'n':
		return word(r, "null");
	default:
		return number(r);
	}
}

bool json_is_object(const char *text, size_t len)
{
	struct reader r = { text, text + len };

	blanks(&r);
	if (r.at == r.end || *r.at != '{' || !value(&r, 0))
		return false;
	blanks(&r);
	return r.at == r.end;
}

/* Ends of lines and tabs become spaces: they stand between the parts of the
   object, as no string of JSON can contain them. */
void json_object(FILE *out, const char *text, size_t len)
{
	while (len > 0) {
		size_t n = ku_utf8(text, len);

		if (is_blank(*text))
			putc(' ', out);
		else
			put_char(out, text, n);
		text += n;
		len -= n;
	}
}

/* Write the value that "r" stands before into "s", as text. */
static void take(struct reader *r, struct sink *s)
{
	const char *start;

	blanks(r);
	start = r->at;
	if (r->at < r->end && *r->at == '"')
		string(r, s);
	else if (value(r, 1))
		sink_put(s, start, (size_t)(r->at - start));
}

bool json_field(const char *text, size_t len, const char *name, char *out,
	size_t size)
{
	struct reader r = { text, text + len };
	struct sink to = { out, size, 0 };
	char key[64];

	*out = '\0';
	if (!json_is_object(text, len) || !mark(&r, '{'))
		return false;
	do {
		struct sink k = { key, sizeof(key), 0 };

		*key = '\0';
		if (!string(&r, &k) || !mark(&r, ':'))
			return false;
		if (strcmp(key, name) == 0) {
			take(&r, &to);
			return true;
		}
		value(&r, 1);
	} while (mark(&r, ','));
	return false;
}
