import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// RFC 9111 §4, §4.1, §4.2.4, §5.2; RFC 5861; RFC 8246.
struct HTTPReuseTests {
    private let cached = HTTPCachedLayer()

    @Test func onlyTheSameTargetIsServed() async throws {
        cached.respond([.cacheControl: "max-age=60"])
        cached.respond("two", [.cacheControl: "max-age=60"])
        try await cached.send("/a")
        #expect(try await cached.send("/a?").text == "two")
        #expect(try await cached.send("/a").text == "one")
    }

    @Test func getServesHeadButNotViceVersa() async throws {
        cached.respond([.cacheControl: "max-age=60", .contentLength: "3"])
        try await cached.send()
        let head = try await cached.send(method: .head)
        #expect(head.source == .cache && head.text == "" && head.head.headerFields[.contentLength] == "3")
        cached.respond("", [.cacheControl: "max-age=60"])
        try await cached.send("/h", method: .head)
        #expect(try await cached.send("/h", method: .head).source == .cache)
        cached.respond("two", [.cacheControl: "max-age=60"])
        #expect(try await cached.send("/h").text == "two")
    }

    @Test func varyingResponseServesMatchingRequests() async throws {
        for body in ["one", "two", "three"] {
            cached.respond(body, [.cacheControl: "max-age=60", .vary: "Accept-Language"])
        }
        try await cached.send("/a", [.acceptLanguage: "de, en"])
        #expect(try await cached.send("/a", [.acceptLanguage: "DE,en"]).text == "one")
        #expect(try await cached.send("/a", [.acceptLanguage: "fr"]).text == "two")
        #expect(try await cached.send().text == "three")
        #expect(try await cached.send("/a", [.acceptLanguage: "fr"]).text == "two")
        #expect(try await cached.send("/a", [.acceptLanguage: "de,en"]).text == "one")
        #expect(cached.sent == 3)
    }

    @Test func responseVaryingByAnythingIsNeverReused() async throws {
        for vary in ["*", "Accept, *"] {
            #expect(try await HTTPCachedLayer().isSentAgain([.cacheControl: "max-age=60", .vary: vary]))
        }
    }

    @Test func responseVaryingByJarCookiesIsNotStored() async throws {
        cached.network.configure(Library.self) { $0.cookies = .jar() }
        for body in ["one", "two", "three"] {
            cached.respond(body, [.cacheControl: "max-age=60", .vary: "Accept, cookie"])
        }
        try await cached.send()
        #expect(try await cached.send().text == "two" && cached.network.cache.count == 0)
        // A field of the caller's own is sent alone, so that all is known of it.
        #expect(try await cached.send("/a", [.cookie: "a=1"]).text == "three")
        #expect(try await cached.send("/a", [.cookie: "a=1"]).text == "three" && cached.sent == 3)
        // A response that does not vary by it is stored.
        cached.respond([.cacheControl: "max-age=60", .vary: "Accept"])
        try await cached.send("/b")
        #expect(try await cached.send("/b").source == .cache)
    }

    @Test func theMostRecentResponseIsReturned() async throws {
        // Each is for a request that no stored response matches so far, and all match the last.
        cached.respond([.cacheControl: "max-age=999", .vary: "Accept", .date: cached.date(-20)])
        try await cached.send("/a", [.accept: "a"])
        cached.respond("two", [.cacheControl: "max-age=999", .vary: "Accept-Language", .date: cached.date(-10)])
        try await cached.send("/a", [.acceptLanguage: "f"])
        #expect(try await cached.send("/a", [.accept: "a", .acceptLanguage: "f"]).text == "two")
        let other = HTTPCachedLayer()
        other.respond([.cacheControl: "max-age=999", .vary: "Accept", .date: other.date(-10)])
        try await other.send("/a", [.accept: "a"])
        other.respond("two", [.cacheControl: "max-age=999", .vary: "Accept-Language", .date: other.date(-20)])
        try await other.send("/a", [.acceptLanguage: "f"])
        #expect(try await other.send("/a", [.accept: "a", .acceptLanguage: "f"]).text == "one")
    }

    @Test func responseWithVaryIsPreferred() async throws {
        cached.respond([.cacheControl: "max-age=999", .vary: "Accept", .date: cached.date(-20)])
        try await cached.send("/a", [.accept: "a"])
        cached.respond("two", [.cacheControl: "max-age=999", .date: cached.date(-10)])
        try await cached.send("/a", [.accept: "b"])
        #expect(try await cached.send("/a", [.accept: "a"]).text == "one")
        #expect(try await cached.send("/a", [.accept: "b"]).text == "two")
    }

