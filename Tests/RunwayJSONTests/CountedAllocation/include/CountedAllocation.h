#ifndef COUNTED_ALLOCATION_H
#define COUNTED_ALLOCATION_H

#include <stddef.h>

/// Whether a sanitizer of addresses or threads is built in.
int counted_allocation_is_sanitized(void);

/// Whether allocations are counted in this build: with glibc, and without a sanitizer, which has an allocator of its own.
int counted_allocation_is_on(void);

/// How many times this thread has asked the C library for memory.
size_t counted_allocation_count(void);

#endif
