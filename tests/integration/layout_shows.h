/*
 * layout_shows.h - each recipe made to show all that it makes on a server, at
 * LAYOUT_PATH and beside it, with the "client" of mutex_pair.h.
 */
#ifndef TEST_LAYOUT_SHOWS_H
#define TEST_LAYOUT_SHOWS_H

#define LAYOUT_ROOT "/l" /* nothing else is below it */
#define LAYOUT_PATH LAYOUT_ROOT "/path"

#define LAYOUT_RECIPES 18

/* Return below which heading of doc/layout.md its table stands. */
const char *layout_heading(int recipe);

/* Have it make all that it makes; and end all of it. */
void layout_show(int recipe);
void layout_end(int recipe);

#endif
