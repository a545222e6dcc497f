#define _GNU_SOURCE
#include "RunwayFiles.h"

#include <errno.h>
#include <unistd.h>

int runway_flush_file_system(int file) {
#ifdef __linux__
    return syncfs(file);
#else
    (void)file;
    errno = ENOTSUP;
    return -1;
#endif
}
