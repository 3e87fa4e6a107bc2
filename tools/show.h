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

/* Print the line above those that show_participant() prints. */
void show_heading(FILE *out);

/* Print all of them; "path" is that of the line. */
void show_list(FILE *out, const char *path,
	const struct kustos_participants *list);
void show_list_json(FILE *out, const char *path,
	const struct kustos_participants *list);

/* Return the last part of a path. */
const char *show_name(const char *path);

#endif
