import Foundation
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// Base64 beside Foundation's.
struct Base64Tests {
    @Test func bytesAreSpelledAsFoundationSpellsThem() throws {
        var random = SeededGenerator(seed: 1)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.encoded(bytes) == text)
            #expect(Base64.encoded(AnySequence(bytes)) == text)
            #expect(Base64.decoded(text) == bytes)
            #expect(Base64.decoded(text.replacing("=", with: "")) == bytes)
            let url = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.encodedForURL(bytes) == url)
            #expect(Base64.decodedForURL(url) == bytes)
        }
    }

    /// Whatever is read is the one spelling, with padding or without.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func onlyOneSpellingIsRead(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let characters = Array("ABCXYZabcxyz0189+/-_= \n.é")
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<10, using: &random)
            var text = ""
            for _ in 0..<count { text.append(characters.randomElement(using: &random) ?? "A") }
            let expected =
                Data(base64Encoded: text + String(repeating: "=", count: (4 - count % 4) % 4))
                ?? Data(base64Encoded: text)
            let spelled = expected?.base64EncodedString()
            let isSpelled = spelled == text || spelled?.replacing("=", with: "") == text
            #expect(Base64.decoded(text) == (isSpelled ? expected.map(Array.init) : nil), "\(text)")
        }
    }

    @Test(arguments: [
        "QQ=", "QQ===", "QR==", "QUF=", "QQ==QQ==", "Q", "=", "====", "QQ==\n", "Q Q=", "QQ=A", "-_-_", "QUJ=",
    ])
    func otherSpellingsAreRefused(_ text: String) {
        #expect(Base64.decoded(text) == nil)
    }

    @Test(arguments: ["QQ==", "+/+/", "Q", "QR", "é"])
    func otherSpellingsForURLsAreRefused(_ text: String) {
        #expect(Base64.decodedForURL(text) == nil)
    }
}
