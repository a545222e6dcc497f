import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// RFC 9111 §4 (write-through), §4.4.
struct HTTPInvalidationTests {
    private let cached = HTTPCachedLayer()

    private func store(_ paths: String...) async throws {
        for path in paths {
            cached.respond("of \(path)", [.cacheControl: "max-age=600"])
            try await cached.send(path)
        }
    }

    private func isStored(_ path: String) async -> Bool {
        (try? await cached.send(path, [.cacheControl: "only-if-cached"])) != nil
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "FROBNICATE"])
    func successfulChangeInvalidatesItsTarget(_ name: String) async throws {
        try await store("/a", "/b")
        cached.respond(status: .noContent)
        try await cached.send("/a", method: try #require(HTTPRequest.Method(name)))
        #expect(await !isStored("/a"))
        #expect(await isStored("/b"))
    }

    @Test(arguments: [400, 403, 404, 409, 500, 503])
    func failedChangeInvalidatesNothing(_ code: Int) async throws {
        try await store("/a")
        cached.respond(status: .init(code: code), [.location: "/a"])
        try await cached.send("/a", method: .post)
        #expect(await isStored("/a"))
    }

    @Test(arguments: [200, 201, 202, 204, 301, 302])
    func everyStatusThatIsNoErrorCounts(_ code: Int) async throws {
        try await store("/a")
        cached.respond(status: .init(code: code))
        try await cached.send("/a", method: .put)
        #expect(await !isStored("/a"))
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
    func safeMethodInvalidatesNothing(_ name: String) async throws {
        try await store("/a")
        cached.respond("x", [.location: "/a", .contentLocation: "/a"])
        try await cached.send("/b", method: try #require(HTTPRequest.Method(name)))
        #expect(await isStored("/a"))
    }

    @Test func referencedTargetsOfTheOriginAreInvalidated() async throws {
        try await store("/a", "/l", "/c", "/d")
        cached.respond(status: .created, [.location: "/l", .contentLocation: "https://origin.test:443/c"])
        try await cached.send("/a", method: .post)
        for path in ["/a", "/l", "/c"] { #expect(await !isStored(path), "\(path)") }
        #expect(await isStored("/d"))
    }

    @Test func otherOriginsAreNotInvalidated() async throws {
        try await store("/l", "/c")
        cached.respond(status: .created, [.location: "/l", .contentLocation: "https://origin.test/c"])
        var request = cached.request("/x", method: .post)
        request.head.authority = "other.test"
        _ = try await cached.network.exchange(request, with: Library.self, options: CallOptions(cache: .http()))
        #expect(await isStored("/c"))
        request.head.authority = "origin.test"
        request.head.scheme = "http"
        cached.respond(status: .created, [.location: "https://origin.test/l"])
        _ = try await cached.network.exchange(request, with: Library.self, options: CallOptions(cache: .http()))
        #expect(await isStored("/l"))
    }

    @Test func everyVariantAndAccountIsInvalidated() async throws {
        for language in ["de", "fr"] {
            cached.respond(language, [.cacheControl: "max-age=600", .vary: "Accept-Language"])
            try await cached.send("/a", [.acceptLanguage: language])
        }
        cached.network.configure(Library.self) { $0.account = "kim" }
        try await store("/a")
        cached.respond(status: .ok)
        try await cached.send("/a", method: .delete)
        #expect(cached.network.cache.count == 0)
    }

    @Test func changeWithoutACachePolicyInvalidatesItsTarget() async throws {
        try await store("/a")
        cached.respond(status: .ok)
        _ = try await cached.network.exchange(cached.request(method: .post), with: Library.self)
        #expect(await !isStored("/a"))
    }

    @Test func changeUnderAClientPolicyInvalidatesItsTarget() async throws {
        for policy in [CachePolicy.timeToLive(), .untilEvicted()] {
            try await store("/a")
            cached.respond(status: .ok)
            _ = try await cached.network.exchange(
                cached.request(method: .put), with: Library.self, options: .policy(policy))
            #expect(await !isStored("/a"))
        }
    }

    @Test func changeIsSentDespiteAFreshResponse() async throws {
        try await store("/a")
        for method in [HTTPRequest.Method.post, .put, .delete] {
            cached.respond("changed", [.cacheControl: "max-age=600"])
            #expect(try await cached.send(method: method).text == "changed")
        }
        #expect(cached.sent == 4)
    }

    @Test func changeLeavesResponsesInFlightUnstored() async throws {
        let network = cached.network
        let cached = cached
        // The change completes while the response to the read is in flight.
        cached.respond(with: { _ throws(NetworkError) in
            cached.respond(status: .ok)
            _ = try await network.exchange(cached.request(method: .post), with: Library.self)
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=600"])
            return Response(head: head, body: .whole(RawData(Array("before".utf8), response: head)))
        })
        #expect(try await cached.send().text == "before")
        #expect(await !isStored("/a"))
        try await store("/a")
        #expect(await isStored("/a"))
    }
}
