#include "RunwayZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct runway_deflater {
    z_stream stream;
};

// As much memory as zlib takes of itself (DEF_MEM_LEVEL, which its header does not show).
static const int memory_level = 8;

runway_deflater *runway_deflater_create(int level, int window_bits) {
    runway_deflater *deflater = calloc(1, sizeof(*deflater));
    if (deflater == NULL) return NULL;
    if (deflateInit2(&deflater->stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(deflater);
        return NULL;
    }
    return deflater;
}

void runway_deflater_destroy(runway_deflater *deflater) {
    deflateEnd(&deflater->stream);
    free(deflater);
}

static uInt clamped(size_t count) { return count > UINT_MAX ? UINT_MAX : (uInt)count; }

int runway_deflater_reset(runway_deflater *deflater) { return deflateReset(&deflater->stream) == Z_OK; }

static void run(
    runway_deflater *deflater, const uint8_t *input, size_t input_count, int flush, size_t *input_used,
    uint8_t *output, size_t output_capacity, size_t *output_used) {
    z_stream *stream = &deflater->stream;
    uInt available = clamped(input_count);
    uInt room = clamped(output_capacity);
    // zlib only reads what its older declaration does not call constant.
    stream->next_in = (Bytef *)(uintptr_t)input;
    stream->avail_in = available;
    stream->next_out = output;
    stream->avail_out = room;
    // The only errors are those of a caller that continues after the end, and of no progress, which is not an error here.
    (void)deflate(stream, available == input_count ? flush : Z_NO_FLUSH);
    *input_used = available - stream->avail_in;
    *output_used = room - stream->avail_out;
    stream->next_in = NULL;
    stream->next_out = NULL;
}

void runway_deflater_run(
    runway_deflater *deflater, const uint8_t *input, size_t input_count, int is_last, size_t *input_used,
    uint8_t *output, size_t output_capacity, size_t *output_used) {
    run(deflater, input, input_count, is_last ? Z_FINISH : Z_NO_FLUSH, input_used, output, output_capacity,
        output_used);
}

void runway_deflater_flush(
    runway_deflater *deflater, const uint8_t *input, size_t input_count, size_t *input_used, uint8_t *output,
    size_t output_capacity, size_t *output_used) {
    run(deflater, input, input_count, Z_SYNC_FLUSH, input_used, output, output_capacity, output_used);
}
