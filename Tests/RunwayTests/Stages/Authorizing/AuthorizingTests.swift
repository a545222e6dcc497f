import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(5)))
struct AuthorizingTests {
    @Test func callCarriesTheSignedInAccountsToken() async throws {
        let house = ClubHouse()
        try await house.signIn()
        _ = try await house.network.call(Members())
        #expect(house.origin.requests.map { $0.head.headerFields[.authorization] } == ["Bearer t1"])
        #expect(house.network.settings(of: Club.self).account == "ann")
        #expect(house.stored()?.value == "t1")
    }

    @Test func aPublicEndpointNeedsNoToken() async throws {
        let house = ClubHouse()
        _ = try await house.network.call(OpeningHours())
        try await house.signIn()
        _ = try await house.network.call(OpeningHours())
        let request = Request(head: HTTPRequest(method: .get, url: "https://club.test/hours"))
        _ = try await house.network.exchange(request, with: Club.self)
        #expect(house.origin.requests.allSatisfy { $0.head.headerFields[.authorization] == nil })
    }

    @Test func tenRefusedCallsShareARefreshAndReplay() async throws {
        let (refreshes, flying) = (ScriptedGate(), ScriptedGate())
        let house = ClubHouse(refreshGate: refreshes, callGate: flying)
        try await house.signIn()
        house.origin.revoke()
        let calls = house.calls(1...10)
        try await flying.waitForArrivals(count: 10)
        flying.open()
        try await house.waitForWaiting(10)
        refreshes.open()
        for call in calls { _ = try await call.value }
        #expect(house.origin.refreshCount == 1)
        #expect(house.origin.callCount == 20)
        #expect(house.stored()?.value == "t2" && house.stored()?.refreshToken == "r1")
        let records = try await house.records.records(count: 11).filter { $0.endpoint == "Members" }
        #expect(records.allSatisfy { $0.attempts.count == 2 })
        #expect(records.allSatisfy { $0.decisions(of: AuthorizingDecision.self).contains(.replayed) })
        #expect(records.count { $0.decisions(of: AuthorizingDecision.self).contains(.renewed) } == 1)
    }

