/*
 * layout_shows.h - make each recipe create every node that it can create, at
 * LAYOUT_PATH and beside it, with the "client" of mutex_pair.h.
 */
#ifndef TEST_LAYOUT_SHOWS_H
#define TEST_LAYOUT_SHOWS_H

#define LAYOUT_ROOT "/l" /* nothing else is below it */
#define LAYOUT_PATH LAYOUT_ROOT "/path"

#define LAYOUT_RECIPES 18

/* Return the heading in doc/layout.md that has the recipe's table. */
const char *layout_heading(int recipe);

/* Make the recipe create all its nodes; and end everything again. */
void layout_show(int recipe);
void layout_end(int recipe);

#endif
