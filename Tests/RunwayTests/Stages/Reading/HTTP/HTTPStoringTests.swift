import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// RFC 9111 §3.
struct HTTPStoringTests {
    private let cached = HTTPCachedLayer()

    @Test func freshResponseNeedsNoRequest() async throws {
        cached.respond([.cacheControl: "max-age=60"])
        #expect(try await cached.send().source == .network)
        cached.advance(59)
        let again = try await cached.send()
        #expect(again.text == "one" && again.source == .cache && cached.sent == 1)
        #expect(again.head.headerFields[.age] == "59")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"])
    func onlyResponsesToKnownMethodsAreStored(_ name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        cached.respond([.cacheControl: "max-age=60"])
        cached.respond("two", [.cacheControl: "max-age=60"])
        cached.respond("three")
        try await cached.send(method: method)
        #expect(try await cached.send(method: method).text == "two")
        #expect(try await cached.send().text == "three")
    }

    @Test func getWithABodyBypassesTheCache() async throws {
        var request = cached.request()
        request.body = .bytes([1])
        cached.respond([.cacheControl: "max-age=60"])
        cached.respond("two", [.cacheControl: "max-age=60"])
        let options = CallOptions(cache: .http())
        _ = try await cached.network.exchange(request, with: Library.self, options: options)
        #expect(try await cached.network.exchange(request, with: Library.self, options: options).text == "two")
        #expect(cached.network.cache.count == 0)
    }

    @Test(arguments: [200, 203, 204, 299, 300, 301, 308, 400, 404, 410, 414, 418, 500, 501, 502, 599])
    func anyFinalStatusWithALifetimeIsStored(_ code: Int) async throws {
        #expect(try await !cached.isSentAgain([.cacheControl: "max-age=60"], status: .init(code: code)))
    }

    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func listedStatusesHaveAHeuristicLifetime(_ code: Int) async throws {
        let fields: HTTPFields = [.lastModified: cached.date(-100_000), .date: cached.date()]
        #expect(try await !cached.isSentAgain(fields, status: .init(code: code), after: 9000))
        #expect(Self.isEstimated(code))
    }

    @Test(arguments: [201, 202, 302, 303, 307, 400, 402, 403, 406, 409, 418, 500, 502, 504, 599])
    func otherStatusesHaveNoHeuristicLifetime(_ code: Int) async throws {
        let fields: HTTPFields = [.lastModified: cached.date(-100_000), .date: cached.date()]
        #expect(try await cached.isSentAgain(fields, status: .init(code: code), after: 1))
        #expect(!Self.isEstimated(code))
    }

    private static func isEstimated(_ code: Int) -> Bool {
        HTTPResponse.Status(code: code).isHeuristicallyCacheable
    }

    @Test(arguments: ["public", "private", "private=\"x\""])
    func directiveThatAllowsStoringAppliesToAnyStatus(_ directive: String) async throws {
        let fields: HTTPFields = [
            .cacheControl: directive, .lastModified: cached.date(-100_000), .date: cached.date(),
        ]
        #expect(try await !cached.isSentAgain(fields, status: .forbidden))
    }

    @Test func responseToPreconditionsOrRangesIsNotStored() async throws {
        for code in [304, 412, 416] {
            let refusal = Storability.refusal(
                HTTPResponse(status: .init(code: code), headerFields: [.cacheControl: "max-age=60"]),
                to: cached.request().head, ResponseDirectives([.cacheControl: "max-age=60"]), verdict: .fine,
                isRequestNoStore: false)
            #expect(refusal == .status, "\(code)")
        }
    }

    @Test func interimStatusIsNotStored() {
        let refusal = Storability.refusal(
            HTTPResponse(status: .init(code: 103), headerFields: [.cacheControl: "max-age=60"]),
            to: cached.request().head, ResponseDirectives([.cacheControl: "max-age=60"]), verdict: .fine,
            isRequestNoStore: false)
        #expect(refusal == .status)
    }

    @Test func noStoreResponseIsNotStored() async throws {
        #expect(try await cached.isSentAgain([.cacheControl: "no-store, max-age=60"]))
        #expect(cached.network.cache.byteCount < 400)
    }

    @Test func noStoreRequestPreventsStoring() async throws {
        cached.respond([.cacheControl: "max-age=60"])
        cached.respond("two", [.cacheControl: "max-age=60"])
        try await cached.send("/a", [.cacheControl: "no-store"])
        #expect(cached.network.cache.count == 0)
        #expect(try await cached.send().text == "two")
        // A stored response may be returned to such a request.
        #expect(try await cached.send("/a", [.cacheControl: "no-store"]).source == .cache)
    }

    @Test func mustUnderstandOverridesNoStoreForKnownStatuses() async throws {
        let fields: HTTPFields = [.cacheControl: "must-understand, no-store, max-age=60"]
        #expect(try await !cached.isSentAgain(fields))
        #expect(try await HTTPCachedLayer().isSentAgain(fields, status: .init(code: 599)))
        #expect(
            try await HTTPCachedLayer().isSentAgain(
                [.cacheControl: "must-understand, max-age=60"], status: .init(code: 299)))
    }

