import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// RFC 9111 §3.2, §4.3.
struct HTTPValidationTests {
    private let cached = HTTPCachedLayer()

    /// Stores a response that is stale at the next request.
    private func storeStale(_ fields: HTTPFields, path: String = "/a", asking: HTTPFields = [:]) async throws {
        var fields = fields
        if fields[.cacheControl] == nil { fields[.cacheControl] = "max-age=1" }
        cached.respond(fields)
        try await cached.send(path, asking)
        cached.advance(10)
    }

    @Test func bothValidatorsAreSentAsTheyCame() async throws {
        let modified = cached.date(-1000)
        try await storeStale([.eTag: "W/\"x\"", .lastModified: modified])
        cached.respond(status: .notModified)
        #expect(try await cached.send().text == "one")
        #expect(cached.last[.ifNoneMatch] == "W/\"x\"" && cached.last[.ifModifiedSince] == modified)
    }

    @Test func eachValidatorIsSentAlone() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond("two")
        try await cached.send()
        #expect(cached.last[.ifNoneMatch] == "\"x\"" && cached.last[.ifModifiedSince] == nil)
        try await storeStale([.lastModified: cached.date(-9)], path: "/b")
        cached.respond("two")
        try await cached.send("/b")
        #expect(cached.last[.ifNoneMatch] == nil && cached.last[.ifModifiedSince] != nil)
    }

    @Test func responseWithoutAValidatorIsFetchedAgain() async throws {
        try await storeStale([:])
        cached.respond("two")
        #expect(try await cached.send().text == "two")
        #expect(cached.last[.ifNoneMatch] == nil && cached.last[.ifModifiedSince] == nil)
    }

    @Test func notModifiedMakesTheResponseFreshAgain() async throws {
        try await storeStale([.eTag: "\"x\"", .age: "1"])
        cached.respond(status: .notModified, [.cacheControl: "max-age=60", .eTag: "\"x\""])
        let valid = try await cached.send()
        #expect(valid.text == "one" && valid.head.status == .ok && valid.source == .cache)
        #expect(valid.head.headerFields[.age] == nil)
        cached.advance(59)
        #expect(try await cached.send().head.headerFields[.age] == "59")
        #expect(cached.sent == 2)
    }

    @Test func fieldsOfNotModifiedReplaceStoredOnes() async throws {
        try await storeStale([
            .eTag: "\"x\"", .server: "old", .contentLength: "3", .contentType: "text/plain", .setCookie: "a=1",
            .contentLanguage: "de",
        ])
        var newer: HTTPFields = [
            .cacheControl: "max-age=60", .eTag: "\"x\"", .server: "new", .contentLength: "0",
            .contentType: "text/html", .connection: "X-Hop", .contentEncoding: "br", .contentRange: "bytes 0-0/1",
            .proxyAuthenticate: "Basic", .allow: "GET",
        ]
        newer[try #require(HTTPField.Name("X-Hop"))] = "x"
        newer[values: try #require(HTTPField.Name("Link"))] = ["<a>", "<b>"]
        cached.respond(status: .notModified, newer)
        try await cached.send()
        let fields = try await cached.send().head.headerFields
        #expect(fields[.server] == "new" && fields[.allow] == "GET" && fields[.contentType] == "text/html")
        #expect(try fields[values: #require(HTTPField.Name("Link"))] == ["<a>", "<b>"])
        #expect(fields[.setCookie] == "a=1" && fields[.contentLanguage] == "de")
        #expect(fields[.contentLength] == "3" && fields[.contentEncoding] == nil && fields[.contentRange] == nil)
        #expect(fields[.connection] == nil && fields[.proxyAuthenticate] == nil)
        #expect(try fields[#require(HTTPField.Name("X-Hop"))] == nil)
    }

    @Test func notModifiedWithNoStoreRemovesTheResponse() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond(status: .notModified, [.cacheControl: "no-store", .eTag: "\"x\""])
        #expect(try await cached.send().text == "one")
        #expect(cached.network.cache.count == 0)
    }

    @Test func fullResponseReplacesTheStoredOne() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond("two", [.cacheControl: "max-age=60", .eTag: "\"y\""])
        #expect(try await cached.send().text == "two")
        #expect(try await cached.send().text == "two")
        #expect(cached.network.cache.count == 1)
    }

    @Test func uncacheableFullResponseRemovesTheStoredOne() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond("two", [.cacheControl: "no-store"])
        try await cached.send()
        #expect(cached.network.cache.count == 0)
    }

    @Test func serverErrorIsReturnedLeavingTheStoredResponse() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond("error", status: .internalServerError)
        #expect(try await cached.send().text == "error")
        cached.respond(status: .notModified)
        #expect(try await cached.send().text == "one")
    }

    @Test func unknownStrongValidatorUpdatesNothing() async throws {
        cached.respond([.cacheControl: "max-age=1", .eTag: "W/\"w\""])
        try await cached.send()
        cached.advance(10)
        cached.respond(status: .notModified, [.cacheControl: "max-age=60", .eTag: "\"y\""])
        cached.respond("two")
        #expect(try await cached.send().text == "two")
        #expect(cached.sent == 3 && cached.last[.ifNoneMatch] == nil)
    }

    @Test func strongFormOfAWeakTagUpdatesNothing() async throws {
        cached.respond([.cacheControl: "max-age=1", .eTag: "W/\"w\""])
        try await cached.send()
        cached.advance(10)
        for count in 2...3 {
            cached.respond(status: .notModified, [.cacheControl: "max-age=60", .eTag: "\"w\""])
            let response = try await cached.send()
            #expect(response.text == "one" && response.head.headerFields[.age] == "10")
            #expect(cached.sent == count && cached.last[.ifNoneMatch] == "W/\"w\"")
        }
    }

    @Test func weakValidatorUpdatesItsMostRecentResponse() async throws {
        cached.respond([.cacheControl: "max-age=1", .eTag: "W/\"x\"", .vary: "Accept", .date: cached.date(-9)])
        try await cached.send("/a", [.accept: "a"])
        cached.respond("two", [.cacheControl: "max-age=1", .eTag: "W/\"x\"", .vary: "Accept-Language"])
        try await cached.send("/a", [.acceptLanguage: "f"])
        cached.advance(10)
        cached.respond(status: .notModified, [.eTag: "W/\"x\"", .cacheControl: "max-age=60"])
        #expect(try await cached.send("/a", [.accept: "a", .acceptLanguage: "f"]).text == "two")
        #expect(cached.last[.ifNoneMatch] == "W/\"x\"")
    }

    @Test func strongValidatorSelectsAStoredResponse() async throws {
        cached.respond([.cacheControl: "max-age=1", .eTag: "\"1\"", .vary: "Accept", .date: cached.date(-9)])
        try await cached.send("/a", [.accept: "a"])
        cached.respond("two", [.cacheControl: "max-age=1", .eTag: "\"2\"", .vary: "Accept-Language"])
        try await cached.send("/a", [.acceptLanguage: "f"])
        cached.advance(10)
        cached.respond(status: .notModified, [.eTag: "\"1\"", .cacheControl: "max-age=60"])
        #expect(try await cached.send("/a", [.accept: "a", .acceptLanguage: "f"]).text == "one")
        #expect(cached.last[.ifNoneMatch] == "\"2\", \"1\"" && cached.last[.ifModifiedSince] == nil)
    }

    @Test func ambiguousNotModifiedIsRequestedAgain() async throws {
        cached.respond([.cacheControl: "max-age=1", .eTag: "\"1\"", .vary: "Accept"])
        try await cached.send("/a", [.accept: "a"])
        cached.respond("two", [.cacheControl: "max-age=1", .eTag: "\"2\"", .vary: "Accept-Language"])
        try await cached.send("/a", [.acceptLanguage: "f"])
        cached.advance(10)
        cached.respond(status: .notModified)
        cached.respond("three")
        #expect(try await cached.send("/a", [.accept: "a", .acceptLanguage: "f"]).text == "three")
        #expect(cached.sent == 4 && cached.last[.ifNoneMatch] == nil)
    }

    @Test func lastModifiedOfNotModifiedSelectsTheResponse() async throws {
        let modified = cached.date(-1000)
        try await storeStale([.lastModified: modified])
        cached.respond(status: .notModified, [.lastModified: modified])
        #expect(try await cached.send().text == "one")
        cached.respond(status: .notModified, [.lastModified: cached.date()])
        cached.respond("two")
        cached.advance(10)
        #expect(try await cached.send().text == "two")
    }

    @Test func unrequestedNotModifiedIsOneClearError() async throws {
        cached.respond(status: .notModified)
        let error = try await cached.failure()
        #expect(error.kind == .invalidResponse && error.status == .notModified && cached.sent == 1)
        try await storeStale([.eTag: "\"x\""])
        cached.respond(status: .notModified, [.eTag: "\"y\""])
        cached.respond(status: .notModified, [.eTag: "\"y\""])
        #expect(try await cached.failure().kind == .invalidResponse)
        #expect(cached.sent == 4)
    }

    @Test func callersConditionsAreEvaluatedByTheCache() async throws {
        let modified = cached.date(-1000)
        cached.respond([.cacheControl: "max-age=60", .eTag: "\"x\"", .lastModified: modified, .server: "s"])
        try await cached.send()
        func status(_ fields: HTTPFields) async throws -> HTTPResponse.Status {
            try await cached.send("/a", fields).head.status
        }
        #expect(try await status([.ifNoneMatch: "\"w\", W/\"x\""]) == .notModified)
        #expect(try await status([.ifNoneMatch: "*"]) == .notModified)
        #expect(try await status([.ifNoneMatch: "\"y\""]) == .ok)
        #expect(try await status([.ifModifiedSince: modified]) == .notModified)
        #expect(try await status([.ifModifiedSince: cached.date(-1001)]) == .ok)
        #expect(try await status([.ifModifiedSince: "whenever"]) == .ok)
        #expect(try await status([.ifNoneMatch: "\"y\"", .ifModifiedSince: modified]) == .ok)
        let response = try await cached.send("/a", [.ifNoneMatch: "\"x\""])
        #expect(
            response.text == "" && response.head.headerFields[.eTag] == "\"x\""
                && response.head.headerFields[.age] == "0")
        #expect(response.head.headerFields[.server] == nil && cached.sent == 1)
    }

    @Test func dateStandsForAMissingModificationDate() async throws {
        cached.respond([.cacheControl: "max-age=60", .date: cached.date()])
        try await cached.send()
        #expect(try await cached.send("/a", [.ifModifiedSince: cached.date()]).head.status == .notModified)
        #expect(try await cached.send("/a", [.ifModifiedSince: cached.date(-1)]).head.status == .ok)
    }

    @Test(arguments: ["If-Match", "If-Unmodified-Since"])
    func conditionsForTheOriginAreLeftToIt(_ name: String) async throws {
        cached.respond([.cacheControl: "max-age=60", .eTag: "\"x\""])
        try await cached.send()
        cached.respond(status: .preconditionFailed, [.cacheControl: "max-age=60"])
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): "\"x\""]
        #expect(try await cached.send("/a", fields).head.status == .preconditionFailed)
        #expect(cached.last[.ifNoneMatch] == nil)
        #expect(try await cached.send().text == "one")
    }

    @Test func ownConditionsAreForwardedOnAMiss() async throws {
        cached.respond(status: .notModified, [.eTag: "\"x\""])
        let response = try await cached.send("/a", [.ifNoneMatch: "\"x\""])
        #expect(response.head.status == .notModified && response.source == .network && cached.sent == 1)
        #expect(cached.last[.ifNoneMatch] == "\"x\"")
        #expect(cached.network.cache.count == 0)
    }

    @Test func tagsOfCallerAndCacheAreSentTogether() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond(status: .notModified, [.eTag: "\"x\""])
        // The caller has another one, so it receives the stored one.
        let response = try await cached.send("/a", [.ifNoneMatch: "\"own\""])
        #expect(response.head.status == .ok && response.text == "one")
        #expect(cached.last[.ifNoneMatch] == "\"own\", \"x\"")
        cached.advance(10)
        cached.respond(status: .notModified, [.eTag: "\"x\""])
        #expect(try await cached.send("/a", [.ifNoneMatch: "\"x\""]).head.status == .notModified)
        cached.advance(10)
        cached.respond(status: .notModified, [.eTag: "\"own\""])
        let sent = cached.sent
        #expect(try await cached.send("/a", [.ifNoneMatch: "\"own\""]).head.status == .notModified)
        #expect(cached.sent == sent + 1)
    }

    /// Stores a stale response with these fields, and sends the caller's own tag with its validators.
    @Test(arguments: [[.eTag: "\"x\""], [.lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"], [:]] as [HTTPFields])
    func callers304DoesNotServeTheStoredBody(_ validator: HTTPFields) async throws {
        try await storeStale(validator)
        let count = cached.sent
        // Both requests: the caller's representation is current, and the server does not name it.
        cached.respond(status: .notModified, [.lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"])
        if !validator.isEmpty { cached.respond(status: .notModified) }
        let response = try await cached.send("/a", [.ifNoneMatch: "\"own\""])
        #expect(response.head.status == .notModified && response.text == "")
        #expect(cached.last[.ifNoneMatch] == "\"own\"" && cached.last[.ifModifiedSince] == nil)
        #expect(cached.sent == count + (validator.isEmpty ? 1 : 2))
        // What is stored was not updated by it.
        cached.respond("two")
        #expect(try await cached.send().text == "two")
    }

    @Test func bare304DoesNotUpdateTheStoredResponse() async throws {
        try await storeStale([.eTag: "\"x\"", .lastModified: cached.date(-1000)])
        cached.respond(status: .notModified, [.cacheControl: "max-age=60"])
        #expect(try await cached.send("/a", [.ifNoneMatch: "*"]).head.status == .notModified)
        #expect(cached.last[.ifNoneMatch] == "*" && cached.last[.ifModifiedSince] == nil)
        cached.respond("two")
        #expect(try await cached.send().text == "two")
    }

    @Test func bareNotModifiedForAStoredTagSucceeds() async throws {
        try await storeStale([.eTag: "\"x\""])
        let count = cached.sent
        cached.respond(status: .notModified, [.cacheControl: "max-age=60"])
        #expect(try await cached.send("/a", [.ifNoneMatch: "\"x\""]).head.status == .notModified)
        #expect(try await cached.send().text == "one")
        #expect(cached.sent == count + 1)
    }

    @Test func callersDateNeverJoinsTheCachesTag() async throws {
        try await storeStale([.eTag: "\"x\""])
        cached.respond(status: .notModified)
        let response = try await cached.send("/a", [.ifModifiedSince: cached.date(-86_400)])
        #expect(response.head.status == .ok && response.text == "one")
        #expect(cached.last[.ifNoneMatch] == "\"x\"" && cached.last[.ifModifiedSince] == nil)
    }

    @Test func matchingHeadMakesTheStoredResponseFresh() async throws {
        try await storeStale([.eTag: "\"x\"", .contentLength: "3", .server: "old"])
        cached.respond("", [.eTag: "\"x\"", .contentLength: "3", .cacheControl: "max-age=60", .server: "new"])
        try await cached.send(method: .head)
        let stored = try await cached.send()
        #expect(stored.text == "one" && stored.source == .cache && stored.head.headerFields[.server] == "new")
        #expect(cached.sent == 2)
    }

    @Test(
        arguments: [
            [.eTag: "\"y\""], [.lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"], [.eTag: "\"x\"", .contentLength: "4"],
        ] as [HTTPFields])
    func differingHeadRequiresValidation(_ fields: HTTPFields) async throws {
        cached.respond([.cacheControl: "max-age=600, stale-if-error=600", .eTag: "\"x\"", .contentLength: "3"])
        try await cached.send()
        cached.respond("", fields)
        try await cached.send("/a", [.cacheControl: "no-cache"], method: .head)
        cached.fail()
        #expect(try await cached.failure().kind == .noNetwork)
        cached.respond(status: .notModified, [.eTag: "\"x\""])
        #expect(try await cached.send().text == "one")
        #expect(cached.last[.ifNoneMatch] == "\"x\"")
        #expect(try await cached.send().source == .cache && cached.sent == 4)
    }

    @Test func theEndpointsOwnCallsAreCachedToo() async throws {
        struct Page: Endpoint {
            static let service = Library.self
            static let cache = CachePolicy.http()
            var path: EndpointPath { "page" }
        }
        cached.respond("{\"a\":1}", [.cacheControl: "max-age=60"])
        #expect(try await cached.network.call(Page())["a"].int == 1)
        let again = try await cached.network.call(Page())
        #expect(again["a"].int == 1 && again.source == .cache && cached.sent == 1)
    }
}
