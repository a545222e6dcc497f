import Foundation
import Testing

/// Lists that two targets hold alike, because neither may import the other.
struct SameListTests {
    /// The names in small letters between quotation marks in a part of a file, from one text to another.
    private func names(in path: String, from start: String, to end: String) throws -> Set<String> {
        let text = try Project.file(path).text
        let first = try #require(text.range(of: start), "\(path) has no \(start)")
        let part = text[first.upperBound...]
        let last = try #require(part.range(of: end), "\(path) has no \(end) after \(start)")
        return Set(part[..<last.lowerBound].matches(of: /"([a-z-]+)"/).map { String($0.output.1) })
    }

    @Test func hopByHopFieldsAgreeBetweenBothSides() throws {
        let client = try names(
            in: "Sources/Runway/Pipeline/HTTPFields+EndToEnd.swift", from: "var isConnectionSpecific", to: "extension ")
        let server = try names(
            in: "Sources/RunwayServer/Merging/ItemRules.swift", from: "var belongsToConnection", to: "default:")
        #expect(client == server)
        // Half of them are those of one connection (RFC 9113 §8.2.2), which the client lists apart.
        #expect(client.isSuperset(of: ["connection", "te", "proxy-authorization"]) && client.count == 10)
    }
}