    @Test func requestWithCredentialsIsServedFromTheCache() async throws {
        cached.respond([.cacheControl: "max-age=60"])
        try await cached.send("/a", [.authorization: "Bearer 1"])
        #expect(try await cached.send("/a", [.authorization: "Bearer 1"]).source == .cache)
    }

    @Test func cachesAreSeparateByAccountServiceAndEnvironment() async throws {
        for body in ["one", "two", "three", "for another caller", "four"] {
            cached.respond(body, [.cacheControl: "max-age=60"])
        }
        try await cached.send("/a", [.authorization: "Bearer 1"])
        #expect(try await cached.send("/a", [.authorization: "Bearer 2"]).text == "two")
        cached.network.configure(Library.self) { $0.account = "kim" }
        #expect(try await cached.send().text == "three")
        // Who writes credentials into a request may act for somebody else than the account.
        #expect(try await cached.send("/a", [.authorization: "Bearer 3"]).text == "for another caller")
        cached.network.configure(Library.self) { $0.account = "lee" }
        #expect(try await cached.send().text == "four")
        cached.network.configure(Library.self) { $0.account = "kim" }
        #expect(try await cached.send().text == "three")
        cached.respond("five", [.cacheControl: "max-age=60"])
        cached.network.configure(Library.self) { $0.environment = .development }
        #expect(try await cached.send().text == "five")
    }

    @Test func responsesAreSeparateByCookie() async throws {
        for body in ["one", "two", "three"] { cached.respond(body, [.cacheControl: "private, max-age=60"]) }
        try await cached.send("/a", [.cookie: "session=kim"])
        #expect(try await cached.send("/a", [.cookie: "session=lee"]).text == "two")
        #expect(try await cached.send().text == "three")
        #expect(try await cached.send("/a", [.cookie: "session=kim"]).text == "one")
        #expect(try await cached.send("/a", [.cookie: "session=lee"]).text == "two")
        #expect(cached.sent == 3)
    }

    /// Without a socket: no transport passes a coding on that it does not know.
    @Test func allButHopByHopFieldsAreStored() async throws {
        let cached = HTTPCachedLayer(isInProcess: true)
        var fields: HTTPFields = [.cacheControl: "max-age=60", .connection: "X-Hop, close", .setCookie: "a=1"]
        for name in [
            "X-Hop", "X-Own", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade",
            "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Warning", "CDN-Cache-Control",
        ] {
            fields[try #require(HTTPField.Name(name))] = "x"
        }
        cached.respond(fields)
        try await cached.send()
        let stored = try await cached.send().head.headerFields
        #expect(
            Set(stored.map(\.name.canonicalName)) == [
                "cache-control", "set-cookie", "x-own", "warning", "cdn-cache-control", "date", "age",
            ])
    }

    @Test func fieldsNamedByNoCacheAreNotReused() async throws {
        for value in ["max-age=60, no-cache=\"Set-Cookie, X-A\"", "max-age=60, no-cache=Set-Cookie"] {
            let cached = HTTPCachedLayer()
            cached.respond([.cacheControl: value, .setCookie: "a=1", .server: "s"])
            #expect(try await cached.send().head.headerFields[.setCookie] == "a=1")
            let stored = try await cached.send()
            #expect(stored.source == .cache && stored.head.headerFields[.setCookie] == nil)
            #expect(stored.head.headerFields[.server] == "s")
        }
    }

