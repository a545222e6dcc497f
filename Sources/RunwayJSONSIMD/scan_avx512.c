#include "places.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,popcnt,pclmul")))

TARGET RUNWAY_JSON_INLINE __m512i repeated(__m128i table) { return _mm512_broadcast_i32x4(table); }

TARGET RUNWAY_JSON_INLINE runway_json_classes classify(__m512i bytes) {
    const __m512i blanks = repeated(_mm_setr_epi8(RUNWAY_JSON_BLANKS));
    const __m512i operators = repeated(_mm_setr_epi8(RUNWAY_JSON_OPERATORS));
    runway_json_classes classes;
    classes.quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"'));
    classes.backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
    classes.blanks = _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(blanks, bytes), bytes);
    classes.operators = _mm512_cmpeq_epi8_mask(
        _mm512_shuffle_epi8(operators, bytes), _mm512_or_si512(bytes, _mm512_set1_epi8(0x20)));
    classes.controls = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20));
    return classes;
}

/// The upper half of every byte.
TARGET RUNWAY_JSON_INLINE __m512i upper(__m512i bytes) {
    return _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(0x0F));
}

/// Not zero at bytes at which UTF-8 is seen to be ill-formed; `before` are the 64 bytes before.
TARGET RUNWAY_JSON_INLINE __m512i ill_formed(__m512i bytes, __m512i before) {
    const __m512i first_high = repeated(_mm_setr_epi8(RUNWAY_JSON_FIRST_HIGH));
    const __m512i first_low = repeated(_mm_setr_epi8(RUNWAY_JSON_FIRST_LOW));
    const __m512i second_high = repeated(_mm_setr_epi8(RUNWAY_JSON_SECOND_HIGH));
    // The sixteen bytes before each sixteen: the last of the block before, then the first three quarters of this one.
    const __m512i quarters = _mm512_setr_epi64(14, 15, 0, 1, 2, 3, 4, 5);
    __m512i joined = _mm512_permutex2var_epi64(bytes, quarters, before);
    __m512i one_back = _mm512_alignr_epi8(bytes, joined, 15);
    __m512i two_back = _mm512_alignr_epi8(bytes, joined, 14);
    __m512i three_back = _mm512_alignr_epi8(bytes, joined, 13);
    __m512i pairs = _mm512_and_si512(
        _mm512_and_si512(
            _mm512_shuffle_epi8(first_high, upper(one_back)),
            _mm512_shuffle_epi8(first_low, _mm512_and_si512(one_back, _mm512_set1_epi8(0x0F)))),
        _mm512_shuffle_epi8(second_high, upper(bytes)));
    // The highest bit stays where a lead byte of three or four stands two or three back: a continuation must be here.
    __m512i third = _mm512_subs_epu8(two_back, _mm512_set1_epi8(0xE0 - 0x80));
    __m512i fourth = _mm512_subs_epu8(three_back, _mm512_set1_epi8((char)(0xF0 - 0x80)));
    __m512i continued = _mm512_and_si512(_mm512_or_si512(third, fourth), _mm512_set1_epi8((char)0x80));
    return _mm512_xor_si512(continued, pairs);
}

TARGET RUNWAY_JSON_INLINE uint64_t prefix_xor(uint64_t mask) {
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)mask), _mm_set1_epi8((char)0xFF), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/// Writes sixteen places from the front of numbers inside the block.
TARGET RUNWAY_JSON_INLINE void write_sixteen(uint32_t *places, __m128i numbers, __m512i start) {
    _mm512_storeu_si512(places, _mm512_add_epi32(_mm512_cvtepu8_epi32(numbers), start));
}

TARGET size_t runway_json_scan_avx512(
    runway_json_scan_state *state, const uint8_t *bytes, size_t block_count, uint32_t start, uint32_t *places,
    uint8_t *kinds) {
    static const uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    const __m512i all = _mm512_loadu_si512(numbers);
    const __m512i non_ascii = _mm512_set1_epi8((char)0x80);
    runway_json_scan_state local = *state;
    __m512i before = _mm512_loadu_si512(local.previous);
    __m512i faults = _mm512_setzero_si512();
    size_t count = 0;
    for (size_t number = 0; number < block_count; number++, bytes += 64, start += 64) {
        __m512i input = _mm512_loadu_si512(bytes);
        if (_mm512_test_epi8_mask(_mm512_or_si512(input, before), non_ascii) != 0) {
            faults = _mm512_or_si512(faults, ill_formed(input, before));
        }
        before = input;
        runway_json_classes classes = classify(input);
        uint64_t escapes = 0;
        uint64_t escaped = local.escape_carry;
        if (classes.backslashes != 0) {
            escaped = runway_json_escaped(classes.backslashes, &local.escape_carry, &escapes);
        } else {
            local.escape_carry = 0;
        }
        uint64_t quotes = classes.quotes & ~escaped;
        uint64_t in_string = prefix_xor(quotes) ^ local.inside_string;
        uint64_t mask = runway_json_places(&local, &classes, quotes, escapes, in_string);
        size_t total = (size_t)__builtin_popcountll(mask);
        _mm512_storeu_si512(kinds + count, _mm512_maskz_compress_epi8(mask, input));
        __m512i found = _mm512_maskz_compress_epi8(mask, all);
        __m512i origin = _mm512_set1_epi32((int)start);
        write_sixteen(places + count, _mm512_castsi512_si128(found), origin);
        if (total > 16) {
            write_sixteen(places + count + 16, _mm512_extracti32x4_epi32(found, 1), origin);
            if (total > 32) {
                write_sixteen(places + count + 32, _mm512_extracti32x4_epi32(found, 2), origin);
                write_sixteen(places + count + 48, _mm512_extracti32x4_epi32(found, 3), origin);
            }
        }
        count += total;
    }
    local.faults |= _mm512_test_epi8_mask(faults, faults) != 0;
    _mm512_storeu_si512(local.previous, before);
    *state = local;
    return count;
}

#endif
