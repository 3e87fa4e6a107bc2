/*
 * sanitized.h - repeat less often under a sanitizer.
 *
 * Some tests repeat something many thousand times, which takes long under a
 * sanitizer.  Fewer repetitions find as much there: such tests have one thread,
 * and use memory in the same few ways each time.
 */
#ifndef SANITIZED_H
#define SANITIZED_H

#if defined(__SANITIZE_THREAD__)
#define TIMES_LESS 30
#elif defined(__SANITIZE_ADDRESS__)
#define TIMES_LESS 10
#else
#define TIMES_LESS 1
#endif

#endif
