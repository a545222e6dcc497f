#include "places.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,popcnt,pclmul")))

/// Both halves of a block.
typedef struct {
    __m256i low;
    __m256i high;
} block;

TARGET RUNWAY_JSON_INLINE uint64_t bits(__m256i low, __m256i high) {
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

TARGET RUNWAY_JSON_INLINE uint64_t equal(block bytes, char byte) {
    __m256i wanted = _mm256_set1_epi8(byte);
    return bits(_mm256_cmpeq_epi8(bytes.low, wanted), _mm256_cmpeq_epi8(bytes.high, wanted));
}

TARGET RUNWAY_JSON_INLINE runway_json_classes classify(block bytes) {
    const __m256i blanks = _mm256_setr_epi8(RUNWAY_JSON_BLANKS, RUNWAY_JSON_BLANKS);
    const __m256i operators = _mm256_setr_epi8(RUNWAY_JSON_OPERATORS, RUNWAY_JSON_OPERATORS);
    const __m256i lowered = _mm256_set1_epi8(0x20);
    const __m256i last_control = _mm256_set1_epi8(0x1F);
    runway_json_classes classes;
    classes.quotes = equal(bytes, '"');
    classes.backslashes = equal(bytes, '\\');
    classes.blanks = bits(
        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(blanks, bytes.low), bytes.low),
        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(blanks, bytes.high), bytes.high));
    classes.operators = bits(
        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(operators, bytes.low), _mm256_or_si256(bytes.low, lowered)),
        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(operators, bytes.high), _mm256_or_si256(bytes.high, lowered)));
    classes.controls = bits(
        _mm256_cmpeq_epi8(_mm256_max_epu8(bytes.low, last_control), last_control),
        _mm256_cmpeq_epi8(_mm256_max_epu8(bytes.high, last_control), last_control));
    return classes;
}

/// The upper half of every byte.
TARGET RUNWAY_JSON_INLINE __m256i upper(__m256i bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

/// Not zero at bytes at which UTF-8 is seen to be ill-formed; `before` are the 32 bytes before.
TARGET RUNWAY_JSON_INLINE __m256i ill_formed(__m256i bytes, __m256i before) {
    const __m256i first_high = _mm256_setr_epi8(RUNWAY_JSON_FIRST_HIGH, RUNWAY_JSON_FIRST_HIGH);
    const __m256i first_low = _mm256_setr_epi8(RUNWAY_JSON_FIRST_LOW, RUNWAY_JSON_FIRST_LOW);
    const __m256i second_high = _mm256_setr_epi8(RUNWAY_JSON_SECOND_HIGH, RUNWAY_JSON_SECOND_HIGH);
    __m256i joined = _mm256_permute2x128_si256(before, bytes, 0x21);
    __m256i one_back = _mm256_alignr_epi8(bytes, joined, 15);
    __m256i two_back = _mm256_alignr_epi8(bytes, joined, 14);
    __m256i three_back = _mm256_alignr_epi8(bytes, joined, 13);
    __m256i pairs = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(first_high, upper(one_back)),
            _mm256_shuffle_epi8(first_low, _mm256_and_si256(one_back, _mm256_set1_epi8(0x0F)))),
        _mm256_shuffle_epi8(second_high, upper(bytes)));
    // The highest bit stays where a lead byte of three or four stands two or three back: a continuation must be here.
    __m256i third = _mm256_subs_epu8(two_back, _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(three_back, _mm256_set1_epi8((char)(0xF0 - 0x80)));
    __m256i continued = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(continued, pairs);
}

TARGET RUNWAY_JSON_INLINE uint64_t prefix_xor(uint64_t mask) {
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)mask), _mm_set1_epi8((char)0xFF), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

TARGET size_t runway_json_scan_avx2(
    runway_json_scan_state *state, const uint8_t *bytes, size_t block_count, uint32_t start, uint32_t *places,
    uint8_t *kinds) {
    runway_json_scan_state local = *state;
    __m256i before = _mm256_loadu_si256((const __m256i *)(local.previous + 32));
    __m256i faults = _mm256_setzero_si256();
    size_t count = 0;
    for (size_t number = 0; number < block_count; number++, bytes += 64, start += 64) {
        block input = {_mm256_loadu_si256((const __m256i *)bytes), _mm256_loadu_si256((const __m256i *)(bytes + 32))};
        __m256i any = _mm256_or_si256(_mm256_or_si256(input.low, input.high), before);
        if (_mm256_movemask_epi8(any) != 0) {
            faults = _mm256_or_si256(faults, ill_formed(input.low, before));
            faults = _mm256_or_si256(faults, ill_formed(input.high, input.low));
        }
        before = input.high;
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
        for (size_t done = 0; done < total; done += 4) {
            for (size_t next = 0; next < 4; next++) {
                uint64_t place = _tzcnt_u64(mask);
                places[count + done + next] = start + (uint32_t)place;
                kinds[count + done + next] = bytes[place & 63];
                mask &= mask - 1;
            }
        }
        count += total;
    }
    local.faults |= !_mm256_testz_si256(faults, faults);
    _mm256_storeu_si256((__m256i *)(local.previous + 32), before);
    *state = local;
    return count;
}

#endif
