/*
 * show.h - print who stands in a line, for people and for scripts.
 */
#ifndef KU_SHOW_H
#define KU_SHOW_H

#include <kustos/participant.h>

#include <stdio.h>

/* Print one as a line of text, or as a JSON object without a newline. */
void show_participant(FILE *out, const struct kustos_participant *p);
void show_participant_json(FILE *out, const struct kustos_participant *p);

/* Print what its node says of who it is; and for how long something has been so,
   by the time of a server. */
void show_who(FILE *out, const struct kustos_participant *p);
void show_age(FILE *out, int64_t since_ms);

/* Print the line above those that show_participant() prints. */
void show_heading(FILE *out);

/* Print all of them; "path" is that of the line. */
void show_list(FILE *out, const char *path,
	const struct kustos_participants *list);
void show_list_json(FILE *out, const char *path,
	const struct kustos_participants *list);

/* Print a text that anybody may have written: what is not printable is spelled
   out; or as a JSON string. */
void show_text(FILE *out, const char *text);
void show_json(FILE *out, const char *text);

/* Return the last part of a path. */
const char *show_name(const char *path);

#endif
