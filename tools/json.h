/*
 * json.h - write JSON, and read holder records.
 */
#ifndef KU_JSON_H
#define KU_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Write "text" as a JSON string.  Bytes that are not UTF-8 become U+FFFD, and
   control characters are escaped, as somebody may look at it on a terminal. */
void json_string(FILE *out, const char *text, size_t len);

/* Return whether "text" is one JSON object and nothing else. */
bool json_is_object(const char *text, size_t len);

/* Put the field "name" of the object's top level into "out" as text: a string
   decoded, anything else as it stands.  "out" may be too short; then the rest
   is left off.  Returns false, with "out" empty, if there is no such field. */
bool json_field(const char *text, size_t len, const char *name, char *out,
	size_t size);

/* Write "text", which is one object, in one line and without control
   characters. */
void json_object(FILE *out, const char *text, size_t len);

#endif
