/* simbench.h - how many requests a second the model serves. */
#ifndef SIM_SIMBENCH_H
#define SIM_SIMBENCH_H

/* Print them; return a program's exit code: a failure if they are too few. */
int simbench(void);

#endif
