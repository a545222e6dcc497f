#ifndef RUNWAY_DIGEST_H
#define RUNWAY_DIGEST_H

#include <stddef.h>
#include <stdint.h>

// SHA-256 and SHA-512 (FIPS 180-4) of bytes that come in parts. Only for bytes that are no secret: time and memory are not hidden.

typedef struct {
    uint32_t state[8];
    uint64_t byte_count;
    uint8_t block[64];
} runway_sha256;

void runway_sha256_begin(runway_sha256 *_Nonnull hash);
void runway_sha256_update(runway_sha256 *_Nonnull hash, const uint8_t *_Nullable bytes, size_t count);

// Writes 32 bytes. Afterwards the hash has to begin anew.
void runway_sha256_finish(runway_sha256 *_Nonnull hash, uint8_t *_Nonnull digest);

typedef struct {
    uint64_t state[8];
    uint64_t byte_count;
    uint8_t block[128];
} runway_sha512;

void runway_sha512_begin(runway_sha512 *_Nonnull hash);
void runway_sha512_update(runway_sha512 *_Nonnull hash, const uint8_t *_Nullable bytes, size_t count);

// Writes 64 bytes. Afterwards the hash has to begin anew.
void runway_sha512_finish(runway_sha512 *_Nonnull hash, uint8_t *_Nonnull digest);

// Writes the 20 bytes of SHA-1 (FIPS 180-4), which is broken as a protection: only for protocols that use it to recognise each other.
void runway_sha1(const uint8_t *_Nullable bytes, size_t count, uint8_t *_Nonnull digest);

#endif
