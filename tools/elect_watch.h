/*
 * elect_watch.h - kustos elect --watch.
 */
#ifndef KU_ELECT_WATCH_H
#define KU_ELECT_WATCH_H

#include "tool.h"

/* Print who leads the election at "path", now and whenever that changes, until
   the process dies of a signal.  Returns an exit code if it ends otherwise. */
int elect_watch(const struct tool *tool, const char *path);

#endif
