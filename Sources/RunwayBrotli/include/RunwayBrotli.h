#ifndef RUNWAY_BROTLI_H
#define RUNWAY_BROTLI_H

// Imported only where the package trait "Brotli" is on, and the library with it.
#include <brotli/decode.h>

#endif
