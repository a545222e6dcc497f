#include "RunwayDigest.h"

#include <string.h>

// FIPS 180-4 §4.2.2.
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t word, int count) { return word >> count | word << (32 - count); }

// FIPS 180-4 §6.2.2.
static void add_block(uint32_t state[8], const uint8_t *block) {
    uint32_t schedule[64];
    for (int i = 0; i < 16; i++) {
        uint32_t word = 0;
        for (int j = 0; j < 4; j++) word = word << 8 | block[i * 4 + j];
        schedule[i] = word;
    }
    for (int i = 16; i < 64; i++) {
        uint32_t early = schedule[i - 15], late = schedule[i - 2];
        uint32_t sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3;
        uint32_t sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10;
        schedule[i] = schedule[i - 16] + sigma0 + schedule[i - 7] + sigma1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
        uint32_t sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
        uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + constants[i] + schedule[i];
        uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void runway_sha256_begin(runway_sha256 *hash) {
    // FIPS 180-4 §5.3.3.
    static const uint32_t initial[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    memcpy(hash->state, initial, sizeof(initial));
    hash->byte_count = 0;
}

void runway_sha256_update(runway_sha256 *hash, const uint8_t *bytes, size_t count) {
    if (count == 0) return;
    size_t held = hash->byte_count % sizeof(hash->block);
    hash->byte_count += count;
    if (held > 0) {
        size_t taken = sizeof(hash->block) - held;
        if (taken > count) taken = count;
        memcpy(hash->block + held, bytes, taken);
        if (held + taken < sizeof(hash->block)) return;
        add_block(hash->state, hash->block);
        bytes += taken;
        count -= taken;
    }
    for (; count >= sizeof(hash->block); count -= sizeof(hash->block), bytes += sizeof(hash->block)) {
        add_block(hash->state, bytes);
    }
    memcpy(hash->block, bytes, count);
}

void runway_sha256_finish(runway_sha256 *hash, uint8_t *digest) {
    // FIPS 180-4 §5.1.1: a one, zeros, and the number of bits at the end of a block. No length here passes 64 bits.
    static const uint8_t padding[2 * sizeof(((runway_sha256 *)0)->block)] = {0x80};
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(hash->byte_count * 8 >> (56 - 8 * i));
    size_t held = hash->byte_count % sizeof(hash->block);
    size_t end = held < sizeof(hash->block) - 8 ? sizeof(hash->block) - 8 : 2 * sizeof(hash->block) - 8;
    runway_sha256_update(hash, padding, end - held);
    runway_sha256_update(hash, length, sizeof(length));
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 4; j++) digest[i * 4 + j] = (uint8_t)(hash->state[i] >> (24 - 8 * j));
    }
}
