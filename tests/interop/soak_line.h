/*
 * soak_line.h - while one of ours says that it holds something, its node is in
 * the line, and not too many stand before it.
 *
 * The line is looked at in a server that has just done a write, so what is seen
 * is not older than that.  If one of ours had its place before that look, and
 * says after it that it still has it, then it had it at that moment.
 *
 * Processes of other kinds are not judged: they do not know that they have lost
 * a place.
 */
#ifndef TEST_SOAK_LINE_H
#define TEST_SOAK_LINE_H

#include "soak.h"

/* Make the node "path", and what the looks need. */
void line_prepare(const char *server, const char *path);

/* Look at the line and store it in "c".  Returns whether it could be seen. */
bool line_look(struct contender *c, const char *path);

/* May both have their places at once, whatever the room? */
typedef bool line_beside_fn(const char *name, const char *other);

/* Fail unless "name" was in the line that "c" has, and less than "room" names
   stood before it.  "beside" tells who does not count; NULL: all count. */
void line_judge(const struct contender *c, const char *name, int room,
	line_beside_fn *beside);

/* Fail unless the first node has this czxid. */
void line_judge_first(const struct contender *c, int64_t czxid);

/* End the looks. */
void line_end(void);

#endif
