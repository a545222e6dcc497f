#ifndef RUNWAY_JSON_SIMD_H
#define RUNWAY_JSON_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The state that one block of 64 bytes passes to the next while a document is scanned. All zero at the beginning.
typedef struct {
    /// 1 when the block's first byte is escaped by a reverse solidus before it.
    uint64_t escape_carry;
    /// All ones when the block begins inside a string.
    uint64_t inside_string;
    /// 1 when the byte before the block belongs to a literal or number.
    uint64_t scalar_carry;
    /// Not zero once a control character was met inside a string, or a byte that is not well-formed UTF-8.
    uint64_t faults;
    /// The last bytes before the block, for sequences of UTF-8 that reach into it.
    uint8_t previous[64];
} runway_json_scan_state;

/// Scans whole blocks of 64 bytes and writes, in order, the places that the grammar of JSON has to look at: both
/// quotation marks of every string, the operators {}[]:, and the first bytes of literals and numbers outside strings,
/// the reverse solidi that begin escapes inside.
///
/// `start` is the place of the first byte. `places` and `kinds`, which gets the byte at each place, must have
/// room for 64 values a block and 64 more; values beyond the returned number may be overwritten with anything.
///
/// The bytes after a document's last must be spaces up to the end of a block, at least one, so that a sequence of UTF-8
/// that is truncated is found.
typedef size_t (*runway_json_scan)(
    runway_json_scan_state *state, const uint8_t *bytes, size_t block_count, uint32_t start, uint32_t *places,
    uint8_t *kinds);

/// The scans that this processor runs, by number from 0, the fastest first; NULL behind the last.
runway_json_scan runway_json_scan_number(size_t number);

#endif
