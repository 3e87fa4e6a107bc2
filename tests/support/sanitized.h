/*
 * sanitized.h - under a sanitizer what is tried many thousand times is tried less.
 *
 * Each try takes long there, and does the same: what is tried so often has one
 * thread, and uses its memory in the same few ways each time.
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
