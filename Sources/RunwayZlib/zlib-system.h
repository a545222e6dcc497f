#include <zlib.h>

// The macro of the same purpose takes the size of a struct, which Swift does not import.
static inline int runway_inflate_init(z_stream *stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}
