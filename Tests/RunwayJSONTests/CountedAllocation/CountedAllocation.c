// Stands before glibc's allocator in the test program and counts, for each thread, what is asked of it. The Swift runtime
// and Foundation find these functions first, since the program's own symbols come before those of shared libraries.

#include "CountedAllocation.h"

// Says whether the C library is glibc, which no header of the compiler's own does.
#if defined(__linux__)
#include <features.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTED_ALLOCATION_SANITIZED 1
#endif
#endif

#if defined(COUNTED_ALLOCATION_SANITIZED)
int counted_allocation_is_sanitized(void) { return 1; }
#else
int counted_allocation_is_sanitized(void) { return 0; }
#endif

#if defined(__GLIBC__) && !defined(COUNTED_ALLOCATION_SANITIZED)

#include <errno.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread size_t count __attribute__((tls_model("initial-exec")));

void *malloc(size_t size) {
    count += 1;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count += 1;
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count += 1;
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count += 1;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *result = memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *memory = result;
    return 0;
}

int counted_allocation_is_on(void) { return 1; }
size_t counted_allocation_count(void) { return count; }

#else

int counted_allocation_is_on(void) { return 0; }
size_t counted_allocation_count(void) { return 0; }

#endif
