import Foundation
import Synchronization
import Testing

@testable import RunwayJSON

/// What errors of the decoder say, what they hide, and what they cost.
@Suite struct DecoderErrorTests {
    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func numbersThatDoNotFitNameTheirPath() throws {
        // Foundation throws the same case, but with an empty path.
        let error = try #require(throws: DecodingError.self) {
            try JSONDocumentDecoder().decode([String: [Int8]].self, from: Array(#"{"a":[1,300]}"#.utf8))
        }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
    }

    @Test func oversizedNumbersAreShownBoundedAndRedacted() throws {
        for text in [#"{"card_number":4111111111111111}"#, #"{"a":1\#(String(repeating: "0", count: 100_000))}"#] {
            let error = try #require(throws: DecodingError.self) {
                try JSONDocumentDecoder().decode([String: Int8].self, from: Array(text.utf8))
            }
            guard case .dataCorrupted(let context) = error else { throw error }
            #expect(!context.debugDescription.contains("4111"))
            #expect(context.debugDescription.utf8.count < 200)
        }
    }

    /// How long decoding takes of so many numbers that do not fit, each of which is tried for itself.
    private func misfitSeconds(_ count: Int) throws -> Double {
        struct Lenient: Decodable {
            let value: Int8?
            init(from decoder: any Decoder) throws { value = try? Int8(from: decoder) }
        }
        let text = #"{"list":["# + Array(repeating: "300", count: count).joined(separator: ",") + "]}"
        let list = try JSONDocument(text).root["list"]
        var start = timespec()
        var end = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        #expect(try JSONDocumentDecoder().decode([Lenient].self, from: list).count == count)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
    }

    /// Sixteen times as many take about sixteen times as long, not 256 times.
    @Test func errorTimeDoesNotGrowWithTheDocument() throws {
        _ = try misfitSeconds(10)
        #expect(try misfitSeconds(32_000) < 64 * misfitSeconds(2_000))
    }

    @Test func numbersBelowSecretNamesAreNeverShown() throws {
        let raw = try JSONDocument(#"{"pin":{"a":[4111]},"b":[{"token":{"c":4111}},4111]}"#).root
        var custom = JSONDocumentDecoder()
        custom.keyDecodingStrategy = .custom { Name(stringValue: "x\($0.count)") }
        for decode in [
            { try JSONDocumentDecoder().decode([String: [Int8]].self, from: raw["pin"]) },
            { try JSONDocumentDecoder().decode([Int8].self, from: raw["pin"]["a"]) },
            { try JSONDocumentDecoder().decode(Int8.self, from: raw["pin"]["a"][0]) },
            { try JSONDocumentDecoder().decode([String: Int8].self, from: raw["b"][0]["token"]) },
            { try JSONDocumentDecoder().decode([String: [String: Int8]].self, from: raw["b"][0]) },
            { try custom.decode(Hidden.self, from: raw["b"][0]) },
        ] as [() throws -> Any] {
            let error = try #require(throws: DecodingError.self) { _ = try decode() }
            #expect("\(error)".contains("[redacted]") && !"\(error)".contains("4111"))
        }
        #expect(
            "\(try #require(throws: DecodingError.self) { try JSONDocumentDecoder().decode(Int8.self, from: raw["b"][1]) })"
                .contains("4111"))
    }

    /// Reads a member under the name from the custom strategy.
    struct Hidden: Decodable {
        struct Inner: Decodable { var x2: Int8 }
        var x1: Inner
    }

    @Test func bodyStartIsFoundOnceForAllErrors() throws {
        let raw = try JSONDocument(#"{"a":1,"b":[2]}"#).root
        #expect(raw.storage.bodyStartText.load() == nil)
        let first = try #require(throws: JSONError.self) { try raw["a"].require(String.self) }
        let made = raw.storage.bodyStartText.load()
        let second = try #require(throws: JSONError.self) { try raw["b"]["c"].require(Int.self) }
        #expect(made != nil && raw.storage.bodyStartText.load() === made)
        #expect(first.bodyStart == #"{"a":1,"b":[2]}"# && second.bodyStart == first.bodyStart)
    }
}
