import Foundation
import HTTPTypes
import NIOCore
import RunwayTesting
import Testing

@testable import RunwayTransport

extension ContentDecoder {
    /// Decodes a whole body that comes in pieces.
    static func decode(
        _ bytes: [UInt8], _ coding: ContentCoding, pieces: Int = .max, limits: Limits = .default
    ) throws -> [UInt8] {
        let decoder = try ContentDecoder(coding, limits: limits)
        var decoded: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            decoder.push(ByteBuffer(bytes: rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while let part = try decoder.pull() {
                #expect(!part.isEmpty && part.count <= partByteCount)
                decoded += part
            }
        }
        try decoder.finish()
        return decoded
    }
}

/// Content codings, undone part by part and within bounds.
struct ContentDecoderTests {
    private static let vectors: [(ContentCoding, [UInt8])] = [
        (.gzip, Coded.gzip), (.deflate, Coded.deflate), (.deflate, Coded.rawDeflate),
        (.gzip, Coded.gzip + Coded.gzip), (.gzip, []),
    ]

    @Test(arguments: [1, 2, 7, 100, .max])
    func codingsAreUndoneInAnyPieces(pieces: Int) throws {
        let text = Array(Coded.text.utf8)
        let expected = [text, text, text, text + text, []]
        for ((coding, body), plain) in zip(Self.vectors, expected) {
            #expect(try ContentDecoder.decode(body, coding, pieces: pieces) == plain)
        }
    }

    @Test func gzipOutputIsDecoded() async throws {
        var random = SeededGenerator(seed: 7)
        let plain = (0..<300_000).map { _ in UInt8.random(in: 0..<32, using: &random) }
        let coded = try await Tool.run("/usr/bin/gzip", ["-c", "-9"], plain)
        #expect(coded.count < plain.count)
        #expect(try ContentDecoder.decode(coded, .gzip, pieces: 1000) == plain)
    }

    @Test func everyTruncationIsAnError() throws {
        for (coding, body) in Self.vectors.prefix(3) {
            for count in 1..<body.count {
                #expect(throws: ContentDecoder.Failure.truncated) {
                    try ContentDecoder.decode(Array(body.prefix(count)), coding)
                }
            }
        }
    }

    /// What servers send behind a coded body, and the start of what could be another one.
    static let surplus: [[UInt8]] = [
        [UInt8](repeating: 0, count: 8), Array("\r\n".utf8), Array("more".utf8), [0x1F], [0x1F, 0x8B], [0x1F, 0x8B, 7],
        [0x28, 0xB5, 0x2F], [0x50, 0x2A, 0x4D, 0x19], [0] + Coded.gzip,
    ]

    @Test(arguments: [1, 3, .max]) func surplusBytesAreIgnored(pieces: Int) throws {
        for (coding, body) in Self.vectors.prefix(4) {
            let plain = try ContentDecoder.decode(body, coding)
            for surplus in Self.surplus {
                #expect(try ContentDecoder.decode(body + surplus, coding, pieces: pieces) == plain, "\(surplus)")
            }
        }
    }

    @Test func ignoredBytesAreCountedAndBounded() throws {
        for count in [1, ContentDecoder.maximumSurplusByteCount, ContentDecoder.maximumSurplusByteCount + 1] {
            let decoder = try ContentDecoder(.gzip)
            decoder.push(ByteBuffer(bytes: Coded.gzip + [UInt8](repeating: 0, count: count)))
            if count > ContentDecoder.maximumSurplusByteCount {
                #expect(throws: ContentDecoder.Failure.trailingBytes) { while try decoder.pull() != nil {} }
            } else {
                while try decoder.pull() != nil {}
                try decoder.finish()
                #expect(decoder.surplusByteCount == count)
            }
        }
    }

    @Test func damagedSecondMemberIsAnError() {
        var second = Coded.gzip
        second[20] ^= 0xFF
        for rest in [second, Array(Coded.gzip.dropLast()), Array(Coded.gzip.prefix(3))] {
            #expect(throws: ContentDecoder.Failure.self) { try ContentDecoder.decode(Coded.gzip + rest, .gzip) }
        }
    }

