#ifndef RUNWAY_JSON_PLACES_H
#define RUNWAY_JSON_PLACES_H

#include "include/RunwayJSONSIMD.h"

/// The classes of the 64 bytes of a block, one bit a byte.
typedef struct {
    uint64_t quotes;
    uint64_t backslashes;
    uint64_t operators;
    uint64_t blanks;
    /// Bytes below 0x20.
    uint64_t controls;
} runway_json_classes;

#define RUNWAY_JSON_INLINE static inline __attribute__((always_inline))

/// The bytes that are escaped; `*escapes` gets the reverse solidi that escape them. A run of these alternates.
RUNWAY_JSON_INLINE uint64_t runway_json_escaped(uint64_t backslashes, uint64_t *carry, uint64_t *escapes) {
    uint64_t escaped = *carry;
    uint64_t found = 0;
    uint64_t rest = backslashes & ~escaped;
    *carry = 0;
    // Each turn takes the lowest reverse solidus that is not escaped itself.
    while (rest != 0) {
        uint64_t bit = rest & (0 - rest);
        found |= bit;
        if (bit >> 63) *carry = 1;
        escaped |= bit << 1;
        rest &= ~(bit | bit << 1);
    }
    *escapes = found;
    return escaped;
}

/// The places of a block, of which `in_string` are the bytes from each opening quotation mark to before its closing one.
RUNWAY_JSON_INLINE uint64_t runway_json_places(
    runway_json_scan_state *state, const runway_json_classes *classes, uint64_t quotes, uint64_t escapes,
    uint64_t in_string) {
    uint64_t scalars = ~(classes->operators | classes->blanks | quotes);
    uint64_t starts = scalars & ~(scalars << 1 | state->scalar_carry);
    state->scalar_carry = scalars >> 63;
    state->inside_string = (uint64_t)((int64_t)in_string >> 63);
    state->faults |= classes->controls & in_string;
    return quotes | ((classes->operators | starts) & ~in_string) | (escapes & in_string);
}

/// The table that tells ill-formed pairs of bytes by three half bytes, after J. Keiser and D. Lemire, "Validating UTF-8
/// in less than one instruction per byte": a pair is ill-formed in the ways whose bits all three lookups have.
enum {
    TOO_SHORT = 1 << 0,
    TOO_LONG = 1 << 1,
    OVERLONG_3 = 1 << 2,
    TOO_LARGE = 1 << 3,
    SURROGATE = 1 << 4,
    OVERLONG_2 = 1 << 5,
    /// Too large by its second byte 0x80 to 0x8F after 0xF5 and above, or overlong after 0xF0.
    FOUR_LOW = 1 << 6,
    /// Two continuations, which a third or fourth byte must be.
    CONTINUED = 1 << 7,
    ANY_LOW = TOO_SHORT | TOO_LONG | CONTINUED,
};

#define RUNWAY_JSON_FIRST_HIGH \
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, (char)CONTINUED, (char)CONTINUED, \
    (char)CONTINUED, (char)CONTINUED, TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE, \
    TOO_SHORT | TOO_LARGE | FOUR_LOW

#define RUNWAY_JSON_FIRST_LOW \
    (char)(ANY_LOW | OVERLONG_2 | OVERLONG_3 | FOUR_LOW), (char)(ANY_LOW | OVERLONG_2), (char)ANY_LOW, (char)ANY_LOW, \
    (char)(ANY_LOW | TOO_LARGE), (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), \
    (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), \
    (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), \
    (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), \
    (char)(ANY_LOW | TOO_LARGE | FOUR_LOW | SURROGATE), (char)(ANY_LOW | TOO_LARGE | FOUR_LOW), \
    (char)(ANY_LOW | TOO_LARGE | FOUR_LOW)

#define RUNWAY_JSON_SECOND_HIGH \
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, \
    (char)(TOO_LONG | OVERLONG_2 | CONTINUED | OVERLONG_3 | FOUR_LOW), \
    (char)(TOO_LONG | OVERLONG_2 | CONTINUED | OVERLONG_3 | TOO_LARGE), \
    (char)(TOO_LONG | OVERLONG_2 | CONTINUED | SURROGATE | TOO_LARGE), \
    (char)(TOO_LONG | OVERLONG_2 | CONTINUED | SURROGATE | TOO_LARGE), TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT

/// Tables looked up by a byte's lower half: a byte is of the class when it equals the entry. Entries that no byte can
/// equal have another lower half than their index.
#define RUNWAY_JSON_BLANKS ' ', 2, 3, 2, 5, 4, 7, 6, 9, '\t', '\n', 10, 13, '\r', 15, 14

/// Looked up with bit 0x20 set, which makes brackets of both kinds one; 0x0C and 0x1A look like operators then, and are
/// refused when the byte itself is read.
#define RUNWAY_JSON_OPERATORS 1, 2, 3, 2, 5, 4, 7, 6, 9, 8, ':', '{', ',', '}', 15, 14

#endif
