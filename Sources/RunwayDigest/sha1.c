#include "RunwayDigest.h"

#include <string.h>

static uint32_t rotated_left(uint32_t word, int count) { return word << count | word >> (32 - count); }

// FIPS 180-4 §6.1.2.
static void add_block(uint32_t state[5], const uint8_t *block) {
    uint32_t schedule[80];
    for (int i = 0; i < 16; i++) {
        uint32_t word = 0;
        for (int j = 0; j < 4; j++) word = word << 8 | block[i * 4 + j];
        schedule[i] = word;
    }
    for (int i = 16; i < 80; i++) {
        schedule[i] = rotated_left(schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16], 1);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 80; i++) {
        // FIPS 180-4 §4.1.1 and §4.2.1.
        uint32_t mixed, constant;
        if (i < 20) {
            mixed = (b & c) ^ (~b & d), constant = 0x5a827999;
        } else if (i < 40) {
            mixed = b ^ c ^ d, constant = 0x6ed9eba1;
        } else if (i < 60) {
            mixed = (b & c) ^ (b & d) ^ (c & d), constant = 0x8f1bbcdc;
        } else {
            mixed = b ^ c ^ d, constant = 0xca62c1d6;
        }
        uint32_t next = rotated_left(a, 5) + mixed + e + constant + schedule[i];
        e = d, d = c, c = rotated_left(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

void runway_sha1(const uint8_t *bytes, size_t count, uint8_t *digest) {
    // FIPS 180-4 §5.3.1.
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t whole = count / 64 * 64;
    for (size_t i = 0; i < whole; i += 64) add_block(state, bytes + i);
    // FIPS 180-4 §5.1.1: a one, zeros, and the length in bits.
    uint8_t tail[128] = {0};
    size_t held = count - whole;
    if (held > 0) memcpy(tail, bytes + whole, held);
    tail[held] = 0x80;
    size_t end = held < 56 ? 64 : 128;
    uint64_t bit_count = (uint64_t)count * 8;
    for (int i = 0; i < 8; i++) tail[end - 1 - i] = (uint8_t)(bit_count >> (8 * i));
    for (size_t i = 0; i < end; i += 64) add_block(state, tail + i);
    for (int i = 0; i < 20; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