    /// For a layer that several users share: no response that sets a cookie, whole or streamed, nor one that a 304 or HEAD updates so.
    @Test func policyCanForbidStoringSetCookie() async throws {
        var policy = CachePolicy.http()
        policy.storesSetCookie = false
        let options = CallOptions(cache: policy)
        let fields: HTTPFields = [.cacheControl: "max-age=60", .setCookie: "a=1", .eTag: "\"1\""]
        for delivery in [ResponseDelivery.whole(maximumByteCount: 1000), .streamed] {
            let cached = HTTPCachedLayer()
            var request = cached.request()
            request.delivery = delivery
            cached.respond(fields)
            cached.respond(fields)
            for _ in 0..<2 {
                let response = try await cached.network.exchange(request, with: Library.self, options: options)
                #expect(response.source == .network && response.head.headerFields[.setCookie] == "a=1")
                if case .stream(let body) = response.body { for try await _ in body {} }
            }
            #expect(cached.network.cache.count == 0)
        }
        for method in [HTTPRequest.Method.get, .head] {
            let cached = HTTPCachedLayer()
            var fields = fields
            fields[.setCookie] = nil
            cached.respond(fields)
            _ = try await cached.network.exchange(cached.request(), with: Library.self, options: options)
            #expect(cached.network.cache.count == 1)
            cached.advance(61)
            fields[.setCookie] = "b=2"
            cached.respond("", status: method == .get ? .notModified : .ok, fields)
            var again = cached.request()
            again.head.method = method
            let response = try await cached.network.exchange(again, with: Library.self, options: options)
            #expect(response.head.headerFields[.setCookie] == "b=2")
            #expect(cached.network.cache.count == 0)
        }
    }

    @Test func responseWithoutADateGetsItsReceiptDate() async throws {
        for value in [nil, "yesterday"] as [String?] {
            let cached = HTTPCachedLayer()
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            fields[.date] = value
            cached.respond(fields)
            try await cached.send()
            cached.advance(10)
            #expect(try await cached.send().head.headerFields[.date] == cached.date(-10))
        }
    }

    @Test func responseWithAnEnvelopeErrorIsNotStored() {
        func refusal(_ verdict: Verdict, _ status: HTTPResponse.Status = .ok) -> NotStoredReason? {
            Storability.refusal(
                HTTPResponse(status: status, headerFields: [.cacheControl: "max-age=60"]), to: cached.request().head,
                ResponseDirectives([.cacheControl: "max-age=60"]), verdict: verdict, isRequestNoStore: false)
        }
        #expect(refusal(.fine) == nil && refusal(.refused, .notFound) == nil && refusal(.fine, .notFound) == nil)
        #expect(refusal(.tokenRefused) == .notFine && refusal(.loginNeeded) == .notFine)
        #expect(refusal(.malformed("x")) == .notFine && refusal(.tokenRefused, .unauthorized) == .notFine)
        #expect(refusal(.failed(ServiceError(code: "1"), isAbsorbed: false)) == .notFine)
    }

    @Test func streamedResponseIsStoredWhenComplete() async throws {
        func streamed(_ parts: [String], torn: Bool) -> @Sendable (Request) async throws(NetworkError) -> Response {
            { _ throws(NetworkError) in
                let stream = BodyStream {
                    var rest = parts
                    return {
                        if !rest.isEmpty { return Array(rest.removeFirst().utf8) }
                        if torn { throw NetworkError(.noNetwork, in: .transporting, "torn") }
                        return nil
                    }
                }
                return Response(
                    head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]), body: .stream(stream))
            }
        }
        func read() async throws -> String {
            var request = cached.request()
            request.delivery = .streamed
            let response = try await cached.network.exchange(
                request, with: Library.self, options: CallOptions(cache: .http()))
            guard case .stream(let body) = response.body else { return response.text ?? "" }
            return String(decoding: try await body.collect(upTo: 100), as: UTF8.self)
        }
        cached.respond(with: streamed(["on"], torn: true))
        await #expect(throws: NetworkError.self) { try await read() }
        #expect(cached.network.cache.count == 0)
        cached.respond(with: streamed(["on", "e"], torn: false))
        #expect(try await read() == "one")
        #expect(try await read() == "one" && cached.sent == 2)
        #expect(try await cached.send().text == "one" && cached.sent == 2)
    }
}
