/*
 * show.c - print who stands in a line.
 *
 * Anybody may have written the data of nodes, so what is not printable in it is
 * escaped before it goes to a terminal.
 */
#include "show.h"
#include "json.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* The size of one field of a node's data, as it is shown: the rest would not
   fit the line. */
#define FIELD 128

const char *show_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* Not printable are control characters, and characters that are invisible or
   make others appear in another order or line: with these one node could be
   made to look like another. */
static bool is_printable(unsigned code)
{
	static const struct {
		unsigned first, last;
	} others[] = { { 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad },
		{ 0x34f, 0x34f }, { 0x61c, 0x61c }, { 0x115f, 0x1160 },
		{ 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff } };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (code >= others[i].first && code <= others[i].last)
			return false;
	return true;
}

static void print_safely(FILE *out, const char *text, size_t len)
{
	while (len > 0) {
		size_t n = ku_utf8(text, len);

		if (n > 0 && is_printable(ku_utf8_code(text, n))) {
			fwrite(text, 1, n, out);
		} else {
			n = 1;
			fprintf(out, "\\x%02x", (unsigned char)*text);
		}
		text += n;
		len -= n;
	}
}

void show_text(FILE *out, const char *text)
{
	print_safely(out, text, strlen(text));
}

void show_json(FILE *out, const char *text)
{
	json_string(out, text, strlen(text));
}

static void print_field(FILE *out, const struct kustos_participant *p,
	const char *before, const char *name)
{
	char text[FIELD];

	if (!json_field(p->data, p->len, name, text, sizeof(text)) ||
		*text == '\0' || strcmp(text, "null") == 0)
		return;
	fputs(before, out);
	show_text(out, text);
}

static bool is_hidden(const struct kustos_participant *p)
{
	return p->data == NULL &&
		(p->stat.data_length > 0 || p->stat.czxid == 0);
}

/* Print a holder record in words, and any other data as it is. */
void show_who(FILE *out, const struct kustos_participant *p)
{
	char host[FIELD];

	if (p->len == 0) {
		fputs(is_hidden(p) ? "(may not be read)" : "-", out);
		return;
	}
	if (!json_field(p->data, p->len, "host", host, sizeof(host))) {
		print_safely(out, p->data, p->len < 80 ? p->len : 80);
		return;
	}
	show_text(out, host);
	print_field(out, p, " pid ", "pid");
	print_field(out, p, " ", "program");
	print_field(out, p, ": ", "reason");
}

static void age_text(char *out, size_t size, int64_t since_ms)
{
	int64_t s = (int64_t)time(NULL) - since_ms / 1000;

	if (s < 0)
		s = 0; /* the server's clock is ahead of ours */
	if (s < 60)
		snprintf(out, size, "%" PRId64 "s", s);
	else if (s < 3600)
		snprintf(out, size, "%" PRId64 "m%02" PRId64 "s", s / 60,
			s % 60);
	else if (s < 86400)
		snprintf(out, size, "%" PRId64 "h%02" PRId64 "m", s / 3600,
			s / 60 % 60);
	else
		snprintf(out, size, "%" PRId64 "d%02" PRId64 "h", s / 86400,
			s / 3600 % 24);
}

void show_age(FILE *out, int64_t since_ms)
{
	char text[32];

	age_text(text, sizeof(text), since_ms);
	fputs(text, out);
}

#define ROW "%-6s %-19s %7s %-10s %-18s %-8s "

void show_heading(FILE *out)
{
	fprintf(out, ROW "%s\n", "STATE", "SINCE", "AGE", "TOKEN", "SESSION",
		"STYLE", "NODE AND WHO");
}

static const char *state_word(const struct kustos_participant *p)
{
	static const char *const words[] = {
		[KUSTOS_KIND_LOCK] = "holds",
		[KUSTOS_KIND_READ] = "reads",
		[KUSTOS_KIND_WRITE] = "writes",
		[KUSTOS_KIND_CANDIDATE] = "leads",
		[KUSTOS_KIND_LEASE] = "leases",
	};

	return p->holds ? words[p->kind] : "waits";
}