    @Test func surplusOfAnInnerCodingIsIgnored() async throws {
        let coded = try await Tool.run("/bin/sh", ["-c", "gzip -c"], Coded.gzip + [0, 0])
        let decoder = try ContentDecoder([.gzip, .gzip])
        decoder.push(ByteBuffer(bytes: coded + [0]))
        var decoded: [UInt8] = []
        while let part = try decoder.pull() { decoded += part }
        try decoder.finish()
        #expect(decoded == Array(Coded.text.utf8) && decoder.surplusByteCount == 3)
    }

    @Test func whatIsNoCodingIsMalformed() {
        #expect(throws: ContentDecoder.Failure.malformed) {
            try ContentDecoder.decode(Array("not gzip at all".utf8), .gzip)
        }
        #expect(throws: ContentDecoder.Failure.malformed) {
            try ContentDecoder.decode([0x78, 0x9C, 0xFF, 0xFF, 0xFF, 0xFF], .deflate)
        }
    }

    @Test func randomBytesDecodeWithinTheLimit() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let limits = ContentDecoder.Limits(maximumByteCount: 100_000, maximumRatio: 50, freeByteCount: 1000)
        for _ in 0..<2000 {
            var body = Self.vectors.randomElement(using: &random)?.1 ?? []
            for _ in 0..<Int.random(in: 1...8, using: &random) where !body.isEmpty {
                body[Int.random(in: body.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            for coding in ContentCoding.allCases {
                let pieces = Int.random(in: 1...40, using: &random)
                let decoded = try? ContentDecoder.decode(body, coding, pieces: pieces, limits: limits)
                #expect((decoded?.count ?? 0) <= 100_000, "seed \(seed)")
            }
        }
    }

    @Test func decompressionBombIsRefusedEarlyByItsRatio() async throws {
        // 256 MiB of zeros, of which no more than a few are ever made.
        let bomb = try await Tool.run("/bin/sh", ["-c", "head -c 268435456 /dev/zero | gzip -c"], [])
        let decoder = try ContentDecoder(.gzip)
        var produced = 0
        #expect(throws: ContentDecoder.Failure.ratio(limit: 250)) {
            decoder.push(ByteBuffer(bytes: bomb))
            while let part = try decoder.pull() { produced += part.count }
        }
        #expect(produced <= 2 << 20)
    }

    @Test func aBodyIsRefusedByItsSize() {
        #expect(throws: ContentDecoder.Failure.size(limit: 1000)) {
            try ContentDecoder.decode(Coded.gzip, .gzip, limits: .init(maximumByteCount: 1000))
        }
    }

    @Test func largeDecodedBodyWaitsForItsReader() throws {
        let decoder = try ContentDecoder(.gzip)
        decoder.push(ByteBuffer(bytes: Coded.zeros))
        var counts: [Int] = []
        while let part = try decoder.pull() { counts.append(part.count) }
        #expect(counts.reduce(0, +) == 128 << 10)
        // The output space starts small, and soon reaches its maximum.
        #expect(counts.first == 4 << 10 && counts.max() == ContentDecoder.partByteCount)
        try decoder.finish()
    }

    @Test(
        arguments: [
            (["gzip"], [.gzip]), (["X-GZIP "], [.gzip]), (["gzip, Deflate"], [.deflate, .gzip]),
            (["deflate", " gzip"], [.gzip, .deflate]), (["gzip, ,"], [.gzip]), (["gzip, compress"], []),
            (["gzip, compress, gzip"], [.gzip]), ([], []), ([""], []), (["UTF-8"], []), (["none, gzip"], [.gzip]),
            (["gzip,aws-chunked"], [.gzip]), (["identity", "GZIP"], [.gzip]), (["gzip;q=1"], []),
        ] as [([String], [ContentCoding])])
    func codingsAreUndoneUpToTheFirstUnknown(values: [String], codings: [ContentCoding]) {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .contentEncoding, value: value)) }
        #expect(ContentCoding.undoable(in: fields) == codings)
    }

    @Test func combinedCodingsExpandNoMoreThanOne() async throws {
        var coded = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<2 { coded = try await Tool.run("/bin/sh", ["-c", "gzip -9 -c"], coded) }
        // Each of the codings for itself stays below this.
        let limits = ContentDecoder.Limits(maximumRatio: 1100, freeByteCount: 1000)
        let decoder = try ContentDecoder([.gzip, .gzip], limits: limits)
        decoder.push(ByteBuffer(bytes: coded))
        #expect(throws: ContentDecoder.Failure.ratio(limit: 1100)) { while try decoder.pull() != nil {} }
    }

    @Test func truncatedInnerCodingIsAnError() async throws {
        let coded = try await Tool.run("/bin/sh", ["-c", "gzip -c"], Array(Coded.gzip.dropLast(9)))
        let decoder = try ContentDecoder([.gzip, .gzip])
        decoder.push(ByteBuffer(bytes: coded))
        while try decoder.pull() != nil {}
        #expect(throws: ContentDecoder.Failure.truncated) { try decoder.finish() }
    }

    @Test func acceptedCodingsCanBeDecoded() {
        #expect(ContentCoding.accepted.hasSuffix("gzip, deflate"))
        let names = ContentCoding.accepted.split(separator: ",").map { $0.filter { $0 != " " } }
        #expect(Set(names) == Set(ContentCoding.allCases.map(\.rawValue)))
    }

    #if Brotli
        @Test(arguments: [1, 7, 4096]) func brotliIsUndoneAndItsBombsAreRefused(pieces: Int) async throws {
            let plain = Array(String(repeating: Coded.text, count: 20).utf8)
            let coded = try await Tool.run("/usr/bin/brotli", ["-c"], plain)
            #expect(try ContentDecoder.decode(coded, .brotli, pieces: pieces) == plain)
            #expect(throws: ContentDecoder.Failure.truncated) {
                try ContentDecoder.decode(Array(coded.dropLast()), .brotli)
            }
            for surplus in Self.surplus {
                #expect(try ContentDecoder.decode(coded + surplus, .brotli, pieces: pieces) == plain)
            }
            let bomb = try await Tool.run("/usr/bin/brotli", ["-c"], [UInt8](repeating: 0, count: 64 << 20))
            #expect(throws: ContentDecoder.Failure.ratio(limit: 250)) { try ContentDecoder.decode(bomb, .brotli) }
        }
    #endif

    #if Zstd
        @Test(arguments: [1, 7, 4096]) func zstdIsUndoneAndItsBombsAreRefused(pieces: Int) async throws {
            let plain = Array(String(repeating: Coded.text, count: 20).utf8)
            let coded = try await Tool.run("/usr/bin/zstd", ["-c"], plain)
            #expect(try ContentDecoder.decode(coded, .zstd, pieces: pieces) == plain)
            #expect(try ContentDecoder.decode(coded + coded, .zstd, pieces: pieces) == plain + plain)
            let skipped: [UInt8] = [0x5A, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 9]
            #expect(try ContentDecoder.decode(coded + skipped + coded, .zstd, pieces: pieces) == plain + plain)
            for surplus in Self.surplus {
                #expect(try ContentDecoder.decode(coded + surplus, .zstd, pieces: pieces) == plain)
            }
            #expect(throws: ContentDecoder.Failure.truncated) {
                try ContentDecoder.decode(Array(coded.dropLast()), .zstd)
            }
            let bomb = try await Tool.run("/usr/bin/zstd", ["-c"], [UInt8](repeating: 0, count: 64 << 20))
            #expect(throws: ContentDecoder.Failure.ratio(limit: 250)) { try ContentDecoder.decode(bomb, .zstd) }
        }
    #endif
}
