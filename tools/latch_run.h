/*
 * latch_run.h - kustos latch done with a command.
 */
#ifndef KU_LATCH_RUN_H
#define KU_LATCH_RUN_H

#include "together_options.h"

/* Join the latch, run the command, and count the participant if that ended with
   0.  Returns an exit code.  For together_run(). */
int latch_run(struct together *t);

#endif
