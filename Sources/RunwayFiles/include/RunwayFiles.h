#ifndef RUNWAY_FILES_H
#define RUNWAY_FILES_H

#include <stdbool.h>
#include <stddef.h>

// Fills two buffers with the first bytes of a file, if the system has all of them in memory: nothing waits until they are read from a drive.
// Returns false if it has not, if the file is shorter or can't be opened, and always on systems other than Linux, which can't say.
bool runway_read_from_memory(
    const char *_Nonnull path, void *_Nullable first, size_t first_count, void *_Nullable second, size_t second_count);

// Writes all files of the file system of an open file to its drive, as `syncfs` does, and returns 0; -1, with `errno`, if that fails, and
// always on systems other than Linux.
int runway_flush_file_system(int file);

#endif
