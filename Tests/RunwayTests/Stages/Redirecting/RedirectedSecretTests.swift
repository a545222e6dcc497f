import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// What authenticates a call stays with its origin, whatever the layer shows of it.
@Suite(.timeLimit(.minutes(5)))
struct RedirectedSecretTests {
    private static let redactions: [Redaction] = [.default, .none, Redaction(headerFields: [], names: .default)]
    /// What leads from `vault.test` to `thief.test`.
    private static let ways = ["a redirect", "a redirect of a merged item", "a redirect of a hedged request"]

    @Test(arguments: redactions, ways)
    func credentialsDoNotFollowRedirectsToOtherOrigins(_ redaction: Redaction, _ way: String) async throws {
        let gate = ScriptedGate()
        let transport = StubTransport { request throws(NetworkError) in
            guard request.head.authority == "vault.test" else { return .json("{}") }
            if request.head.path == "/door/0" { try await gate.hold() }
            if request.head.path != "/_batch" { return .redirect(to: "https://thief.test/door") }
            let items = (1...2).map {
                #"{"id":"\#($0)","status":302,"headers":[["Location","https://thief.test/\#($0)"]],"body":""}"#
            }
            return .json(#"{"responses":[\#(items.joined(separator: ","))]}"#)
        }
        let network = try await vault(transport, redaction)
        switch way {
        case "a redirect of a merged item": try await callMerged(network, gate)
        case "a redirect of a hedged request": _ = try await network.call(HedgedDoor())
        default:
            gate.open()
            _ = try await network.call(Door(number: 0))
        }
        let sent = transport.requests
        #expect(sent.contains { $0.head.path == "/_batch" } == (way == "a redirect of a merged item"))
        #expect(sent.contains { "\($0.head.headerFields)".contains("hunter2") })
        let stolen = sent.filter { $0.head.authority == "thief.test" }
        #expect(!stolen.isEmpty)
        for request in stolen {
            #expect(!"\(request.head.headerFields)".contains("hunter2"), "\(request.head.headerFields)")
            #expect(request.head.headerFields[.accept] == "text/plain")
        }
    }

    @Test(arguments: redactions)
    func credentialEnvelopesFollowNoRedirectToOtherOrigins(_ redaction: Redaction) async throws {
        let gate = ScriptedGate()
        let transport = StubTransport { request throws(NetworkError) in
            if request.head.path == "/door/0" { try await gate.hold() }
            guard request.head.path == "/_batch" else { return .json("{}") }
            return .redirect(to: "https://thief.test/_batch", status: .temporaryRedirect)
        }
        try? await callMerged(vault(transport, redaction), gate)
        #expect(transport.requests.contains { $0.head.path == "/_batch" })
        #expect(!transport.requests.contains { $0.head.authority == "thief.test" })
    }

    /// Makes one call, and two more that leave as one when the first has ended.
    private func callMerged(_ network: NetworkLayer, _ gate: ScriptedGate) async throws {
        network.configure(Vault.self) { $0.merging = MergePolicy(settling: .zero) }
        let first = Task { try await network.call(Door(number: 0)) }
        try await gate.waitForArrivals()
        let calls = (1...2).map { number in Task { try await network.call(Door(number: number)) } }
        try await waitUntil { network.merger.waitingCount >= 2 }
        gate.open()
        for call in [first] + calls { _ = try await call.value }
    }

    @Test func tokenInABodyStaysWithItsOrigin() async throws {
        let transport = StubTransport { request in
            request.head.authority == "desk.test"
                ? .redirect(to: "https://thief.test/", status: .temporaryRedirect) : .json("{}")
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("hunter2", account: "ann"), to: Desk.self)
        _ = try? await network.call(Desk.Letter())
        #expect(transport.requests.map(\.head.authority) == ["desk.test"])
    }

    @Test func responseOfAnotherOriginNeedsNoRenewal() async throws {
        let transport = StubTransport { request in
            request.head.path == "/door/1" ? .redirect(to: "https://thief.test/door") : .json("{}")
        }
        let network = try await vault(transport, .default, expiry: .distantFuture)
        var options = CallOptions()
        options.isLongLived = true
        for number in 1...2 {
            let response = try await network.stream(Door(number: number), options: options)
            #expect((response.tokenRenewalWindow == nil) == (number == 1))
        }
    }

    @Test func onlyRedactionOfNothingShowsCredentials() async throws {
        for (redaction, isShown) in zip(Self.redactions, [false, true, true]) {
            let records = RecordCollector()
            let network = try await vault(StubTransport { _ in .json("{}") }, redaction, records)
            _ = try await network.call(Door(number: 1))
            let record = try await records.records(count: 1)[0]
            #expect("\(record.attempts[0].headerFields)".contains("hunter2-hunter2") == isShown)
        }
    }

    private func vault(
        _ transport: StubTransport, _ redaction: Redaction, _ records: RecordCollector = RecordCollector(),
        expiry: Date? = nil
    ) async throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()), sinks: [records],
            redaction: redaction,
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("hunter2-hunter2", account: "ann", expiry: expiry), to: Vault.self)
        return network
    }
}

private enum Vault: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://vault.test"]
    static let credentials: (any Credentials)? = Keys()

    struct Keys: Credentials {
        func authorize(_ request: inout Request, with token: AccessToken) {
            // A name that says nothing, and one that no list would take for a credential.
            for name in ["X-Session", "User-Agent"] {
                if let name = HTTPField.Name(name) { request.head.headerFields[name] = token.value }
            }
        }
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
    }
}

/// A service that takes its token in the body (RFC 6750 §2.2).
private enum Desk: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://desk.test"]
    static let credentials: (any Credentials)? = Forms()

    struct Forms: Credentials {
        func authorize(_ request: inout Request, with token: AccessToken) {
            request.body = .bytes(Array("access_token=\(token.value)".utf8))
        }
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
    }
    struct Letter: Endpoint {
        static let service = Desk.self
        static let method = HTTPRequest.Method.post
        static let encoding = ParameterEncoding.form()
        var path: EndpointPath { "letter" }
    }
}

private struct Door: Endpoint {
    static let service = Vault.self
    var path: EndpointPath { "door/\(number)" }
    var headers: [String: String] { ["Accept": "text/plain", "X-API-Key": "hunter2", "X-Own": "hunter2"] }
    @Unencoded var number: Int
}

private struct HedgedDoor: Endpoint {
    static let service = Vault.self
    static let hedging = HedgingPolicy.after(.zero)
    var path: EndpointPath { "door" }
    var headers: [String: String] { ["Accept": "text/plain", "X-API-Key": "hunter2", "X-Own": "hunter2"] }
}

extension ScriptedGate {
    fileprivate func hold() async throws(NetworkError) {
        do { try await pass() } catch { throw .cancelled(in: .transporting) }
    }
}

extension Response {
    /// A response that redirects.
    fileprivate static func redirect(to location: String, status: HTTPResponse.Status = .found) -> Response {
        let head = HTTPResponse(status: status, headerFields: [.location: location])
        return Response(head: head, body: .whole(RawData([], response: head)))
    }
}
