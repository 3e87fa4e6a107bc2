/*
 * rawkill.h - end somebody else's session, as if it had expired just now.
 */
#ifndef TEST_RAWKILL_H
#define TEST_RAWKILL_H

#include <stdint.h>

/* End the session "id" and wait until the server says it is gone.  The victim
   learns of it when it next reaches a server.  Returns 0, or -1 if the session
   was unknown or the server could not be asked.

   The caller needs no password: the server derives it from the id. */
int raw_kill_session(const char *address, int64_t id);

/* Store the 16 bytes that are the session's password on the server. */
void raw_session_password(int64_t id, char *out);

#endif
