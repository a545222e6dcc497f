import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// How responses from an envelope are stored, and what their redirects carry.
@Suite(.timeLimit(.minutes(10)))
struct MergedReadTests {
    /// A read whose responses are stored by the server's rules.
    private struct CachedRead: Endpoint {
        static let service = Merged.self
        static let cache = CachePolicy.http()
        var path: EndpointPath
        func encode(to encoder: any Encoder) {}
    }

    /// A read whose responses are stored for three minutes.
    private struct TimedRead: Endpoint {
        static let service = Merged.self
        static let cache = CachePolicy.timeToLive()
        var path: EndpointPath
        func encode(to encoder: any Encoder) {}
    }

    /// A service that merges, and whose token stands in a field of its own.
    private enum Vault: APIService {
        static let name = "vault"
        static let environments: [ServiceEnvironment: String] = [.release: "https://vault.test/v1"]
        static let merging: MergePolicy? = MergePolicy(settling: .zero)
        static let credentials: (any Credentials)? = Key()

        struct Key: Credentials {
            func authorize(_ request: inout Request, with token: AccessToken) {
                request.head.headerFields[.vaultKey] = token.value
            }
            func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
        }
    }

    private struct Drawer: Endpoint {
        static let service = Vault.self
        var path: EndpointPath
        func encode(to encoder: any Encoder) {}
    }

    @Test func itemsRedirectIsStoredUnderBothTargets() async throws {
        let server = EnvelopeServer(
            envelope: { _ in
                .json(
                    #"""
                    {"responses":[{"id":"1","status":301,
                    "headers":[["Location","/v1/there"],["Cache-Control","max-age=600"]]},
                    {"id":"2","status":200,"headers":[],"body":"{}"}]}
                    """#)
            },
            item: { request in
                var response = Response.path(of: request)
                response.head.headerFields[.cacheControl] = "max-age=600"
                return response
            })
        let layer = MergingLayer(server)
        for call in try await layer.merge([CachedRead(path: "here"), CachedRead(path: "other")]) {
            _ = try await call.value
        }
        let there = try await layer.network.call(CachedRead(path: "there"))
        #expect(there.source == .cache && there["path"].string == "/v1/there")
        #expect(try await layer.network.call(CachedRead(path: "here")).source == .cache)
        #expect(server.paths == ["/v1/held", "/v1/_batch", "/v1/there"])
    }

    @Test func itemsRedirectCarriesNoTokenToAnotherOrigin() async throws {
        let transport = CarryingTransport()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("secret", account: "ann"), to: Vault.self)
        let first = Task { try await network.call(Drawer(path: "0")) }
        try await transport.waitForArrival(of: 1)
        let calls = (1...2).map { number in Task { try await network.call(Drawer(path: "\(number)")) } }
        try await waitUntil { network.merger.waitingCount >= 2 }
        transport.respond(1)
        try await transport.waitForArrival(of: 4)
        let items = ["1", "2"].map {
            #"{"id":"\#($0)","status":307,"headers":[["Location","https://elsewhere.test/\#($0)"]]}"#
        }
        transport.respond(4, with: .success(.json(#"{"responses":[\#(items.joined(separator: ","))]}"#)))
        try await transport.wait { $0.parked == [2, 3] }
        #expect(transport.requests.count == 4)
        for request in transport.requests {
            let isOwn = request.head.authority == "vault.test"
            let isEnvelope = request.head.path == "/v1/_batch"
            #expect((request.head.headerFields[.vaultKey] != nil) == (isOwn && !isEnvelope), "\(request.url)")
        }
        for number: UInt64 in 2...3 { transport.respond(number) }
        for call in calls + [first] { _ = try await call.value }
    }

    @Test func olderEnvelopesResponseReplacesNoNewerOne() async throws {
        let transport = CarryingTransport()
        let clock = ManualClock()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock),
            limits: LayerLimits(admission: .none, retrying: .none))
        func call(_ path: EndpointPath, _ options: CallOptions = .standard) -> Task<RawData, any Error> {
            Task { try await network.call(TimedRead(path: path), options: options) }
        }
        var calls = [call("first")]
        try await transport.waitForArrival(of: 1)
        calls.append(call("x"))
        try await waitUntil { network.merger.waitingCount >= 1 }
        calls.append(call("y"))
        try await waitUntil { network.merger.waitingCount >= 2 }
        transport.respond(1)
        try await transport.waitForArrival(of: 4)
        // A newer request, which is sent after the envelope and completes before it.
        let newer = call("x", CallOptions(cacheUse: .refresh))
        try await waitUntil { network.merger.waitingCount >= 1 }
        clock.advance(by: .milliseconds(50))
        try await transport.waitForArrival(of: 5)
        // One who came later than both, and joins the older.
        calls.append(call("x"))
        try await waitUntil { network.reads.flights(waitingFor: 2).count >= 2 }
        transport.respond(5)
        #expect(try await newer.number == 5)
        transport.respond(
            4,
            with: .success(
                .json(
                    #"""
                    {"responses":[{"id":"1","status":200,"headers":[],"body":"{\"flight\":4}"},
                    {"id":"2","status":200,"headers":[],"body":"{}"}]}
                    """#)))
        for call in calls { _ = try await call.value }
        #expect(try await call("x", CallOptions(cacheUse: .onlyIfCached)).number == 5)
    }
}

extension HTTPField.Name {
    fileprivate static var vaultKey: Self { Self("X-Vault-Key") ?? .authorization }
}
