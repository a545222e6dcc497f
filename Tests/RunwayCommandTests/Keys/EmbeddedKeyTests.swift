import Foundation
import RunwaySignatures
import Testing

@testable import RunwayCommand

/// The source of `runway keys embed`, which is compiled with this target.
struct EmbeddedKeyTests {
    private let text = "cnVud2F5IHRlc3Qgc2VjcmV0IDAxMjM0NTY3ODk="

    @Test func embeddedSourceIsTheCompiledOne() throws {
        let mask = text.utf8.indices.enumerated().map { UInt8(($0.offset * 37 + 11) % 256) }
        let source = EmbeddedKeySource(
            name: "EmbeddedKeyExample", id: "partner-3", algorithm: "hmac-sha256", text: text, mask: mask)
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "EmbeddedKeyExample.swift")

        #expect(try source.text == String(contentsOf: file, encoding: .utf8))
    }

    @Test func embeddedKeySignsLikeTheOriginal() throws {
        let key = try EmbeddedKeyExample.signingKey()
        let original = try SigningKey(.hmacSHA256, text: text)

        #expect(try key.signature(of: [1, 2, 3]) == original.signature(of: [1, 2, 3]))
        #expect(EmbeddedKeyExample.id == "partner-3")
    }

    @Test func keyIsNoTextOfTheSource() {
        let mask = EmbeddedKeySource.randomMask(for: text)
        let source = EmbeddedKeySource(name: "Key", id: "k", algorithm: "hmac-sha256", text: text, mask: mask)

        #expect(!source.text.contains(text.prefix(8)))
        #expect(source.masked != Array(text.utf8))
    }
}