    @Test func refusedCallCountsAsSentDespiteUnsentRenewal() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(
            .failure(NetworkError(.noNetwork, in: .transporting, "No connection.", sending: .notSent)))
        let error = try await #require(throws: NetworkError.self) {
            try await house.network.call(Members(), options: CallOptions(retry: .off))
        }
        #expect(error.kind == .noNetwork && error.sending == .sent)
        #expect(house.origin.callCount == 1)
    }

    @Test(arguments: [HTTPResponse.Status.badRequest, .internalServerError])
    func errorOfAFailedRefreshNamesItsRequest(_ status: HTTPResponse.Status) async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json("{}", status: status)))
        let error = try await house.calls(1...1)[0].failure()
        #expect(error.request == "POST https://club.test/token" && error.host == "club.test")
        let isRefused = status == .badRequest
        #expect(error.kind == (isRefused ? .needsLogin : .refused))
        // A status would be taken as the response to the call itself.
        #expect(error.status == (isRefused ? nil : status))
        #expect((error.underlying as? NetworkError)?.status == (isRefused ? status : nil))
    }

    @Test func laterCallAwaitsRenewalAndIsSentOnce() async throws {
        let gate = ScriptedGate()
        let house = ClubHouse(refreshGate: gate)
        try await house.signIn()
        house.origin.revoke()
        let first = house.calls(1...1)[0]
        try await house.waitForWaiting(1)
        let others = house.calls(2...9)
        try await house.waitForWaiting(9)
        gate.open()
        for call in [first] + others { _ = try await call.value }
        #expect(house.origin.refreshCount == 1 && house.origin.callCount == 10)
    }

    @Test func tokenNearItsExpirationIsRenewedFirst() async throws {
        let house = ClubHouse()
        try await house.signIn(lifetime: 100)
        house.clock.advance(by: .seconds(69))
        _ = try await house.network.call(Members())
        #expect(house.origin.refreshCount == 0)
        house.clock.advance(by: .seconds(1))
        _ = try await house.network.call(Members())
        #expect(house.origin.refreshCount == 1 && house.origin.callCount == 2)
    }

    @Test func callsWaitingForATokenBlockNoOthers() async throws {
        let gate = ScriptedGate()
        let origin = ClubOrigin(refreshGate: gate)
        let network = NetworkLayer(
            transport: origin, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: AdmissionLimits(maximumFlights: 2), retrying: .none))
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Club.self)
        origin.revoke()
        let calls = (1...6).map { page in Task { try await network.call(Members(page: page)) } }
        try await waitUntil { network.waitingForTokenCount >= 6 }
        try await gate.waitForArrivals()
        #expect(network.admission.counts == (1, 0))
        _ = try await network.call(OpeningHours())
        // Calls with the token are sent again, within the limit of slots.
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(network.admission.counts == (0, 0))
        #expect(origin.refreshCount == 1)
    }

    @Test(arguments: [true, false]) func callThatLeavesATokenReleasesItsSlot(
        _ isCancelled: Bool
    ) async throws {
        let gate = ScriptedGate()
        let origin = ClubOrigin(refreshGate: gate)
        let clock = ManualClock()
        // One for the renewal, which may be sent before the last of the calls, and one for the calls.
        let network = NetworkLayer(
            transport: origin, pipeline: .tested, clock: LayerClock(clock),
            limits: LayerLimits(admission: AdmissionLimits(maximumFlights: 2), retrying: .none))
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Club.self)
        network.configure(Club.self) { $0.deadline = .seconds(5) }
        origin.revoke()
        let calls = (1...3).map { page in Task { try await network.call(Members(page: page)) } }
        try await waitUntil { network.waitingForTokenCount >= 3 }
        if isCancelled {
            for call in calls { call.cancel() }
        } else {
            clock.advance(by: .seconds(5))
        }
        for call in calls { #expect(try await call.failure().kind == (isCancelled ? .cancelled : .timedOut)) }
        gate.open()
        try await waitUntil { network.admission.counts == (0, 0) }
    }

    @Test func secondRefusalEndsTheCallAndNothingLoops() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.revoke()
        house.origin.respondToRefreshes(.response(.json(#"{"access_token":"worthless"}"#)))
        let error = try await house.calls(1...1)[0].failure()
        #expect(error.kind == .needsAccessToken && error.status == .unauthorized)
        #expect(house.origin.refreshCount == 1 && house.origin.callCount == 2)
    }

    @Test func newerTokenIsUsedWithoutARenewal() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.accept("t7")
        let stage = SigningInStage()
        var pipeline = RequestPipeline.tested
        pipeline.insert(stage, after: .authorizing)
        let network = NetworkLayer(
            transport: house.origin, pipeline: pipeline, clock: LayerClock(house.clock),
            limits: LayerLimits(admission: .none, retrying: .none))
        stage.network.set(network)
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r"), to: Club.self)
        _ = try await network.call(Members())
        #expect(house.origin.refreshCount == 0 && house.origin.callCount == 2)
    }

    @Test func unreplayableBodyFailsAndTheNextCallRenews() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.revoke()
        let error = await #expect(throws: NetworkError.self) { try await house.network.call(Portrait()) }
        #expect(error?.kind == .needsAccessToken)
        #expect(error?.detail.contains("can't be sent a second time") == true)
        #expect(house.origin.refreshCount == 0)
        _ = try await house.network.call(Portrait())
        #expect(house.origin.refreshCount == 1 && house.origin.callCount == 2)
    }

    @Test func abandonedRefreshIsCompletedAfterTheDeadlines() async throws {
        let gate = ScriptedGate()
        let house = ClubHouse(refreshGate: gate)
        try await house.signIn()
        house.origin.revoke()
        var options = CallOptions()
        options.deadline = .seconds(5)
        let late = Task { [network = house.network, options] in try await network.call(Members(), options: options) }
        try await house.waitForWaiting(1)
        let cancelled = house.calls(2...2)[0]
        try await house.waitForWaiting(2)
        cancelled.cancel()
        #expect(try await cancelled.failure().kind == .cancelled)
        try await house.clock.waitForSleepers()
        house.clock.advance(by: .seconds(5))
        #expect(try await late.failure().kind == .timedOut)
        gate.open()
        try await waitUntil { house.stored()?.value == "t2" }
        _ = try await house.network.call(Members())
        #expect(house.origin.refreshCount == 1)
    }

    @Test func refreshThatNeverReturnsEndsAtItsDeadline() async throws {
        let house = ClubHouse(refreshGate: ScriptedGate())
        try await house.signIn()
        house.origin.revoke()
        let calls = house.calls(1...3)
        try await house.waitForWaiting(3)
        try await house.origin.refreshGate?.waitForArrivals()
        try await house.clock.waitForSleepers()
        house.clock.advance(by: .seconds(30))
        for call in calls {
            let error = try await call.failure()
            #expect(error.kind == .timedOut)
            #expect(error.detail == "The access token was not renewed within 30 s.")
        }
        #expect(house.stored()?.value == "t1")
    }

    @Test func oneCallMoreThanMayWaitFails() async throws {
        let gate = ScriptedGate()
        var limits = LayerLimits()
        limits.maximumCallsPerRenewal = 2
        let house = ClubHouse(refreshGate: gate, limits: limits)
        try await house.signIn()
        house.origin.revoke()
        let calls = house.calls(1...2)
        try await house.waitForWaiting(2)
        let error = try await house.calls(3...3)[0].failure()
        #expect(error.kind == .overloaded && error.detail.contains("the renewal of the access token"))
        gate.open()
        for call in calls { _ = try await call.value }
    }

    @Test func aRefreshThatNeedsItsOwnTokenFails() async throws {
        let house = ClubHouse()
        house.network.configure(Circle.self) { $0.deadline = .seconds(1000) }
        try await house.network.signIn(AccessToken("old", account: "ann"), to: Circle.self)
        let error = await #expect(throws: NetworkError.self) { try await house.network.call(Circle.Round()) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.detail.contains("authorization") == true)
    }

    @Test func identicalReadsAwaitingATokenAreOneRequest() async throws {
        let gate = ScriptedGate()
        let house = ClubHouse(refreshGate: gate)
        try await house.signIn()
        house.origin.revoke()
        let calls = (1...3).map { _ in Task { [network = house.network] in try await network.call(Members()) } }
        try await waitUntil { house.network.reads.waitingCount == 3 }
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(house.origin.callCount == 2 && house.origin.refreshCount == 1)
    }
}

/// Signs in to the layer above it when the first refusal comes back.
private final class SigningInStage: RequestStage {
    let network = Deferred<NetworkLayer>()
    var step: FlightStep { .customStage("signing in") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let response = try await next.send(request, in: flight)
        if response.verdict == .tokenRefused {
            try? await network.value.signIn(AccessToken("t7", account: "ann"), to: Club.self)
        }
        return response
    }
}

/// A service whose refresh asks for what needs the token.
private enum Circle: APIService {
    static let name = "circle"
    static let environments: [ServiceEnvironment: String] = [.release: "https://circle.test"]
    static let credentials: (any Credentials)? = Own()

    struct Own: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            _ = try await network.call(Round())
            return token
        }
    }
    struct Round: Endpoint {
        static let service = Circle.self
        var path: EndpointPath { "round" }
    }
}
