// Compares every scan that this processor runs with one written byte by byte: the same places, the same kinds, the same
// verdict, wherever chunks and blocks end. First on sequences of three bytes, of which the first is not ASCII, around the
// border of two blocks, then on made-up documents, 200,000 unless the argument says otherwise. Prints how many; exits 1 at the first
// difference. Scripts/json-arm64.sh builds it for this machine and, with Debian's cross compiler, for arm64 under qemu-user.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "RunwayJSONSIMD.h"

enum { LONGEST = 1024 };

static uint64_t random_state;

static uint32_t next_random(uint32_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % bound;
}

typedef struct {
    size_t count;
    uint32_t places[LONGEST + 64];
    uint8_t kinds[LONGEST + 64];
    int is_faulty;
} result;

/// The length of the well-formed sequence at a byte by table 3-7 of the Unicode Standard, or 0.
static size_t sequence_length(const uint8_t *bytes, size_t left) {
    uint8_t first = bytes[0];
    uint8_t low = 0x80, high = 0xBF;
    size_t length;
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) length = 2;
    else if (first >= 0xE0 && first <= 0xEF) length = 3;
    else if (first >= 0xF0 && first <= 0xF4) length = 4;
    else return 0;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
    if (left < length || bytes[1] < low || bytes[1] > high) return 0;
    for (size_t next = 2; next < length; next++) {
        if ((bytes[next] & 0xC0) != 0x80) return 0;
    }
    return length;
}

static void scan_by_byte(const uint8_t *bytes, size_t count, result *found) {
    int in_string = 0, is_escaped = 0, is_in_scalar = 0;
    found->count = 0;
    found->is_faulty = 0;
    for (size_t place = 0; place < count;) {
        size_t length = sequence_length(bytes + place, count - place);
        if (length == 0) found->is_faulty = 1;
        place += length == 0 ? 1 : length;
    }
    for (size_t place = 0; place < count; place++) {
        uint8_t byte = bytes[place];
        int is_place = 0;
        int is_quote = byte == '"' && !is_escaped;
        int starts_escape = byte == '\\' && !is_escaped;
        // Two control characters look like operators with bit 0x20 set; they are refused later, by the byte at the place.
        int is_operator = byte != 0 && (strchr("{}[]:,", byte) != NULL || byte == 0x0C || byte == 0x1A);
        int is_blank = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
        int is_scalar = !is_operator && !is_blank && !is_quote;
        if (is_quote) {
            is_place = 1;
            in_string = !in_string;
        } else if (in_string) {
            is_place = starts_escape;
            if (byte < 0x20) found->is_faulty = 1;
        } else {
            is_place = is_operator || (is_scalar && !is_in_scalar);
        }
        is_in_scalar = is_scalar;
        is_escaped = starts_escape;
        if (is_place) {
            found->places[found->count] = (uint32_t)place;
            found->kinds[found->count++] = byte;
        }
    }
}

static void scan_by_vector(runway_json_scan scan, const uint8_t *bytes, size_t block_count, result *found) {
    runway_json_scan_state state;
    memset(&state, 0, sizeof state);
    found->count = 0;
    // Calls of one to three blocks, so that every state is handed on.
    for (size_t block = 0; block < block_count;) {
        size_t some = 1 + next_random(3);
        if (some > block_count - block) some = block_count - block;
        found->count += scan(
            &state, bytes + 64 * block, some, (uint32_t)(64 * block), found->places + found->count,
            found->kinds + found->count);
        block += some;
    }
    found->is_faulty = state.faults != 0;
}

static void make_document(uint8_t *bytes, size_t count) {
    static const char *pieces[] = {
        "\"", "\\", "{", "}", "[", "]", ":", ",", " ", "\n", "\t", "\r", "a", "12", "true", "\\\"", "\\\\", "\x01",
        "\x0C", "\x1A", "\x7F", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\"a\":",
        "\"\xE4\xB8\xAD\xE6\x96\x87\"", "\xF4\x8F\xBF\xBF", "\xE0\xA0\x80", "\xF0\x90\x80\x80",
    };
    uint32_t kind = next_random(4);
    size_t place = 0;
    while (place < count) {
        if (kind == 0 || next_random(200) == 0) {
            bytes[place++] = (uint8_t)next_random(256);
            continue;
        }
        const char *piece = pieces[next_random(kind == 1 ? 2 : sizeof pieces / sizeof *pieces)];
        size_t length = strlen(piece);
        if (length > count - place) length = count - place;
        memcpy(bytes + place, piece, length);
        place += length;
    }
}

static uint8_t bytes[LONGEST + 64];
static result expected, actual;

/// Whether all scans say the same of the first bytes as the one written byte by byte.
static int all_agree(size_t count) {
    size_t block_count = count / 64 + 1;
    memset(bytes + count, ' ', 64 * block_count - count);
    scan_by_byte(bytes, 64 * block_count, &expected);
    for (size_t scan = 0; runway_json_scan_number(scan) != NULL; scan++) {
        scan_by_vector(runway_json_scan_number(scan), bytes, block_count, &actual);
        if (actual.count != expected.count || actual.is_faulty != expected.is_faulty
            || memcmp(actual.places, expected.places, expected.count * sizeof(uint32_t)) != 0
            || memcmp(actual.kinds, expected.kinds, expected.count) != 0) {
            fprintf(stderr, "scan %zu differs\n", scan);
            return 0;
        }
    }
    return 1;
}

/// Three bytes at a place, followed by nothing, by ASCII or by a continuation.
static int agree_on_sequence(size_t place, uint8_t first, uint8_t second, uint8_t third) {
    static const uint8_t followers[] = {'"', 0x80, 0xBF};
    for (size_t follower = 0; follower < 3; follower++) {
        memset(bytes, 'a', 128);
        bytes[0] = '"';
        bytes[place] = first;
        bytes[place + 1] = second;
        bytes[place + 2] = third;
        if (!all_agree(place + 3)) return 0;
        bytes[place + 3] = followers[follower];
        bytes[127] = '"';
        if (!all_agree(128)) return 0;
    }
    return 1;
}

static long check_sequences(void) {
    static const uint8_t thirds[] = {0x22, 0x80, 0xBF, 0xC0};
    long count = 0;
    for (size_t place = 62; place < 64; place++) {
        for (int first = 0x80; first < 0x100; first++) {
            for (int second = 0; second < 0x100; second++) {
                for (size_t third = 0; third < sizeof thirds; third++, count++) {
                    if (!agree_on_sequence(place, (uint8_t)first, (uint8_t)second, thirds[third])) {
                        fprintf(stderr, "on %02X %02X %02X at %zu\n", first, second, thirds[third], place);
                        return -1;
                    }
                }
            }
        }
    }
    return count;
}

int main(int argc, char **argv) {
    long documents = argc > 1 ? atol(argv[1]) : 200000;
    size_t scans = 0;
    while (runway_json_scan_number(scans) != NULL) scans++;
    if (scans == 0) {
        fprintf(stderr, "this processor runs no scan\n");
        return 1;
    }
    long sequences = check_sequences();
    if (sequences < 0) return 1;
    for (long document = 0; document < documents; document++) {
        random_state = (uint64_t)document + 1;
        next_random(1);
        size_t count = next_random(LONGEST - 64);
        make_document(bytes, count);
        if (!all_agree(count)) {
            fprintf(stderr, "on document %ld\n", document);
            return 1;
        }
    }
    printf("%zu scans, %ld sequences, %ld documents, no difference\n", scans, sequences, documents);
    return 0;
}
