import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Redirects are stored as responses of their own, each under its own target.
struct HTTPCachedRedirectTests {
    private let cached = HTTPCachedLayer()

    private func redirect(_ location: String, _ control: String, _ status: HTTPResponse.Status = .found) {
        cached.respond("", status: status, [.location: location, .cacheControl: control])
    }

    private var paths: [String?] { cached.requests.map(\.head.path) }

    @Test func responseIsStoredUnderItsTarget() async throws {
        redirect("/b", "no-store")
        cached.respond("b", [.cacheControl: "max-age=600"])
        #expect(try await cached.send("/a").text == "b")
        #expect(try await cached.send("/b").source == .cache)
        redirect("/c", "no-store")
        cached.respond("c")
        #expect(try await cached.send("/a").text == "c")
        #expect(paths == ["/a", "/b", "/a", "/c"])
    }

    @Test func responsesAfterALeftOriginAreNotStored() async throws {
        redirect("https://other.test/b", "max-age=600")
        redirect("https://origin.test/c", "max-age=600")
        redirect("/d", "max-age=600")
        cached.respond("d", [.cacheControl: "max-age=600"])
        #expect(try await cached.send("/a").text == "d")
        #expect(cached.network.cache.count == 2, "the redirects of the first origin and of the other one")
        for path in ["/c", "/d"] {
            cached.respond(path)
            #expect(try await cached.send(path).text == path)
        }
        #expect(paths == ["/a", "/b", "/c", "/d", "/c", "/d"])
    }

    /// The body of a redirect that was to be streamed was discarded, so that the redirect is not stored either.
    @Test func streamedRedirectIsNotStoredWithoutItsBody() async throws {
        for location in ["/b", "/c"] {
            let fields: HTTPFields = [.location: location, .cacheControl: "max-age=600"]
            cached.respond(with: { _ throws(NetworkError) in
                let head = HTTPResponse(status: .found, headerFields: fields)
                return Response(head: head, body: .stream(BodyStream(Array("see there".utf8))))
            })
            cached.respond(location, [.cacheControl: "no-store"])
            var request = cached.request("/a")
            request.delivery = .streamed
            let response = try await cached.network.exchange(
                request, with: Library.self, options: CallOptions(cache: .http()))
            guard case .stream(let body) = response.body else { throw Refused("No stream came.") }
            #expect(String(decoding: try await body.collect(upTo: 100), as: UTF8.self) == location)
        }
        #expect(paths == ["/a", "/b", "/a", "/c"])
    }

    @Test func storedRedirectIsFollowedWithoutARequest() async throws {
        redirect("/b", "max-age=600")
        redirect("/c", "max-age=600", .temporaryRedirect)
        cached.respond("c", [.cacheControl: "max-age=60"])
        try await cached.send("/a")
        #expect(try await cached.send("/a").text == "c" && cached.sent == 3)
        cached.advance(60)
        cached.respond("new", [.cacheControl: "max-age=60"])
        #expect(try await cached.send("/a").text == "new")
        #expect(paths.last == "/c" && cached.sent == 4)
    }

    @Test func onlyPermanentRedirectsAreHeuristicallyFresh() async throws {
        for (status, count) in [(HTTPResponse.Status.movedPermanently, 2), (.found, 4)] {
            let cached = HTTPCachedLayer()
            for target in ["/b", "/c"] {
                cached.respond(
                    "", status: status,
                    [.location: target, .lastModified: cached.date(-10_000), .date: cached.date()])
                cached.respond("b", [.cacheControl: "no-store"])
            }
            try await cached.send("/a")
            if count == 2 { cached.clock.advance(by: .seconds(1)) }
            // The list has a redirect next: if /a is not requested, it is the response to /b, and followed to /c.
            let response = try await cached.send("/a")
            #expect(response.text == "b")
            #expect(
                cached.requests.map(\.head.path).prefix(3) == (count == 2 ? ["/a", "/b", "/b"] : ["/a", "/b", "/a"]))
        }
    }

    @Test func cachesPreconditionsDoNotFollowToAnotherTarget() async throws {
        cached.respond([.cacheControl: "max-age=1", .eTag: "\"x\""])
        try await cached.send("/a")
        cached.advance(10)
        redirect("/b", "no-store")
        cached.respond("b")
        #expect(try await cached.send("/a", [.ifModifiedSince: cached.date(-100)]).text == "b")
        #expect(cached.requests.map { $0.head.headerFields[.ifNoneMatch] } == [nil, "\"x\"", nil])
        #expect(cached.last[.ifModifiedSince] == cached.date(-100))
    }

    @Test(arguments: ["max-age=5", "max-age=5, stale-while-revalidate=60", "no-store"])
    func cachedRedirectsOriginReceivesNoToken(_ control: String) async throws {
        let transport = StubTransport { request in
            let isOwn = request.head.authority == "club.test"
            var response = Response.json("{}", status: isOwn ? .movedPermanently : .ok)
            response.head.headerFields[.location] = isOwn ? "https://elsewhere.test/members" : nil
            response.head.headerFields[.cacheControl] = isOwn ? "max-age=600" : control
            return response
        }
        let clock = ManualClock()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self)
        let options = CallOptions(cache: .http())
        _ = try await network.call(Members(), options: options)
        // A stored response of the other origin is returned while it is fresh.
        let again = try await network.call(Members(), options: options)
        #expect(again.source == (control == "no-store" ? .network : .cache))
        // To fetch it anew, its own origin is asked for the redirect.
        clock.advance(by: .seconds(6))
        let count = transport.requests.count
        _ = try await network.call(Members(), options: options)
        #expect(transport.requests.count == count + 2)
        for request in transport.requests {
            let hasToken = request.head.headerFields[.authorization] != nil
            #expect(hasToken == (request.head.authority == "club.test"), "\(request.url)")
        }
    }

    @Test func storedRedirectLoopIsRequestedAgain() async throws {
        redirect("/b", "max-age=600")
        redirect("/a", "max-age=600")
        #expect(try await cached.send("/a").head.status == .found)
        #expect(cached.sent == 2)
        redirect("/c", "max-age=600")
        cached.respond("c")
        #expect(try await cached.send("/a").text == "c")
    }

    @Test func redirectedChangeInvalidatesBothTargets() async throws {
        for path in ["/a", "/b", "/c"] {
            cached.respond("x", [.cacheControl: "max-age=600"])
            try await cached.send(path)
        }
        cached.respond("", status: .permanentRedirect, [.location: "/b"])
        cached.respond(status: .ok)
        try await cached.send("/a", method: .put)
        #expect(cached.network.cache.count == 1)
    }
}
