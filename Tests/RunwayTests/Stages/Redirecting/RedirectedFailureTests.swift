import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A failure after a followed redirect counts as sent, and not as the fault of the host that redirected.
@Suite(.timeLimit(.minutes(10)))
struct RedirectedFailureTests {
    private static let refusedConnection = NetworkError(
        .noNetwork, in: .transporting, "No connection.", sending: .notSent)

    /// Redirects `library.test` by a status to a URL, whose requests end with `end`.
    private func layer(
        _ status: HTTPResponse.Status = .seeOther, to location: String = "https://other.test/there",
        admission: AdmissionLimits = .none, retrying: AttemptLimits = .retrying,
        _ end: @escaping StubTransport.Respond = { _ throws(NetworkError) in throw Self.refusedConnection }
    ) -> StubbedLayer {
        StubbedLayer(admission: admission, retrying: retrying) { request throws(NetworkError) in
            let isFirst = request.head.authority == "library.test" && request.head.path?.hasPrefix("/v1/") == true
            guard isFirst else { return try await end(request) }
            return .redirect(status, to: location)
        }
    }

    private func fail<E: Endpoint>(
        _ endpoint: E, on layer: StubbedLayer, options: CallOptions = .standard
    ) async throws -> NetworkError {
        let result = await layer.drive { network in
            do throws(NetworkError) {
                return Result<RawData, NetworkError>.success(try await network.call(endpoint, options: options))
            } catch {
                return .failure(error)
            }
        }
        return try #require(result.failure)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectedFailureDoesNotRepeatAPost(_ status: Int) async throws {
        let layer = layer(HTTPResponse.Status(code: status))
        let error = try await fail(JSONCall(given: ["a": 1]), on: layer)
        #expect(layer.transport.requests.count { $0.head.authority == "library.test" } == 1)
        #expect(error.kind == .noNetwork && error.sending == .sent)
        #expect(error.host == "other.test" && error.attempt == 2)
        #expect(
            try await layer.record().decisions(of: RetryDecision.self)
                == [.gaveUp(.notRepeatable, cause: .noNetwork(.sent))])
    }

    @Test func laterRedirectsErrorIsNotAnEarlierHosts() async throws {
        let layer = layer(.temporaryRedirect) { request throws(NetworkError) in
            if request.head.authority == "other.test" { return .redirect(.found, to: "https://third.test/") }
            throw Self.refusedConnection
        }
        let error = try await fail(QueryCall(), on: layer, options: CallOptions(retry: .off))
        #expect(error.redirectedOrigin?.host == "third.test" && error.host == "third.test" && error.sending == .sent)
    }

    @Test func laterRedirectsErrorIsNotTheFirstHosts() async throws {
        let differing = layer(.temporaryRedirect) { _ in
            var head = HTTPResponse(status: .found)
            for target in ["/a", "/b"] { head.headerFields.append(HTTPField(name: .location, value: target)) }
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        let endless = layer(.temporaryRedirect) { .redirect(.found, to: "\($0.url)+") }
        for (layer, detail) in [(differing, "Location fields that differ"), (endless, "more than 10 times")] {
            let error = try await fail(QueryCall(), on: layer, options: CallOptions(retry: .off))
            #expect(error.kind == .invalidResponse && error.detail.contains(detail), "\(error)")
            #expect(error.redirectedOrigin?.host == "other.test" && error.sending == .sent)
        }
    }

    @Test(arguments: [nil, 503])
    func failuresBehindRedirectsDoNotOpenTheCircuit(_ status: Int?) async throws {
        let layer = layer(admission: AdmissionLimits(maximumIdenticalRequests: nil)) { _ throws(NetworkError) in
            guard let status else { throw Self.refusedConnection }
            return .json("{}", status: HTTPResponse.Status(code: status))
        }
        for _ in 0..<20 { _ = try await fail(QueryCall(), on: layer, options: CallOptions(retry: .off)) }
        #expect(layer.transport.requests.count == 40)
        let direct = try #require(layer.transport.requests.first).head
        #expect(layer.network.admission.isCircuitClosed(to: CircuitTarget(direct, of: QueryCall.self)))
        // The other host's circuit let none of these calls pass, so it does not count them.
        let last = try #require(layer.transport.requests.last).head
        #expect(layer.network.admission.isCircuitClosed(to: CircuitTarget(last, of: QueryCall.self)))
    }

    @Test func ownFailuresBehindRedirectsOpenTheCircuit() async throws {
        let layer = layer(to: "/there", admission: AdmissionLimits(maximumIdenticalRequests: nil))
        for _ in 0..<5 { _ = try await fail(QueryCall(), on: layer, options: CallOptions(retry: .off)) }
        #expect(try await fail(QueryCall(), on: layer).step == .admission)
        #expect(layer.transport.requests.count == 10)
    }

    @Test func hostsRetryBudgetIsNotSpentOnAnother() async throws {
        let layer = layer(.found, retrying: AttemptLimits(callsPerAttempt: 10, reserve: 2))
        for _ in 0..<5 { _ = try await fail(QueryCall(), on: layer) }
        await layer.network.flushRecords()
        let spent = layer.records.records.flatMap { $0.decisions(of: RetryDecision.self) }
        #expect(spent.contains(.gaveUp(.budgetSpent, cause: .noNetwork(.sent))), "the other host's is spent")
        let first = Origin(try #require(layer.transport.requests.first).head)
        #expect(layer.network.retries.withdraw(for: first) && layer.network.retries.withdraw(for: first))
    }

    @Test func sentAttemptIsNotReportedAsUnsent() async throws {
        let flaky = FlakyLayer([.lost(.noNetwork, .unknown), .lost(.noNetwork, .notSent)])
        #expect(await flaky.call(QueryCall()).failure?.sending == .unknown)
        let refused = FlakyLayer([.status(503), .lost(.noNetwork, .notSent)])
        #expect(await refused.call(QueryCall()).failure?.sending == .sent)
        let unsent = FlakyLayer([.lost(.noNetwork, .notSent)])
        #expect(await unsent.call(JSONCall()).failure?.sending == .notSent)
        #expect(unsent.attemptCount == 3)
    }

    @Test func unsafeCallIsNotReplayedBehindARedirect() async throws {
        let club = RedirectingClub { _ in .json("{}", status: .unauthorized) }
        let network = try await club.network()
        let error = try await #require(throws: NetworkError.self) { try await network.call(Join()) }
        #expect(error.kind == .needsAccessToken && error.step == .authorizing)
        #expect(club.paths == ["/join", "/welcome"])
        // A call that may be repeated is replayed.
        let again = RedirectingClub { _ in .json("{}", status: .unauthorized) }
        let options = CallOptions(retry: RetryPolicy(isRepeatable: true))
        _ = try? await again.network().call(Join(), options: options)
        #expect(again.paths.count { $0 == "/join" } == 2)
    }

    @Test(arguments: [401, 403])
    func refusalOfAnotherOriginRenewsNoToken(_ status: Int) async throws {
        let club = RedirectingClub(to: "https://other.test/welcome") { request in
            .json("{}", status: request.head.authority == "other.test" ? HTTPResponse.Status(code: status) : .ok)
        }
        let network = try await club.network()
        let error = try await #require(throws: NetworkError.self) { try await network.call(Join()) }
        #expect(error.kind == (status == 401 ? .needsAccessToken : .needsLogin))
        _ = try await network.call(Members())
        #expect(club.paths == ["/join", "/welcome", "/members/1"], "no token is renewed")
        #expect(club.tokens == ["Bearer t1", nil, "Bearer t1"])
        let identity = TokenIdentity(service: Club.self, environment: .release, account: "ann")
        let session = network.services.configuration(of: Club.self).session
        let version = network.tokens.knowledge(of: identity).version
        #expect(
            network.tokens.beginsAskingForLogin(identity, in: session, ifVersion: version),
            "nobody was asked to log in before")
    }

    @Test func refusalWithoutATokenRenewsNone() async throws {
        // To another origin and back: the request that is refused has no token.
        let club = RedirectingClub(to: "https://other.test/back") { request in
            if request.head.authority == "other.test" { return .redirect(.found, to: "https://club.test/private") }
            return .json("{}", status: request.head.path == "/private" ? .unauthorized : .ok)
        }
        let network = try await club.network()
        let error = try await #require(throws: NetworkError.self) { try await network.call(Join()) }
        #expect(error.kind == .needsAccessToken)
        _ = try await network.call(Members())
        #expect(club.paths == ["/join", "/back", "/private", "/members/1"], "no token is renewed")
    }
}

/// A change that needs a token.
private struct Join: Endpoint {
    static let service = Club.self
    static let method = HTTPRequest.Method.post
    var path: EndpointPath { "join" }
}

/// A server of ``Club`` that redirects a change to somewhere.
private final class RedirectingClub: Sendable {
    private let transport: StubTransport

    init(to location: String = "/welcome", _ end: @escaping StubTransport.Respond) {
        transport = StubTransport { request throws(NetworkError) in
            switch request.head.path {
            case "/join": .redirect(.seeOther, to: location)
            case "/token": .json(#"{"access_token":"t2"}"#)
            default: try await end(request)
            }
        }
    }

    var paths: [String] { transport.requests.map { $0.head.path ?? "" } }
    var tokens: [String?] { transport.requests.map { $0.head.headerFields[.authorization] } }

    func network() async throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Club.self)
        return network
    }
}

extension Response {
    static func redirect(_ status: HTTPResponse.Status, to location: String) -> Response {
        var head = HTTPResponse(status: status)
        head.headerFields[.location] = location
        return Response(head: head, body: .whole(RawData([], response: head)))
    }
}
