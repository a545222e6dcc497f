#include "RunwayZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct runway_inflater {
    z_stream stream;
};

runway_inflater *runway_inflater_create(int window_bits) {
    runway_inflater *inflater = calloc(1, sizeof(*inflater));
    if (inflater == NULL) return NULL;
    if (inflateInit2(&inflater->stream, window_bits) != Z_OK) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void runway_inflater_destroy(runway_inflater *inflater) {
    inflateEnd(&inflater->stream);
    free(inflater);
}

int runway_inflater_reset(runway_inflater *inflater) { return inflateReset(&inflater->stream) == Z_OK; }

int runway_inflater_continue(runway_inflater *inflater) {
    // The largest window of deflate.
    uint8_t window[32768];
    uInt count = 0;
    z_stream *stream = &inflater->stream;
    if (inflateGetDictionary(stream, window, &count) != Z_OK || inflateReset(stream) != Z_OK) return 0;
    return count == 0 || inflateSetDictionary(stream, window, count) == Z_OK;
}

static uInt clamped(size_t count) { return count > UINT_MAX ? UINT_MAX : (uInt)count; }

runway_inflate_status runway_inflater_run(
    runway_inflater *inflater, const uint8_t *input, size_t input_count, size_t *input_used, uint8_t *output,
    size_t output_capacity, size_t *output_used) {
    z_stream *stream = &inflater->stream;
    uInt available = clamped(input_count);
    uInt room = clamped(output_capacity);
    // zlib only reads what its older declaration does not call constant.
    stream->next_in = (Bytef *)(uintptr_t)input;
    stream->avail_in = available;
    stream->next_out = output;
    stream->avail_out = room;
    int status = inflate(stream, Z_NO_FLUSH);
    *input_used = available - stream->avail_in;
    *output_used = room - stream->avail_out;
    stream->next_in = NULL;
    stream->next_out = NULL;
    switch (status) {
    case Z_OK:
    case Z_BUF_ERROR:
        return RUNWAY_INFLATE_GOES_ON;
    case Z_STREAM_END:
        return RUNWAY_INFLATE_ENDED;
    default:
        return RUNWAY_INFLATE_FAILED;
    }
}

const char *runway_inflater_message(const runway_inflater *inflater) { return inflater->stream.msg; }
