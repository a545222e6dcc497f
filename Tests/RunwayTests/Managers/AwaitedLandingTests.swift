import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Waits for the landings of calls.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct AwaitedLandingTests {
    private let managers = ManagerBench()
    private let recorder = LandingRecorder()

    private func manager(overlap: OverlapPolicy? = nil) -> APIManager<Refresh> {
        APIManager(on: managers.network, delegate: recorder, overlap: overlap)
    }

    @Test func waitReturnsWhatTheDelegateWasNotifiedOf() async throws {
        let manager = manager()
        let flight = manager.load(Refresh())
        let wait = Task { try await manager.landing(of: flight) }
        let joined = Task { try await manager.landing(of: manager.load(Refresh())) }
        try await managers.transport.waitForArrival(of: flight)
        try await waitUntil { manager.waiters.waitingCount == 2 }
        managers.transport.respond(flight)
        let responses = try await [wait.value, joined.value, manager.landing(of: flight)]
        #expect(responses.allSatisfy { $0["flight"].uint64 == flight.number })
        #expect(recorder.landings.map(\.flight) == [flight])
    }

    @Test func landingOfParametersCallsWithItsOptions() async throws {
        let manager = manager()
        let options = CallOptions(headers: ["X-From": "script"])
        let wait = Task { try await manager.landing(of: Refresh(page: 3), options: options) }
        try await waitUntil { manager.isLoading }
        let flight = try #require(manager.state.machine.pending.first)
        try await managers.transport.waitForArrival(of: flight)
        let request = try #require(managers.transport.request(of: flight.number))
        #expect(request.head.path?.hasSuffix("?page=3") == true)
        #expect(request.head.headerFields[try #require(HTTPField.Name("X-From"))] == "script")
        managers.transport.respond(flight)
        #expect(try await wait.value["flight"].uint64 == flight.number)
        #expect(recorder.landings.map(\.flight) == [flight])
    }

    @Test func waitThrowsTheErrorThatLanded() async throws {
        let manager = manager()
        let flight = manager.load(Refresh())
        let wait = Task { try await manager.landing(of: flight) }
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json("{}", status: .notFound)))
        let error = try await wait.failure()
        #expect(error.kind == .refused && manager.error?.kind == .refused && recorder.landings.count == 1)
    }

    @Test(arguments: ["replaced", "cancelled", "vetoed"]) func waitForAnUnlandedCallThrows(how: String)
        async throws
    {
        let manager = manager()
        let veto = SuccessVeto()
        if how == "vetoed" { manager.interceptor = veto }
        let flight = manager.load(Refresh())
        let wait = Task { try await manager.landing(of: flight) }
        try await managers.transport.waitForArrival(of: flight)
        try await waitUntil { manager.waiters.waitingCount == 1 }
        switch how {
        case "replaced": manager.load(Refresh(page: 2))
        case "cancelled": manager.cancel(flight)
        default: managers.transport.respond(flight)
        }
        let error = try await wait.failure()
        #expect(error.kind == .cancelled && error.detail == "\(flight) did not land: \(how).")
        manager.cancelAll()
        let later = await #expect(throws: NetworkError.self) { try await manager.landing(of: flight) }
        #expect(later?.kind == .cancelled)
    }

    @Test func cancelledWaitLeavesTheCallInFlight() async throws {
        let manager = manager()
        let flight = manager.load(Refresh())
        let wait = Task { try await manager.landing(of: flight) }
        try await managers.transport.waitForArrival(of: flight)
        wait.cancel()
        #expect(try await wait.failure().kind == .cancelled && manager.isLoading)
        managers.transport.respond(flight)
        try await recorder.landings(count: 1)
        #expect(manager.error == nil)
    }

    @Test func listLoadIsAwaitedLikeACall() async throws {
        let network = NetworkLayer(transport: ClubOrigin(), pipeline: .tested)
        let list = PagedAPIManager<MemberList>(on: network, delegate: recorder)
        // Nobody is signed in.
        let error = await #expect(throws: NetworkError.self) { try await list.landing(of: MemberList()) }
        #expect(error?.kind == .needsLogin && recorder.landings.count == 1)

        let house = ClubHouse(callGate: ScriptedGate())
        try await house.signIn()
        let other = PagedAPIManager<MemberList>(on: house.network, delegate: recorder)
        let flight = other.load(MemberList())
        let wait = Task { try await other.landing(of: flight) }
        try await waitUntil { other.waiters.waitingCount == 1 }
        other.cancelAll()
        #expect(try await wait.failure().kind == .cancelled)
    }
}

/// Lets no success land. Held by its test alone.
@MainActor
private final class SuccessVeto: Interceptor {
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool { false }
}
