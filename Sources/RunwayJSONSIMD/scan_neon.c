#include "places.h"

#if defined(__aarch64__)

#include <arm_neon.h>

/// The four quarters of a block.
typedef struct {
    uint8x16_t quarters[4];
} block;

/// One bit a byte from bytes that are all ones or zero.
RUNWAY_JSON_INLINE uint64_t bits(block bytes) {
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(bytes.quarters[0], weights), vandq_u8(bytes.quarters[1], weights));
    uint8x16_t high = vpaddq_u8(vandq_u8(bytes.quarters[2], weights), vandq_u8(bytes.quarters[3], weights));
    uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

RUNWAY_JSON_INLINE uint64_t equal(block bytes, uint8_t byte) {
    block result;
    for (int quarter = 0; quarter < 4; quarter++) {
        result.quarters[quarter] = vceqq_u8(bytes.quarters[quarter], vdupq_n_u8(byte));
    }
    return bits(result);
}

RUNWAY_JSON_INLINE runway_json_classes classify(block bytes) {
    const uint8x16_t blanks = {RUNWAY_JSON_BLANKS};
    const uint8x16_t operators = {RUNWAY_JSON_OPERATORS};
    block is_blank, is_operator, is_control;
    for (int quarter = 0; quarter < 4; quarter++) {
        uint8x16_t input = bytes.quarters[quarter];
        uint8x16_t low = vandq_u8(input, vdupq_n_u8(0x0F));
        is_blank.quarters[quarter] = vceqq_u8(vqtbl1q_u8(blanks, low), input);
        is_operator.quarters[quarter] = vceqq_u8(vqtbl1q_u8(operators, low), vorrq_u8(input, vdupq_n_u8(0x20)));
        is_control.quarters[quarter] = vcltq_u8(input, vdupq_n_u8(0x20));
    }
    runway_json_classes classes;
    classes.quotes = equal(bytes, '"');
    classes.backslashes = equal(bytes, '\\');
    classes.blanks = bits(is_blank);
    classes.operators = bits(is_operator);
    classes.controls = bits(is_control);
    return classes;
}

/// Not zero at bytes at which UTF-8 is seen to be ill-formed; `before` are the 16 bytes before.
RUNWAY_JSON_INLINE uint8x16_t ill_formed(uint8x16_t bytes, uint8x16_t before) {
    const int8x16_t first_high = {RUNWAY_JSON_FIRST_HIGH};
    const int8x16_t first_low = {RUNWAY_JSON_FIRST_LOW};
    const int8x16_t second_high = {RUNWAY_JSON_SECOND_HIGH};
    uint8x16_t one_back = vextq_u8(before, bytes, 15);
    uint8x16_t two_back = vextq_u8(before, bytes, 14);
    uint8x16_t three_back = vextq_u8(before, bytes, 13);
    uint8x16_t pairs = vandq_u8(
        vandq_u8(
            vqtbl1q_u8(vreinterpretq_u8_s8(first_high), vshrq_n_u8(one_back, 4)),
            vqtbl1q_u8(vreinterpretq_u8_s8(first_low), vandq_u8(one_back, vdupq_n_u8(0x0F)))),
        vqtbl1q_u8(vreinterpretq_u8_s8(second_high), vshrq_n_u8(bytes, 4)));
    // The highest bit stays where a lead byte of three or four stands two or three back: a continuation must be here.
    uint8x16_t third = vqsubq_u8(two_back, vdupq_n_u8(0xE0 - 0x80));
    uint8x16_t fourth = vqsubq_u8(three_back, vdupq_n_u8(0xF0 - 0x80));
    uint8x16_t continued = vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(0x80));
    return veorq_u8(continued, pairs);
}

RUNWAY_JSON_INLINE uint64_t prefix_xor(uint64_t mask) {
    for (int shift = 1; shift < 64; shift <<= 1) mask ^= mask << shift;
    return mask;
}

size_t runway_json_scan_neon(
    runway_json_scan_state *state, const uint8_t *bytes, size_t block_count, uint32_t start, uint32_t *places,
    uint8_t *kinds) {
    runway_json_scan_state local = *state;
    uint8x16_t before = vld1q_u8(local.previous + 48);
    uint8x16_t faults = vdupq_n_u8(0);
    size_t count = 0;
    for (size_t number = 0; number < block_count; number++, bytes += 64, start += 64) {
        block input = {{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
        uint8x16_t any = vorrq_u8(
            vorrq_u8(vorrq_u8(input.quarters[0], input.quarters[1]), vorrq_u8(input.quarters[2], input.quarters[3])),
            before);
        if (vmaxvq_u8(any) >= 0x80) {
            for (int quarter = 0; quarter < 4; quarter++) {
                faults = vorrq_u8(faults, ill_formed(input.quarters[quarter], before));
                before = input.quarters[quarter];
            }
        }
        before = input.quarters[3];
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
        while (mask != 0) {
            uint32_t place = (uint32_t)__builtin_ctzll(mask);
            places[count] = start + place;
            kinds[count] = bytes[place];
            count++;
            mask &= mask - 1;
        }
    }
    local.faults |= vmaxvq_u8(faults) != 0;
    vst1q_u8(local.previous + 48, before);
    *state = local;
    return count;
}

#endif
