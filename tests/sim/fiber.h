/*
 * fiber.h - a function of the program that takes its time, while others act.
 *
 * One runs at a time: whoever starts or resumes it waits until it yields or ends.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>

struct fiber;

typedef void fiber_fn(void *arg);

/* Begin with "fn". */
struct fiber *fiber_start(fiber_fn *fn, void *arg);

/* Let it go on. */
void fiber_resume(struct fiber *fiber);

/* In it: let those go on who have resumed it. */
void fiber_yield(void);

/* Has its function returned?  Then it may be freed. */
bool fiber_over(const struct fiber *fiber);
void fiber_free(struct fiber *fiber);

#endif
