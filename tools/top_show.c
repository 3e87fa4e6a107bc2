/*
 * top_show.c - print what kustos top has seen.
 */
#include "show.h"
#include "top.h"

#include <stdlib.h>
#include <time.h>

#define TITLE_LINES 3

static void print_rate(FILE *out, double rate)
{
	if (rate < 0)
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %8.1f", rate);
}

static void print_row(FILE *out, const struct top_row *row)
{
	fprintf(out, "%-9s %6zu %6zu", layout_name(row->layout), row->holds,
		row->waits);
	print_rate(out, row->in);
	print_rate(out, row->out);
	fputs("  ", out);
	show_text(out, row->path);
	if (*row->is != '\0')
		fprintf(out, "  (%s)", row->is);
	if (row->who != NULL)
		fprintf(out, "  %s", row->who);
	putc('\n', out);
}

/* Print no more of each line than fits.  Counted are characters of UTF-8, not
   the columns that they take. */
static void print_clipped(FILE *out, const char *text, int columns)
{
	for (int width = 0; *text != '\0'; text++) {
		width += ((unsigned char)*text & 0xc0) != 0x80;
		if (*text == '\n')
			width = 0;
		if (columns == 0 || width <= columns)
			putc(*text, out);
	}
}

static void print_title(FILE *out, const char *root,
	const struct top_frame *frame)
{
	time_t now = time(NULL);
	char when[32] = "?";
	struct tm tm;

	if (localtime_r(&now, &tm) != NULL)
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(out, "%s  ", when);
	show_text(out, root);
	fprintf(out, ": %zu", frame->count);
	if (frame->cut)
		fputs(", and there is more", out);
	if (frame->hidden > 0)
		fprintf(out, ", %zu may not be read", frame->hidden);
	fputs("\n", out);
}

static void print_frame(FILE *out, const char *root,
	const struct top_frame *frame, int lines)
{
	size_t count = frame->count;

	print_title(out, root, frame);
	fprintf(out, "%-9s %6s %6s %8s %8s  %s\n", "KIND", "HOLD", "WAIT",
		"IN/S", "OUT/S", "PATH AND WHO");
	if (lines > TITLE_LINES + 1 && count > (size_t)(lines - TITLE_LINES))
		count = (size_t)(lines - TITLE_LINES - 1);
	for (size_t i = 0; i < count; i++)
		print_row(out, &frame->rows[i]);
	if (count < frame->count)
		fprintf(out, "and %zu more\n", frame->count - count);
}

void top_print(FILE *out, const char *root, const struct top_frame *frame,
	int lines, int columns)
{
	char *text = NULL;
	size_t size;
	FILE *whole = open_memstream(&text, &size);

	if (whole == NULL)
		return;
	print_frame(whole, root, frame, lines);
	if (fclose(whole) == 0)
		print_clipped(out, text, columns);
	free(text);
}

static void json_rate(FILE *out, const char *name, double rate)
{
	if (rate < 0)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%.3f", name, rate);
}

void top_print_json(FILE *out, const char *root, const struct top_frame *frame)
{
	fputs("{\"path\":", out);
	show_json(out, root);
	fprintf(out, ",\"cut\":%s,\"hidden\":%zu,\"found\":[",
		frame->cut ? "true" : "false", frame->hidden);
	for (size_t i = 0; i < frame->count; i++) {
		const struct top_row *row = &frame->rows[i];

		fputs(i > 0 ? ",{\"path\":" : "{\"path\":", out);
		show_json(out, row->path);
		fprintf(out, ",\"kind\":\"%s\",\"holds\":%zu,\"waits\":%zu",
			layout_name(row->layout), row->holds, row->waits);
		json_rate(out, "in", row->in);
		json_rate(out, "out", row->out);
		fputs(",\"is\":", out);
		show_json(out, row->is);
		fputs(",\"who\":", out);
		if (row->who != NULL)
			show_json(out, row->who);
		else
			fputs("null", out);
		putc('}', out);
	}
	fputs("]}\n", out);
}
