import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Users that are distinguished by the cookies of a jar and not by an account, with responses cached for a fixed time.
@Suite(.timeLimit(.minutes(5)))
struct SenderCookieTests {
    private enum Forum: APIService {
        static let name = "forum"
        static let environments: [ServiceEnvironment: String] = [.release: "https://forum.test"]
        static let cookies = CookiePolicy.jar()
    }

    private struct Inbox: Endpoint {
        static let service = Forum.self
        static let coalesces = false
        static let cache = CachePolicy.timeToLive(.seconds(60), diskLifetime: .seconds(60))
        var path: EndpointPath { "inbox" }
    }

    private struct Cart: Endpoint {
        static let service = Forum.self
        static let cache = CachePolicy.timeToLive()
        var path: EndpointPath { "cart" }
    }

    private struct News: Endpoint {
        static let service = Forum.self
        static let coalesces = false
        static let cache = CachePolicy.http()
        var path: EndpointPath { "news" }
        @Unencoded var isHeld = false
        var headers: [String: String] { isHeld ? ["Accept": "text/held"] : [:] }
    }

    private struct Feed: Endpoint {
        static let service = Forum.self
        var path: EndpointPath { "feed" }
    }

    private struct Login: Endpoint {
        static let service = Forum.self
        static let method = HTTPRequest.Method.post
        static let encoding = ParameterEncoding.form()
        var path: EndpointPath { "login" }
        var user: String
    }

    /// Holds the inbox back between the cache and the jar.
    private struct Holding: RequestStage {
        let gate: ScriptedGate
        var step: FlightStep { .customStage("holding") }

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            if flight.endpoint == Inbox.self || request.head.headerFields[.accept] == "text/held" {
                do { try await gate.pass() } catch { throw .cancelled(in: step) }
            }
            return try await next.send(request, in: flight)
        }
    }

    private let tier = MapTier()
    private let feedGate = ScriptedGate()

    private func layer(_ pipeline: RequestPipeline = RequestPipeline.tested) -> NetworkLayer {
        let transport = StubTransport { [feedGate] request throws(NetworkError) in
            let cookie = request.head.headerFields[.cookie] ?? "nobody"
            if request.head.path == "/feed", cookie == "nobody" {
                do { try await feedGate.pass() } catch { throw .cancelled(in: .transporting) }
            }
            if request.head.headerFields[.ifNoneMatch] != nil {
                let head = HTTPResponse(status: .notModified, headerFields: [.eTag: #""1""#])
                return Response(head: head, body: .whole(RawData([], response: head)))
            }
            var response = Response.json(#"{"of":"\#(cookie)"}"#)
            if request.head.path == "/cart", cookie == "nobody" { response.head.headerFields[.setCookie] = "cart=1" }
            if request.head.path == "/news" {
                response.head.headerFields[.eTag] = #""1""#
                response.head.headerFields[.cacheControl] = "private, max-age=0"
            }
            if request.head.path == "/login", case .bytes(let bytes) = request.body {
                response.head.headerFields[.setCookie] = String(decoding: bytes, as: UTF8.self)
            }
            return response
        }
        return NetworkLayer(
            transport: transport, pipeline: pipeline, limits: LayerLimits(admission: .none, retrying: .none),
            diskCache: tier)
    }

    private func sender(_ network: NetworkLayer) async throws -> (name: String?, source: ResponseSource) {
        let rawData = try await network.call(Inbox())
        return (rawData["of"].string, rawData.source)
    }

    @Test func cachedResponseDoesNotReachTheNextUser() async throws {
        let network = layer()
        #expect(try await sender(network) == ("nobody", .network))
        for user in ["ann", "bob"] {
            _ = try await network.call(Login(user: user))
            let name = network.cookies(of: Forum.self).map { "\($0.name)=\($0.value)" }.joined()
            #expect(try await sender(network) == (name, .network))
            #expect(try await sender(network) == (name, .cache))
        }
        network.removeCookies(of: Forum.self)
        #expect(try await sender(network) == ("nobody", .cache), "it was cached for nobody")
        await network.cache.flush()
        #expect(tier.count == 1, "the state of a jar has no meaning in another launch")
    }

    @Test func laterCookiesResponseIsNotForEarlierOnes() async throws {
        let gate = ScriptedGate()
        var pipeline = RequestPipeline.tested
        pipeline.insert(Holding(gate: gate), before: .cookies)
        let network = layer(pipeline)
        async let first = sender(network)
        try await gate.waitForArrivals()
        _ = try await network.call(Login(user: "ann"))
        gate.open()
        #expect(try await first == ("user=ann", .network))
        network.removeCookies(of: Forum.self)
        #expect(try await sender(network) == ("nobody", .network))
    }

    @Test func cookieSettingResponseIsNotCachedForOthers() async throws {
        let network = layer()
        #expect(try await network.call(Cart()).source == .network)
        network.removeCookies(of: Forum.self)
        #expect(try await network.call(Cart()).source == .network)
    }

    @Test func usersResponseIsNotConfirmedForAnother() async throws {
        let gate = ScriptedGate()
        var pipeline = RequestPipeline.tested
        pipeline.insert(Holding(gate: gate), before: .cookies)
        let network = layer(pipeline)
        _ = try await network.call(Login(user: "ann"))
        #expect(try await network.call(News())["of"].string == "user=ann")
        let second = Task { try await network.call(News(isHeld: true))["of"].string }
        try await gate.waitForArrivals()
        _ = try await network.call(Login(user: "bob"))
        gate.open()
        #expect(try await second.value == "user=bob")
    }

    @Test func readOfAnotherUserIsNotJoined() async throws {
        let network = layer()
        let first = Task { try await network.call(Feed())["of"].string }
        try await feedGate.waitForArrivals()
        _ = try await network.call(Login(user: "ann"))
        #expect(try await network.call(Feed())["of"].string == "user=ann")
        feedGate.open()
        #expect(try await first.value == "nobody")
    }
}
