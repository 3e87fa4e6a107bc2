/*
 * show.h - print who stands in a line, for people and for scripts.
 */
#ifndef KU_SHOW_H
#define KU_SHOW_H

#include <kustos/participant.h>

#include <stdio.h>

/* Print a participant as a line of text, or as a JSON object without a
   newline. */
void show_participant(FILE *out, const struct kustos_participant *p);
void show_participant_json(FILE *out, const struct kustos_participant *p);

/* Print what a participant's node says of who it is; and how long ago
   "since_ms" was, which is a time of the server's clock. */
void show_who(FILE *out, const struct kustos_participant *p);
void show_age(FILE *out, int64_t since_ms);

/* Print the heading of the lines that show_participant() prints. */
void show_heading(FILE *out);

/* Print all participants; "path" is that of the line. */
void show_list(FILE *out, const char *path,
	const struct kustos_participants *list);
void show_list_json(FILE *out, const char *path,
	const struct kustos_participants *list);

/* Print a text that anybody may have written: with escapes for what is not
   printable; or as a JSON string. */
void show_text(FILE *out, const char *text);
void show_json(FILE *out, const char *text);

/* Return the last part of a path. */
const char *show_name(const char *path);

#endif
