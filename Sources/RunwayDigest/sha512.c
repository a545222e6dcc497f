#include "RunwayDigest.h"

#include <string.h>

// FIPS 180-4 §4.2.3.
static const uint64_t constants[80] = {
    0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu, 0x3956c25bf348b538u,
    0x59f111f1b605d019u, 0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u, 0xd807aa98a3030242u, 0x12835b0145706fbeu,
    0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u, 0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u,
    0xc19bf174cf692694u, 0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u, 0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u,
    0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u, 0x983e5152ee66dfabu,
    0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u, 0xc6e00bf33da88fc2u, 0xd5a79147930aa725u,
    0x06ca6351e003826fu, 0x142929670a0e6e70u, 0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu,
    0x53380d139d95b3dfu, 0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu,
    0xa2bfe8a14cf10364u, 0xa81a664bbc423001u, 0xc24b8b70d0f89791u, 0xc76c51a30654be30u, 0xd192e819d6ef5218u,
    0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u, 0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u,
    0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u, 0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu, 0x5b9cca4f7763e373u,
    0x682e6ff3d6b2b8a3u, 0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
    0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu, 0xca273eceea26619cu,
    0xd186b8c721c0c207u, 0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u, 0x06f067aa72176fbau, 0x0a637dc5a2c898a6u,
    0x113f9804bef90daeu, 0x1b710b35131c471bu, 0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu,
    0x431d67c49c100d4cu, 0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au, 0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u,
};

static uint64_t rotated(uint64_t word, int count) { return word >> count | word << (64 - count); }

// FIPS 180-4 §6.4.2.
static void add_block(uint64_t state[8], const uint8_t *block) {
    uint64_t schedule[80];
    for (int i = 0; i < 16; i++) {
        uint64_t word = 0;
        for (int j = 0; j < 8; j++) word = word << 8 | block[i * 8 + j];
        schedule[i] = word;
    }
    for (int i = 16; i < 80; i++) {
        uint64_t early = schedule[i - 15], late = schedule[i - 2];
        uint64_t sigma0 = rotated(early, 1) ^ rotated(early, 8) ^ early >> 7;
        uint64_t sigma1 = rotated(late, 19) ^ rotated(late, 61) ^ late >> 6;
        schedule[i] = schedule[i - 16] + sigma0 + schedule[i - 7] + sigma1;
    }
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint64_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 80; i++) {
        uint64_t sum1 = rotated(e, 14) ^ rotated(e, 18) ^ rotated(e, 41);
        uint64_t sum0 = rotated(a, 28) ^ rotated(a, 34) ^ rotated(a, 39);
        uint64_t first = h + sum1 + ((e & f) ^ (~e & g)) + constants[i] + schedule[i];
        uint64_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void runway_sha512_begin(runway_sha512 *hash) {
    // FIPS 180-4 §5.3.5.
    static const uint64_t initial[8] = {
        0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
        0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
    };
    memcpy(hash->state, initial, sizeof(initial));
    hash->byte_count = 0;
}

void runway_sha512_update(runway_sha512 *hash, const uint8_t *bytes, size_t count) {
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

void runway_sha512_finish(runway_sha512 *hash, uint8_t *digest) {
    // FIPS 180-4 §5.1.2: a one, zeros, and the number of bits at the end of a block. No length here passes 64 bits.
    static const uint8_t padding[2 * sizeof(((runway_sha512 *)0)->block)] = {0x80};
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(hash->byte_count * 8 >> (56 - 8 * i));
    size_t held = hash->byte_count % sizeof(hash->block);
    size_t end = held < sizeof(hash->block) - 16 ? sizeof(hash->block) - 8 : 2 * sizeof(hash->block) - 8;
    runway_sha512_update(hash, padding, end - held);
    runway_sha512_update(hash, length, sizeof(length));
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) digest[i * 8 + j] = (uint8_t)(hash->state[i] >> (56 - 8 * j));
    }
}
