/* trace.c - record a run: a hash of all that happened, and the last lines of
   it. */
#include "sim_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mix(struct sim *sim, uint64_t value)
{
	sim->hash = (sim->hash ^ value) * UINT64_C(0x9fb21c651e98df25);
	sim->hash ^= sim->hash >> 29;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (text != NULL && *text != '\0')
		hash = (hash ^ (unsigned char)*text++) *
			UINT64_C(0x100000001b3);
	return hash;
}

void sim_text_add(struct sim_text *text, const char *format, ...)
{
	va_list args;
	int len;

	if (text->room - text->len < 512) {
		text->room = text->room * 2 + 1024;
		text->bytes = sim_realloc(text->bytes, text->room);
	}
	va_start(args, format);
	len = vsnprintf(text->bytes + text->len, text->room - text->len, format,
		args);
	va_end(args);
	if (len > 511)
		len = 511;
	text->len += (size_t)len;
}

static void write_line(const struct sim_line *line, struct sim_text *text)
{
	char who[24] = "       -";

	if (line->client >= 0)
		snprintf(who, sizeof(who), "client %d", line->client);
	sim_text_add(text, "%12.6f s  #%-7llu %-9s %-16s %6lld  %s\n",
		(double)line->at_ns / 1e9 - 1000.0,
		(unsigned long long)line->step, who, line->what,
		(long long)line->value, line->path);
}

void sim_say(struct sim *sim, int client, const char *what, const char *path,
	int64_t value)
{
	struct sim_text text = { NULL, 0, 0 };
	struct sim_line *line;

	mix(sim, (uint64_t)sim->sched.now_ns);
	mix(sim,
		hash_text(path) + (uint64_t)value * 31 +
			(uint64_t)(client + 1) + (uint64_t)what[0] * 257);
	if (sim->lines == NULL)
		return;
	line = &sim->lines[sim->line_count++ % SIM_TRACE_LINES];
	line->at_ns = sim->sched.now_ns;
	line->step = sim->step;
	line->client = client;
	line->what = what;
	line->value = value;
	snprintf(line->path, sizeof(line->path), "%s", path ? path : "");
	if (sim->options.print) {
		write_line(line, &text);
		fputs(text.bytes, stdout);
		free(text.bytes);
	}
}

static const char *word(enum model_note note, const char *what)
{
	switch (note) {
	case NOTE_SEND:
		return "send";
	case NOTE_SERVE:
		return "  served";
	case NOTE_EVENT:
		return "    event";
	case NOTE_SESSION_NEW:
		return "session begins";
	case NOTE_SESSION_END:
		return "session ends";
	case NOTE_COMMIT:
		return what[0] == 'c'	 ? "  commit create"
			: what[0] == 'd' ? "  commit delete"
					 : "  commit set";
	case NOTE_DONE:
	case NOTE_CONNECT:
	case NOTE_CONNECTED:
	case NOTE_BREAK:
	case NOTE_CLOSE:
	case NOTE_FAULT:
		break;
	}
	return what;
}

void trace_note(void *arg, enum model_note note, int client, const char *what,
	const char *path, int64_t value)
{
	struct sim *sim = arg;

	sim_say(sim, client, word(note, what), path, value);
	if (sim->scenario->note != NULL)
		sim->scenario->note(sim, note, client, path, value);
}

char *trace_text(const struct sim *sim)
{
	struct sim_text text = { NULL, 0, 0 };
	uint64_t i = sim->line_count > SIM_TRACE_LINES
		? sim->line_count - SIM_TRACE_LINES
		: 0;

	sim_text_add(&text, "%s", "");
	for (; i < sim->line_count; i++)
		write_line(&sim->lines[i % SIM_TRACE_LINES], &text);
	return text.bytes;
}
