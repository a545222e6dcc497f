#ifndef RUNWAY_ZLIB_H
#define RUNWAY_ZLIB_H

#include <stddef.h>
#include <stdint.h>

// zlib's decoder and encoder behind opaque types. Swift does not see zlib's own header: what that includes would become part of the importing
// module, and hide from it where other declarations of the system come from.
typedef struct runway_inflater runway_inflater;

typedef enum {
    RUNWAY_INFLATE_GOES_ON = 0,
    RUNWAY_INFLATE_ENDED = 1,
    RUNWAY_INFLATE_FAILED = 2
} runway_inflate_status;

// Creates a decoder: `window_bits` as for inflateInit2 of zlib. NULL if there is not enough memory or the number is invalid.
runway_inflater *_Nullable runway_inflater_create(int window_bits);

void runway_inflater_destroy(runway_inflater *_Nonnull inflater);

// Starts again, with the same window. Returns 0 if it can't.
int runway_inflater_reset(runway_inflater *_Nonnull inflater);

// Starts another stream of raw deflate after one that ended, which may refer to what was decoded so far. Returns 0 if it can't.
int runway_inflater_continue(runway_inflater *_Nonnull inflater);

// Decodes as much as input and output space allow, and reports how much of both it used.
runway_inflate_status runway_inflater_run(
    runway_inflater *_Nonnull inflater, const uint8_t *_Nullable input, size_t input_count, size_t *_Nonnull input_used,
    uint8_t *_Nonnull output, size_t output_capacity, size_t *_Nonnull output_used);

// Why it failed, in zlib's words; NULL if zlib has no message.
const char *_Nullable runway_inflater_message(const runway_inflater *_Nonnull inflater);

typedef struct runway_deflater runway_deflater;

// Creates an encoder: `level` and `window_bits` as for deflateInit2 of zlib. NULL if there is not enough memory or a number is invalid.
runway_deflater *_Nullable runway_deflater_create(int level, int window_bits);

void runway_deflater_destroy(runway_deflater *_Nonnull deflater);

// Encodes as much as input and output space allow, and reports how much of both it used; if the input is the last one and there is space left,
// all is encoded. Output that is not full means that this input produces no more.
void runway_deflater_run(
    runway_deflater *_Nonnull deflater, const uint8_t *_Nullable input, size_t input_count, int is_last,
    size_t *_Nonnull input_used, uint8_t *_Nonnull output, size_t output_capacity, size_t *_Nonnull output_used);

// Starts again, with the same window. Returns 0 if it can't.
int runway_deflater_reset(runway_deflater *_Nonnull deflater);

// Encodes as runway_deflater_run does, up to a boundary of bytes: the output so far decodes to all of the input. Output that is not full
// means that the boundary is reached.
void runway_deflater_flush(
    runway_deflater *_Nonnull deflater, const uint8_t *_Nullable input, size_t input_count,
    size_t *_Nonnull input_used, uint8_t *_Nonnull output, size_t output_capacity, size_t *_Nonnull output_used);

#endif