void show_participant(FILE *out, const struct kustos_participant *p)
{
	time_t since = (time_t)(p->stat.ctime_ms / 1000);
	char when[32] = "?", age[32] = "?", token[32] = "?", session[32] = "?";
	struct tm tm;

	if (p->stat.czxid != 0) {
		if (localtime_r(&since, &tm) != NULL)
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		age_text(age, sizeof(age), p->stat.ctime_ms);
		snprintf(token, sizeof(token), "%" PRId64, p->stat.czxid);
		snprintf(session, sizeof(session), "0x%" PRIx64,
			(uint64_t)p->stat.ephemeral_owner);
	}
	fprintf(out, ROW, state_word(p), when, age, token, session,
		kustos_style_name(p->style));
	show_text(out, show_name(p->path));
	fputs("  ", out);
	show_who(out, p);
	putc('\n', out);
}

/* Nodes that stand in no line may be anything: a queue, a latch, a folder of
   locks. */
static void show_no_line(FILE *out, size_t foreign)
{
	fprintf(out,
		": no line here, but %zu node%s below it; 'kustos top' may "
		"know of what\n",
		foreign, foreign == 1 ? "" : "s");
}

static void show_line(FILE *out, const struct kustos_participants *list)
{
	size_t holders = 0;

	for (size_t i = 0; i < list->count; i++)
		holders += list->list[i]->holds != 0;
	fprintf(out, ": %zu %s, %zu wait%s\n", holders,
		holders == 1 ? "holds" : "hold", list->count - holders,
		list->count - holders == 1 ? "s" : "");
	show_heading(out);
	for (size_t i = 0; i < list->count; i++)
		show_participant(out, list->list[i]);
	if (list->foreign > 0)
		fprintf(out, "%zu more %s a name of an unknown style\n",
			list->foreign, list->foreign == 1 ? "has" : "have");
	if (list->mixed)
		fputs("mixed dialects: some of these do not wait for others\n",
			out);
}

void show_list(FILE *out, const char *path,
	const struct kustos_participants *list)
{
	show_text(out, path);
	if (list->count > 0)
		show_line(out, list);
	else if (list->foreign > 0)
		show_no_line(out, list->foreign);
	else
		fputs(": free\n", out);
}

static void print_iso(FILE *out, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&s, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(out, "\"%s.%03dZ\"", text, (int)(ms % 1000));
}

void show_participant_json(FILE *out, const struct kustos_participant *p)
{
	fputs("{\"node\":", out);
	show_json(out, p->path);
	fprintf(out,
		",\"state\":\"%s\",\"kind\":\"%s\",\"number\":%" PRId64
		",\"style\":\"%s\",\"token\":%" PRId64
		",\"session\":\"0x%" PRIx64 "\",\"since_ms\":%" PRId64
		",\"since\":",
		p->holds ? "holds" : "waits", kustos_kind_name(p->kind),
		p->number, kustos_style_name(p->style), p->stat.czxid,
		(uint64_t)p->stat.ephemeral_owner, p->stat.ctime_ms);
	if (p->stat.czxid != 0)
		print_iso(out, p->stat.ctime_ms);
	else
		fputs("null", out);
	fputs(",\"data\":", out);
	if (p->data == NULL)
		fputs("null", out);
	else
		json_string(out, p->data, p->len);
	fputs(",\"record\":", out);
	if (p->data != NULL && json_is_object(p->data, p->len))
		json_object(out, p->data, p->len);
	else
		fputs("null", out);
	putc('}', out);
}

void show_list_json(FILE *out, const char *path,
	const struct kustos_participants *list)
{
	fputs("{\"path\":", out);
	show_json(out, path);
	fputs(",\"participants\":[", out);
	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			putc(',', out);
		show_participant_json(out, list->list[i]);
	}
	fprintf(out, "],\"foreign\":%zu,\"mixed\":%s}\n", list->foreign,
		list->mixed ? "true" : "false");
}
