/*
 * rawkill.h - end somebody else's session, as if it had expired just now.
 */
#ifndef TEST_RAWKILL_H
#define TEST_RAWKILL_H

#include <stdint.h>

/* End the session "id" and wait until the server says it is gone; the victim
   learns of it when it next reaches a server.  Returns 0, or -1 if the session
   was unknown or the server could not be asked.

   No password is needed: this server makes it from the id. */
int raw_kill_session(const char *address, int64_t id);

/* Put the 16 bytes that the server gives out as the session's password. */
void raw_session_password(int64_t id, char *out);

#endif
