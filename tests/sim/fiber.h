/*
 * fiber.h - run a function of the program that can pause in the middle, while
 * other actors go on.
 *
 * Only one of them runs at a time: the one that starts or resumes a fiber waits
 * until the fiber yields or ends.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>

struct fiber;

typedef void fiber_fn(void *arg);

/* Start a fiber that runs "fn". */
struct fiber *fiber_start(fiber_fn *fn, void *arg);

/* Let the fiber go on. */
void fiber_resume(struct fiber *fiber);

/* From within a fiber: let the one that resumed it go on. */
void fiber_yield(void);

/* Has the fiber's function returned?  Then the fiber may be freed. */
bool fiber_over(const struct fiber *fiber);
void fiber_free(struct fiber *fiber);

#endif
