import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// RFC 9111 §3.3, §3.4; RFC 9110 §14.
struct HTTPPartialContentTests {
    private let cached = HTTPCachedLayer()
    private let body = "0123456789"

    private func part(_ range: Range<Int>, of length: String = "10", _ fields: HTTPFields = [.eTag: "\"x\""]) {
        var fields = fields
        fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "max-age=60" }
        cached.respond(String(Array(body)[range]), status: .partialContent, fields)
    }

    private func range(_ text: String, _ fields: HTTPFields = [:]) async throws -> Response {
        var fields = fields
        fields[.range] = "bytes=\(text)"
        return try await cached.send("/a", fields)
    }

    @Test func wholeResponseServesItsRanges() async throws {
        cached.respond(body, [.cacheControl: "max-age=60", .eTag: "\"x\"", .contentLength: "10"])
        try await cached.send()
        for (text, part, field) in [
            ("2-4", "234", "bytes 2-4/10"), ("7-", "789", "bytes 7-9/10"), ("-2", "89", "bytes 8-9/10"),
            ("8-99", "89", "bytes 8-9/10"),
        ] {
            let response = try await range(text)
            #expect(response.head.status == .partialContent && response.text == part && response.source == .cache)
            #expect(response.head.headerFields[.contentRange] == field)
            #expect(response.head.headerFields[.contentLength] == "\(part.count)")
            #expect(response.head.headerFields[.eTag] == "\"x\"" && response.head.headerFields[.age] == "0")
        }
        #expect(cached.sent == 1)
    }

    @Test(arguments: ["99-", "-0", "0-1,3-4", "x"])
    func rangeBeyondTheCacheIsSentOn(_ text: String) async throws {
        cached.respond(body, [.cacheControl: "max-age=60"])
        try await cached.send()
        cached.respond("", status: .rangeNotSatisfiable, [.cacheControl: "max-age=60"])
        #expect(try await range(text).head.status == .rangeNotSatisfiable)
        #expect(cached.last[.range] == "bytes=\(text)")
        #expect(try await cached.send().text == body && cached.sent == 2)
    }

    @Test func rangeOfAnotherConditionIsTheWhole() async throws {
        let modified = cached.date(-1000)
        cached.respond(
            body, [.cacheControl: "max-age=60", .eTag: "\"x\"", .lastModified: modified, .date: cached.date()])
        try await cached.send()
        #expect(try await range("0-1", [.ifRange: "\"x\""]).text == "01")
        #expect(try await range("0-1", [.ifRange: modified]).text == "01")
        for condition in ["\"y\"", "W/\"x\"", cached.date(-999)] {
            let response = try await range("0-1", [.ifRange: condition])
            #expect(response.text == body && response.head.status == .ok, "\(condition)")
        }
        #expect(try await range("0-1", [.ifNoneMatch: "\"x\""]).head.status == .notModified)
        #expect(cached.sent == 1)
    }

    @Test func partServesOnlyRangesWithinIt() async throws {
        part(2..<6)
        #expect(try await range("2-5").head.status == .partialContent)
        let inside = try await range("3-4")
        #expect(inside.text == "34" && inside.head.status == .partialContent && inside.source == .cache)
        part(5..<8)
        #expect(try await range("5-7").text == "567")
        #expect(cached.sent == 2)
        cached.respond("whole", [.cacheControl: "max-age=60"])
        #expect(try await cached.send().text == "whole")
        #expect(cached.last[.ifNoneMatch] == nil && cached.sent == 3)
    }

    @Test func partsWithOneStrongValidatorBecomeTheWhole() async throws {
        part(0..<4)
        try await _ = range("0-3")
        part(4..<7, [.eTag: "\"x\"", .server: "new"])
        try await _ = range("4-6")
        #expect(try await range("2-5").text == "2345")
        part(7..<10, of: "*")
        try await _ = range("7-9")
        let whole = try await cached.send()
        #expect(whole.text == body && whole.head.status == .ok && whole.source == .cache)
        #expect(whole.head.headerFields[.server] == "new" && whole.head.headerFields[.contentRange] == nil)
        #expect(cached.sent == 3)
    }

    @Test(arguments: [("\"x\"", "\"y\""), ("W/\"x\"", "W/\"x\""), ("\"x\"", "W/\"x\"")])
    func partsWithoutOneStrongValidatorAreNotCombined(_ first: String, _ second: String) async throws {
        part(0..<5, [.eTag: first])
        try await _ = range("0-4")
        part(5..<10, [.eTag: second])
        try await _ = range("5-9")
        cached.respond("whole")
        #expect(try await cached.send().text == "whole")
        #expect(cached.network.cache.count <= 1)
    }

    @Test func partWithTheWholesValidatorUpdatesItsFields() async throws {
        cached.respond(body, [.cacheControl: "max-age=1", .eTag: "\"x\""])
        try await cached.send()
        cached.advance(10)
        part(0..<2, [.eTag: "\"x\"", .server: "new"])
        #expect(try await range("0-1").text == "01")
        let whole = try await cached.send()
        #expect(whole.text == body && whole.source == .cache && whole.head.headerFields[.server] == "new")
    }

    @Test func partOfANewerRepresentationReplacesTheWhole() async throws {
        cached.respond(body, [.cacheControl: "max-age=1", .eTag: "\"x\""])
        try await cached.send()
        cached.advance(10)
        part(0..<2, [.eTag: "\"y\""])
        try await _ = range("0-1")
        cached.respond("new")
        #expect(try await cached.send().text == "new")
    }

    @Test func stalePartIsValidatedOnlyForItsRanges() async throws {
        part(2..<6, [.eTag: "\"x\"", .cacheControl: "max-age=1"])
        try await _ = range("2-5")
        cached.advance(10)
        part(0..<10)
        try await _ = range("0-9")
        #expect(cached.last[.ifNoneMatch] == nil)
        let other = HTTPCachedLayer()
        other.respond(
            "2345", status: .partialContent,
            [.cacheControl: "max-age=1", .eTag: "\"x\"", .contentRange: "bytes 2-5/10"])
        try await other.send("/a", [.range: "bytes=2-5"])
        other.advance(10)
        other.respond(status: .notModified, [.eTag: "\"x\"", .cacheControl: "max-age=60"])
        #expect(try await other.send("/a", [.range: "bytes=3-4"]).text == "34")
        #expect(other.last[.ifNoneMatch] == "\"x\"" && other.last[.range] == "bytes=3-4")
        #expect(other.last[.ifModifiedSince] == nil)
    }

    @Test(arguments: [
        ["bytes 0-9/10"], ["bytes 0-3/3"], ["bytes 3-0/10"], ["lines 0-3/10"], ["0-3/10"], [],
        ["bytes 0-3/10", "bytes 0-3/10"],
    ])
    func partContradictingItsRangeIsNotStored(_ values: [String]) async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"x\""]
        fields[values: .contentRange] = values
        cached.respond("0123", status: .partialContent, fields)
        #expect(try await range("0-3").text == "0123")
        #expect(cached.network.cache.count == 0)
    }

    /// Without a socket, whose transport leaves codings as they are; over one `HTTPCacheWireTests` asks the same.
    @Test func bodyWhoseCodingWasUndoneServesNoRange() async throws {
        let cached = HTTPCachedLayer(isInProcess: true)
        let body = body
        cached.respond(with: { _ throws(NetworkError) in
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"x\""])
            var response = Response(head: head, body: .whole(RawData(Array(body.utf8), response: head)))
            response.isDecoded = true
            return response
        })
        try await cached.send()
        #expect(try await cached.send().source == .cache)
        cached.respond("01", status: .partialContent, [.eTag: "\"y\"", .contentRange: "bytes 0-1/10"])
        #expect(try await cached.send("/a", [.range: "bytes=0-1"]).source == .network)
    }
}
