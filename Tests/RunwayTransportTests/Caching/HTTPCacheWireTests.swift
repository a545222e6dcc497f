import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Caching by the rules of HTTP over real sockets.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct HTTPCacheWireTests {
    private let options = CallOptions(cache: .http())

    private func withCache(
        _ body: (ScriptedOrigin, NetworkLayer, ManualClock) async throws -> Void
    ) async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            try await body(origin, network, clock)
        }
    }

    private func text(_ body: String, _ control: String) -> ScriptedResponse {
        .text(body).header(.cacheControl, control)
    }

    @Test func freshResponseNeedsNoSocket() async throws {
        try await withCache { origin, network, clock in
            origin.on("/a", respond: text("one", "max-age=60"))
            _ = try await network.call(Fetch<GET>("a"), options: options)
            clock.advance(by: .seconds(59))
            await origin.shutdown()
            let stored = try await network.call(Fetch<GET>("a"), options: options)
            #expect(stored.text == "one" && stored.source == .cache && stored.response.headerFields[.age] == "59")
            clock.advance(by: .seconds(60))
            let stale = try await network.call(Fetch<GET>("a"), options: options)
            #expect(stale.text == "one" && stale.source == .staleCache)
        }
    }

    @Test func staleResponseCostsOneNotModified() async throws {
        try await withCache { origin, network, clock in
            let modified = "Thu, 01 Jan 2026 00:00:00 GMT"
            origin.on(
                "/a",
                respond: [
                    text("one", "max-age=1").header(.eTag, "\"x\"").header(.lastModified, modified),
                    .status(.notModified).header(.eTag, "\"x\"").header(.cacheControl, "max-age=60"),
                ])
            _ = try await network.call(Fetch<GET>("a"), options: options)
            clock.advance(by: .seconds(10))
            #expect(try await network.call(Fetch<GET>("a"), options: options).text == "one")
            #expect(try await network.call(Fetch<GET>("a"), options: options).source == .cache)
            #expect(origin.requests.count == 2)
            #expect(origin.requests.last?["if-none-match"] == "\"x\"")
            #expect(origin.requests.last?["if-modified-since"] == modified)
        }
    }

    @Test func streamedResponseIsCachedAndNeedsNoSocket() async throws {
        try await withCache { origin, network, _ in
            origin.on("/a", respond: .chunks(["o", "n", "e"]).header(.cacheControl, "max-age=60"))
            for _ in 0..<2 {
                let response = try await network.stream(Fetch<GET>("a"), options: options)
                #expect(try await response.body.text() == "one")
            }
            #expect(origin.requests.count == 1)
        }
    }

    @Test func tornResponseIsNotCached() async throws {
        try await withCache { origin, network, _ in
            origin.on("/a", respond: text("one", "max-age=60").declaring(length: 9000))
            await #expect(throws: NetworkError.self) {
                try await network.call(Fetch<GET>("a"), options: options)
            }
            #expect(network.cache.count == 0)
        }
    }

    @Test func compressedResponseIsCachedPlainWithoutRanges() async throws {
        try await withCache { origin, network, _ in
            let coded = ScriptedResponse.bytes(Coded.gzip, contentType: "text/plain").header(.contentEncoding, "gzip")
                .header(.cacheControl, "max-age=60").header(.eTag, "\"g\"")
            let part = ScriptedResponse.bytes([1], status: .partialContent).header(.contentRange, "bytes 0-0/9")
            origin.on("/a", respond: [coded, part])
            _ = try await network.call(Fetch<GET>("a"), options: options)
            #expect(try await network.call(Fetch<GET>("a"), options: options).text == Coded.text)
            let range = try await network.call(Fetch<GET>("a", headers: ["Range": "bytes=0-0"]), options: options)
            #expect(range.bytes == [1] && range.response.status == .partialContent)
            #expect(origin.requests.last?["accept-encoding"] == "identity")
        }
    }

    @Test func changeOverTheWireRemovesStoredResponses() async throws {
        try await withCache { origin, network, _ in
            origin.on(.get, "/a", respond: [text("one", "max-age=60"), text("two", "max-age=60")])
            origin.on(.put, "/a", respond: .status(.noContent))
            _ = try await network.call(Fetch<GET>("a"), options: options)
            _ = try await network.call(Fetch<PUT>("a", .bytes([1])))
            #expect(try await network.call(Fetch<GET>("a"), options: options).text == "two")
        }
    }

    @Test(arguments: [
        "Cache-Control:", "Cache-Control: max-age=-1", "Cache-Control: max-age=\u{e9}", "Expires: 0", "Expires:",
        "Cache-Control: max-age=\"", "Age: -1\r\nCache-Control: max-age=0",
    ])
    func wrongFieldsCostOneMoreRequest(_ line: String) async throws {
        try await withCache { origin, network, _ in
            origin.on("/a", respond: [.text("one").rawHeader(line), .text("two").rawHeader(line)])
            let one = try await network.call(Fetch<GET>("a"), options: options)
            let two = try await network.call(Fetch<GET>("a"), options: options)
            #expect(one.text == "one" && two.text == "two")
        }
    }

    @Test func hugeRepeatedFieldsAreReadInBoundedTime() async throws {
        try await withCache { origin, network, _ in
            let long = String(repeating: "a=\"\\\",", count: 5000)
            var response = ScriptedResponse.text("one").rawHeader("Cache-Control: \(long)")
            for _ in 0..<100 { response = response.rawHeader("Cache-Control: max-age=99999999999999999999") }
            origin.on("/a", respond: response)
            for _ in 0..<2 {
                let response = try await network.call(Fetch<GET>("a"), options: options)
                #expect(response.text == "one")
            }
            #expect(origin.requests.count == 1)
        }
    }
}
