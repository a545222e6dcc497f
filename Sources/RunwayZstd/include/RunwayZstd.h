#ifndef RUNWAY_ZSTD_H
#define RUNWAY_ZSTD_H

// Imported only where the package trait "Zstd" is on, and the library with it.
#include <zstd.h>

#endif