    @Test func noCacheResponseIsValidatedFirst() async throws {
        for value in ["no-cache, max-age=60", "max-age=60, no-cache=\"\""] {
            #expect(try await HTTPCachedLayer().isSentAgain([.cacheControl: value]))
        }
        #expect(try await !HTTPCachedLayer().isSentAgain([.cacheControl: "max-age=60"], asking: [.pragma: "x"]))
        #expect(
            try await HTTPCachedLayer().isSentAgain([.cacheControl: "max-age=60"], asking: [.cacheControl: "no-cache"]))
        #expect(try await HTTPCachedLayer().isSentAgain([.cacheControl: "max-age=60"], asking: [.pragma: "no-cache"]))
    }

    @Test func pragmaAndWarningOfAResponseAreIgnored() async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60", .pragma: "no-cache"]
        fields[try #require(HTTPField.Name("Warning"))] = "110 - \"stale\""
        #expect(try await !cached.isSentAgain(fields))
    }

    @Test func requestMayRequireAYoungerResponse() async throws {
        func isSent(_ asking: String, _ response: String = "max-age=60") async throws -> Bool {
            try await HTTPCachedLayer().isSentAgain(
                [.cacheControl: response], after: 10, asking: [.cacheControl: asking])
        }
        #expect(try await !isSent("max-age=10"))
        #expect(try await isSent("max-age=9"))
        #expect(try await isSent("max-age=0"))
        #expect(try await isSent("max-age=x"))
        #expect(try await !isSent("min-fresh=50"))
        #expect(try await isSent("min-fresh=51"))
        #expect(try await isSent("min-fresh=x"))
    }

    @Test func requestMayAcceptAStaleResponse() async throws {
        func isSent(_ asking: String, _ response: String = "max-age=4") async throws -> Bool {
            try await HTTPCachedLayer().isSentAgain(
                [.cacheControl: response], after: 10, asking: [.cacheControl: asking])
        }
        #expect(try await !isSent("max-stale=6"))
        #expect(try await isSent("max-stale=5"))
        #expect(try await !isSent("max-stale"))
        #expect(try await isSent("max-stale=x"))
        #expect(try await isSent("max-stale", "max-age=4, must-revalidate"))
        #expect(try await isSent("max-stale", "max-age=4, no-cache"))
        #expect(try await !isSent("max-stale", "max-age=4, proxy-revalidate, s-maxage=1"))
        #expect(try await !isSent("max-age=5, max-stale=6"))
        #expect(try await isSent("max-age=3, max-stale=6"))
        #expect(try await isSent("max-stale, no-cache"))
    }

    @Test func staleResponseHasItsAge() async throws {
        cached.respond([.cacheControl: "max-age=4"])
        try await cached.send()
        cached.advance(10)
        let stale = try await cached.send("/a", [.cacheControl: "max-stale"])
        #expect(stale.source == .staleCache && stale.head.headerFields[.age] == "10")
    }

    @Test func staleResponsesNeedPermission() async throws {
        #expect(try await cached.isSentAgain([.cacheControl: "max-age=4"]))
        for status in [500, 502, 503, 504] {
            let cached = HTTPCachedLayer()
            cached.respond([.cacheControl: "max-age=4"])
            try await cached.send()
            cached.advance(10)
            cached.respond("error", status: .init(code: status))
            #expect(try await cached.send().text == "error")
        }
    }

    @Test func responseWithoutANetworkMayBeStale() async throws {
        cached.respond([.cacheControl: "max-age=4"])
        try await cached.send()
        cached.advance(10_000)
        cached.fail()
        let stale = try await cached.send()
        #expect(stale.text == "one" && stale.source == .staleCache && cached.sent == 2)
    }

    @Test(arguments: ["must-revalidate", "no-cache", "stale-if-error=9995", "no-cache, stale-if-error=99999"])
    func mustRevalidateForbidsStaleUseWithoutANetwork(_ directive: String) async throws {
        cached.respond([.cacheControl: "max-age=4, \(directive)"])
        try await cached.send()
        cached.advance(10_000)
        cached.fail()
        #expect(try await cached.failure().kind == .noNetwork)
    }

    @Test(arguments: [500, 502, 503, 504])
    func staleIfErrorHidesAServerError(_ code: Int) async throws {
        for (response, asking) in [("max-age=4, stale-if-error=6", ""), ("max-age=4", "stale-if-error=6")] {
            let cached = HTTPCachedLayer()
            cached.respond([.cacheControl: response])
            try await cached.send()
            cached.advance(10)
            for _ in 0..<2 { cached.respond("error", status: .init(code: code)) }
            let stale = try await cached.send("/a", asking.isEmpty ? [:] : [.cacheControl: asking])
            #expect(stale.text == "one" && stale.source == .staleCache && stale.head.headerFields[.age] == "10")
            cached.advance(1)
            #expect(try await cached.send("/a", asking.isEmpty ? [:] : [.cacheControl: asking]).text == "error")
        }
    }

    @Test func staleResponseIsReturnedWhileRevalidating() async throws {
        cached.respond([.cacheControl: "max-age=4, stale-while-revalidate=30", .eTag: "\"1\""])
        try await cached.send()
        cached.advance(10)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        cached.respond(with: { _ throws(NetworkError) in
            for await _ in gate {}
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            return Response(head: head, body: .whole(RawData(Array("two".utf8), response: head)))
        })
        // However many calls come meanwhile, one request is sent.
        for _ in 0..<5 {
            let stale = try await cached.send()
            #expect(stale.text == "one" && stale.source == .staleCache && stale.head.headerFields[.age] == "10")
        }
        opener.finish()
        let records = try await cached.records.records(count: 7)
        #expect(records.contains { $0.decisions(of: HTTPCacheDecision.self).first == .revalidating })
        let fresh = try await cached.send()
        #expect(fresh.text == "two" && fresh.source == .cache && cached.sent == 2)
        #expect(cached.last[.ifNoneMatch] == "\"1\"")
    }

    @Test func staleResponseRespectsLimitsAndRequest() async throws {
        func isSent(_ response: String, after seconds: Double, _ asking: String) async throws -> Bool {
            let cached = HTTPCachedLayer()
            cached.respond([.cacheControl: response])
            try await cached.send()
            cached.advance(seconds)
            cached.respond("two", [.cacheControl: "no-store"])
            return try await cached.send("/a", [.cacheControl: asking]).text == "two"
        }
        #expect(try await isSent("max-age=4, stale-while-revalidate=30", after: 35, "x"))
        #expect(try await isSent("max-age=4, stale-while-revalidate=30", after: 10, "max-age=9"))
        #expect(try await isSent("max-age=4, stale-while-revalidate=30", after: 10, "min-fresh=1"))
        #expect(try await isSent("max-age=4, stale-while-revalidate=30, must-revalidate", after: 10, "x"))
        #expect(try await isSent("max-age=4, stale-while-revalidate=x", after: 10, "x"))
        #expect(try await !isSent("max-age=4, stale-while-revalidate=30", after: 34, "x"))
    }

    @Test func otherErrorsAreNotHidden() async throws {
        cached.respond([.cacheControl: "max-age=4, stale-if-error=600"])
        try await cached.send()
        cached.advance(10)
        cached.respond("error", status: .notFound)
        #expect(try await cached.send().text == "error")
        let untrusted = HTTPCachedLayer()
        untrusted.respond([.cacheControl: "max-age=4, stale-if-error=600"])
        try await untrusted.send()
        untrusted.advance(10)
        untrusted.fail(.notTrusted)
        #expect(try await untrusted.failure().kind == .notTrusted)
    }

    @Test func immutableResponseNeedsNoValidationWhileFresh() async throws {
        func isSent(_ asking: String, after seconds: Double = 10) async throws -> Bool {
            try await HTTPCachedLayer().isSentAgain(
                [.cacheControl: "max-age=60, immutable"], after: seconds, asking: [.cacheControl: asking])
        }
        #expect(try await !isSent("max-age=0"))
        #expect(try await isSent("no-cache"))
        #expect(try await isSent("max-age=100", after: 60))
    }

    @Test func immutableIsNotBelievedWithoutTLS() async throws {
        func sources(_ scheme: String) async throws -> [ResponseSource] {
            let cached = HTTPCachedLayer()
            var sources: [ResponseSource] = []
            for asking in [[:], [.cacheControl: "max-age=0"]] as [HTTPFields] {
                var request = cached.request("/a", asking)
                request.head.scheme = scheme
                cached.respond([.cacheControl: "max-age=60, immutable"])
                let options = CallOptions(cache: .http())
                sources.append(try await cached.network.exchange(request, with: Library.self, options: options).source)
            }
            return sources
        }
        #expect(try await sources("https") == [.network, .cache])
        #expect(try await sources("http") == [.network, .network])
    }

    @Test func onlyIfCachedSendsNoRequest() async throws {
        let missing = try await cached.failure("/a", [.cacheControl: "only-if-cached"])
        #expect(missing.kind == .notCached && missing.status == .gatewayTimeout && missing.step == .reading)
        #expect(missing.sending == .notSent, "the status is no server's")
        cached.respond([.cacheControl: "max-age=4"])
        try await cached.send()
        #expect(try await cached.send("/a", [.cacheControl: "only-if-cached"]).text == "one")
        cached.advance(10)
        #expect(try await cached.failure("/a", [.cacheControl: "only-if-cached"]).status == .gatewayTimeout)
        #expect(try await cached.send("/a", [.cacheControl: "only-if-cached, max-stale"]).text == "one")
        #expect(try await cached.send(use: .onlyIfCached).source == .staleCache)
        #expect(try await cached.failure("/b", use: .onlyIfCached).kind == .notCached)
        #expect(cached.sent == 1)
    }

    @Test func onlyIfCachedRevalidatesNoStaleResponse() async throws {
        cached.respond([.cacheControl: "max-age=4, stale-while-revalidate=30", .eTag: "\"1\""])
        try await cached.send()
        cached.advance(34)
        let stale = try await cached.send("/a", [.cacheControl: "only-if-cached"])
        #expect(stale.text == "one" && stale.source == .staleCache && cached.network.cache.background.count == 0)
        await cached.network.flushRecords()
        let record = try #require(cached.records.records.last)
        #expect(record.decisions(of: HTTPCacheDecision.self) == [.stale(by: .seconds(30), .responseAllows)])
        cached.advance(1)
        #expect(try await cached.failure("/a", [.cacheControl: "only-if-cached"]).status == .gatewayTimeout)
        #expect(cached.sent == 1)
    }

    @Test func onlyIfCachedSendsNoUncachedRedirectTarget() async throws {
        for location in ["/b", "/c"] {
            cached.respond("", status: .found, [.location: location, .cacheControl: "max-age=60"])
        }
        // A temporary failure removes no stored response.
        cached.respond("error", status: .internalServerError)
        try await cached.send("/a")
        #expect(try await cached.failure("/a", [.cacheControl: "only-if-cached"]).status == .gatewayTimeout)
        #expect(cached.sent == 3)
    }

    @Test func onlyIfCachedSendsNoChange() async throws {
        for request in [
            cached.request(method: .post), cached.request("/a", [.cacheControl: "only-if-cached"], method: .put),
        ] {
            let use: CacheUse = request.head.method == .post ? .onlyIfCached : .standard
            let error = await #expect(throws: NetworkError.self) {
                try await cached.network.exchange(
                    request, with: Library.self, options: CallOptions(cache: .http(), cacheUse: use))
            }
            #expect(error?.kind == .notCached && error?.status == .gatewayTimeout)
        }
        #expect(cached.sent == 0)
    }

    @Test func refreshReplacesStoredResponses() async throws {
        cached.respond([.cacheControl: "max-age=60, immutable", .eTag: "\"1\""])
        try await cached.send()
        cached.respond("two", [.cacheControl: "max-age=60"])
        #expect(try await cached.send(use: .refresh).text == "two")
        #expect(cached.last[.ifNoneMatch] == nil && cached.last[.cacheControl] == "no-cache")
        #expect(try await cached.send().text == "two" && cached.sent == 2)
    }

    @Test func hitIsFoundBeforeTheCallerIsLeft() async throws {
        cached.respond([.cacheControl: "max-age=60"])
        try await cached.send()
        try await cached.send()
        await cached.network.flushRecords()
        let record = try #require(cached.records.records.last)
        #expect(record.decisions(of: CallDecision.self) == [.landedImmediately])
        #expect(record.decisions(of: HTTPCacheDecision.self) == [.fresh(age: .zero, remaining: .seconds(60))])
        #expect(record.attempts.isEmpty && record.source == .cache)
    }

    @Test func theRecordNamesTheReasonOfARequest() async throws {
        cached.respond([.cacheControl: "max-age=60", .eTag: "\"1\""])
        try await cached.send()
        cached.advance(72)
        cached.respond(status: .notModified)
        try await cached.send()
        await cached.network.flushRecords()
        let records = cached.records.records
        #expect(
            records.map { $0.decisions(of: HTTPCacheDecision.self) } == [
                [.miss, .stored(lifetime: .seconds(60), isHeuristic: false)],
                [
                    .validating(staleBy: .seconds(12)), .notModified(updated: 1),
                    .stored(lifetime: .seconds(60), isHeuristic: false),
                ],
            ])
        #expect("\(HTTPCacheDecision.validating(staleBy: .seconds(12)))" == "stale by 12 s, revalidating")
    }
}
