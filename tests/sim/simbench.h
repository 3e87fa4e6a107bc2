/* simbench.h - how many requests a second the model serves. */
#ifndef SIM_SIMBENCH_H
#define SIM_SIMBENCH_H

/* Print that number.  Return a program's exit code: a failure if it is too
   low. */
int simbench(void);

#endif
