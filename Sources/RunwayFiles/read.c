#define _GNU_SOURCE
#include "RunwayFiles.h"

#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

bool runway_read_from_memory(
    const char *path, void *first, size_t first_count, void *second, size_t second_count) {
#ifdef RWF_NOWAIT
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    struct iovec parts[] = {{first, first_count}, {second, second_count}};
    ssize_t count = preadv2(file, parts, 2, 0, RWF_NOWAIT);
    close(file);
    return count >= 0 && (size_t)count == first_count + second_count;
#else
    (void)path, (void)first, (void)first_count, (void)second, (void)second_count;
    return false;
#endif
}
